package mapping

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

// A Job as `kubectl get -o yaml` prints it, with everything that keeps it from being created again
// (kubernetes/kubernetes#21776).
const asItIs = `
apiVersion: batch/v1
kind: Job
metadata:
  name: etl
  namespace: data
  uid: 11111111-2222-3333-4444-555555555555
  resourceVersion: "900"
  generation: 3
  creationTimestamp: "2026-12-01T11:00:00Z"
  ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: nightly, uid: 99999999-2222-3333-4444-555555555555, controller: true}]
  managedFields: [{manager: kubectl, operation: Update, apiVersion: batch/v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {}}}]
  labels: {team: a, controller-uid: x, job-name: etl, batch.kubernetes.io/controller-uid: x, batch.kubernetes.io/job-name: etl}
  annotations: {note: kept, batch.kubernetes.io/job-tracking: "", kubectl.kubernetes.io/last-applied-configuration: "{}"}
spec:
  backoffLimit: 2
  ttlSecondsAfterFinished: 60
  selector: {matchLabels: {batch.kubernetes.io/controller-uid: x}}
  template:
    metadata:
      creationTimestamp: null
      labels: {tier: batch, controller-uid: x, job-name: etl, batch.kubernetes.io/controller-uid: x, batch.kubernetes.io/job-name: etl}
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "busybox:1", resources: {}}]
status: {active: 1, startTime: "2026-12-01T11:00:00Z"}
`

func TestAnExportedJobCanBeSubmittedAsItIs(t *testing.T) {
	t.Parallel()
	job := &batchv1.Job{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(asItIs), job))

	asJob, err := Manifest(Clean(job))
	require.NoError(t, err)
	assert.YAMLEq(t, `
apiVersion: batch/v1
kind: Job
metadata: {name: etl, namespace: data, labels: {team: a}, annotations: {note: kept}}
spec:
  backoffLimit: 2
  ttlSecondsAfterFinished: 60
  template:
    metadata: {labels: {tier: batch}}
    spec: {restartPolicy: Never, containers: [{name: main, image: "busybox:1"}]}
`, string(asJob))

	w, err := ToWork(job)
	require.NoError(t, err)
	asWork, err := Manifest(w)
	require.NoError(t, err)
	for _, manifest := range [][]byte{asJob, asWork} {
		documents, problems := Read("exported", manifest, DecodeOptions{})
		require.Empty(t, problems)
		require.Len(t, documents, 1)
		assert.Empty(t, documents[0].Notes, "nothing is left to strip")
		again, err := Manifest(documents[0].Work)
		require.NoError(t, err)
		if !documents[0].Imported {
			assert.JSONEq(t, string(asWork), string(again))
		}
	}
}

// Who wrote the selector by hand keeps it: the labels of the template belong to it then.
func TestAManualSelectorIsExported(t *testing.T) {
	t.Parallel()
	job := &batchv1.Job{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(asItIs), job))
	manual := true
	job.Spec.ManualSelector = &manual

	clean := Clean(job)
	require.NotNil(t, clean.Spec.Selector)
	assert.Equal(t, job.Spec.Template.Labels, clean.Spec.Template.Labels)
}
