package mapping_test

import (
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
