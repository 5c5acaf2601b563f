package commands

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

// Whatever export prints, submit -f - reads: one document or several, YAML or JSON.
func TestExportPrintsWhatSubmitReads(t *testing.T) {
	t.Parallel()
	job := func(name string) *batchv1.Job {
		j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "u1", ResourceVersion: "7", Labels: map[string]string{"controller-uid": "u1"}}}
		j.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox:1"}}}
		return j
	}
	for _, kind := range []string{kindWork, kindJob} {
		for _, f := range []format{formatYAML, formatJSON} {
			for _, names := range [][]string{{"etl"}, {"etl", "load"}} {
				var out bytes.Buffer
				o := &exportOptions{app: testApp(nil, &out), kind: kind, version: "v1beta2", output: f}
				var documents []json.RawMessage
				for _, name := range names {
					document, err := o.exported(job(name))
					require.NoError(t, err)
					documents = append(documents, document)
				}
				require.NoError(t, o.print(documents))

				read, problems := mapping.Read("-", out.Bytes(), mapping.DecodeOptions{})
				require.Empty(t, problems, out.String())
				var got []string
				for _, d := range read {
					got = append(got, d.Work.Name)
					assert.Empty(t, d.Notes)
				}
				assert.Equal(t, names, got)
			}
		}
	}
}

func TestExportSaysWhatIsWrongWithItsFlags(t *testing.T) {
	t.Parallel()
	require.NoError(t, (&exportOptions{names: []string{"etl"}, kind: kindWork, version: "v1beta2", output: formatYAML}).validate())
	require.ErrorContains(t, (&exportOptions{kind: kindWork}).validate(), "in one way")
	require.ErrorContains(t, (&exportOptions{names: []string{"etl"}, kind: "pod"}).validate(), "--kind=pod")
	require.ErrorContains(t, (&exportOptions{names: []string{"etl"}, kind: kindJob, version: "v1beta2", output: formatName}).validate(), "-o name")
	require.ErrorContains(t, (&exportOptions{names: []string{"etl"}, files: inputs{paths: []string{"a"}}, kind: kindWork}).validate(), "in one way")
	require.ErrorContains(t, (&exportOptions{names: []string{"etl"}, kind: kindCronJob}).validate(), "--schedule")
	require.ErrorContains(t, (&exportOptions{names: []string{"etl"}, kind: kindCronJob, schedule: "daily"}).validate(), `"daily"`)
	require.ErrorContains(t, (&exportOptions{names: []string{"etl"}, kind: kindCronJob, schedule: "TZ=UTC 0 3 * *"}).validate(), "spec.timeZone")
	require.ErrorContains(t, (&exportOptions{names: []string{"etl"}, kind: kindJob, schedule: "@daily"}).validate(), "--kind=cronjob")
	require.ErrorContains(t, (&exportOptions{names: []string{"etl"}, kind: kindWork, version: "v2"}).validate(), "--api-version=v2")
}
