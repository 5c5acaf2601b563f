package mapping_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

func cronJob() *batchv1.CronJob {
	c := &batchv1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: "nightly", Namespace: "batch", UID: "u1", Labels: map[string]string{"of": "the CronJob"}}}
	c.Spec.Schedule = "0 3 * * *"
	c.Spec.JobTemplate.Labels = map[string]string{"app": "etl"}
	c.Spec.JobTemplate.Annotations = map[string]string{"team": "data"}
	c.Spec.JobTemplate.Spec.BackoffLimit = new(int32(2))
	c.Spec.JobTemplate.Spec.TTLSecondsAfterFinished = new(int32(60))
	c.Spec.JobTemplate.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "main", Image: "busybox:1"}}}
	return c
}

// One more Job of a CronJob is what kubectl create job --from makes, without an owner.
func TestFromCronJob(t *testing.T) {
	t.Parallel()
	c := cronJob()
	w := mapping.FromCronJob(c, "")
	require.Equal(t, "nightly-", w.GenerateName)
	require.Equal(t, "batch", w.Namespace)
	require.Equal(t, map[string]string{"app": "etl"}, w.Labels)
	require.Equal(t, map[string]string{"team": "data", "cronjob.kubernetes.io/instantiate": "manual"}, w.Annotations)
	require.Equal(t, map[string]string{"team": "data"}, c.Spec.JobTemplate.Annotations, "the CronJob stays as it is")
	require.Empty(t, w.OwnerReferences)
	require.Empty(t, mapping.Validate(&mapping.Document{File: "cronjob/nightly", Work: w}))

	w = mapping.FromCronJob(c, "now")
	require.Equal(t, "now", w.Name)
	require.Empty(t, w.GenerateName)
	job, err := mapping.ToJob(w, mapping.Injection{Run: 1, SubmitID: "x"})
	require.NoError(t, err)
	require.Equal(t, c.Spec.JobTemplate.Spec.BackoffLimit, job.Spec.BackoffLimit)
	require.Equal(t, c.Spec.JobTemplate.Spec.TTLSecondsAfterFinished, job.Spec.TTLSecondsAfterFinished)
	require.Equal(t, c.Spec.JobTemplate.Spec.Template.Spec, job.Spec.Template.Spec)
}

// There and back: the Jobs of the CronJob are those of the Work.
func TestToCronJob(t *testing.T) {
	t.Parallel()
	want := cronJob()
	job, err := mapping.AsJob(mapping.FromCronJob(want, "nightly"))
	require.NoError(t, err)
	got, err := mapping.ToCronJob(job, want.Spec.Schedule)
	require.NoError(t, err)
	require.Equal(t, want.Spec, got.Spec)
	require.Equal(t, metav1.ObjectMeta{Name: "nightly", Namespace: "batch", Labels: map[string]string{"app": "etl"}}, got.ObjectMeta)

	for wrong, change := range map[string]func(*batchv1.Job){
		"at most 52":          func(j *batchv1.Job) { j.Name = strings.Repeat("a", 53) },
		"52 characters":       func(j *batchv1.Job) { j.Name, j.GenerateName = "", strings.Repeat("a", 48) },
		"metadata.finalizers": func(j *batchv1.Job) { j.Finalizers = []string{"a/b"} },
		"spec.manualSelector": func(j *batchv1.Job) { j.Spec.ManualSelector = new(true) },
	} {
		changed := job.DeepCopy()
		change(changed)
		_, err := mapping.ToCronJob(changed, "@daily")
		require.ErrorContains(t, err, wrong)
	}
}

// A Job for who creates it without us has nothing of ours, and all that the document says.
func TestAsJob(t *testing.T) {
	t.Parallel()
	documents, problems := mapping.Read("work.yaml", []byte(`
apiVersion: kubectl-work.dev/v1beta2
kind: Work
metadata: {generateName: etl-, labels: {app: etl}, finalizers: [example.com/keep]}
spec:
  suspend: true
  maxRetries: 2
  tenant: a
  cleanupPolicy: {ttlSecondsAfterFinished: 60}
  template: {spec: {containers: [{name: main, image: busybox}]}}
`), mapping.DecodeOptions{})
	require.Empty(t, problems)
	job, err := mapping.AsJob(documents[0].Work)
	require.NoError(t, err)
	text, err := mapping.Manifest(job)
	require.NoError(t, err)
	require.JSONEq(t, `{"apiVersion": "batch/v1", "kind": "Job",
		"metadata": {"generateName": "etl-", "labels": {"app": "etl"}, "finalizers": ["example.com/keep"]},
		"spec": {"suspend": true, "backoffLimit": 3, "ttlSecondsAfterFinished": 60,
			"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}}`, string(text))
}
