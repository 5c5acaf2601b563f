package render_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/render"
)

// Whoever waits for a deletion that does not end wants to know what holds it, and how that one thing is let go
// (kubernetes/kubernetes#127917).
func TestHoldersNameWhatHoldsADeletion(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	meta := func(name string, deleted time.Duration, finalizers ...string) metav1.ObjectMeta {
		m := metav1.ObjectMeta{Name: name, Namespace: "data", Finalizers: finalizers}
		if deleted != 0 {
			stamp := metav1.NewTime(at.Add(-deleted))
			m.DeletionTimestamp = &stamp
		}
		return m
	}
	job := func(m metav1.ObjectMeta) *batchv1.Job { return &batchv1.Job{ObjectMeta: m} }
	pod := func(m metav1.ObjectMeta) []*corev1.Pod {
		return []*corev1.Pod{{ObjectMeta: m, Spec: corev1.PodSpec{NodeName: "node-1"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}}
	}
	for _, c := range []struct {
		name    string
		job     *batchv1.Job
		pods    []*corev1.Pod
		want    string
		command string
	}{
		{
			"a Job with a finalizer", job(meta("etl", 3*time.Minute, "example.com/keep")), nil,
			"job/etl held by finalizer example.com/keep for 3m", `kubectl patch job etl -n data --type=json -p ` +
				`'[{"op":"test","path":"/metadata/finalizers/0","value":"example.com/keep"},{"op":"remove","path":"/metadata/finalizers/0"}]'`,
		},
		{
			"the garbage collector at work", job(meta("etl", 5*time.Second, "foregroundDeletion")), nil,
			"job/etl held by finalizer foregroundDeletion for 5s (foreground: what it owns goes first)", "",
		},
		{
			"the second of two", job(meta("etl", 5*time.Second, "foregroundDeletion", "a/b")), nil,
			"job/etl held by finalizer foregroundDeletion, a/b for 5s (foreground: what it owns goes first)", `/metadata/finalizers/1`,
		},
		{
			"a Pod whose Job is gone", nil, pod(meta("etl-x", time.Minute, batchv1.JobTrackingFinalizer)),
			"pod/etl-x held by finalizer batch.kubernetes.io/job-tracking for 60s on node node-1, its Job is gone", "kubectl patch pod etl-x -n data ",
		},
		{"a Pod in its grace", nil, pod(meta("etl-x", -20*time.Second)), "pod/etl-x is ending, for at most 20s more on node node-1", ""},
		{"a Pod of a dead node", nil, pod(meta("etl-x", 2*time.Minute)), "pod/etl-x should have ended 2m ago on node node-1, which has not confirmed it", "kubectl delete pod etl-x -n data --force"},
		{"a Pod that is about to end", nil, pod(meta("etl-x", 2*time.Second)), "pod/etl-x should have ended 2s ago on node node-1", ""},
		{"a Pod nobody has deleted yet", nil, pod(meta("etl-x", 0)), "pod/etl-x Running, not being deleted yet", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := render.Holders(c.job, c.pods, at)
			require.Len(t, got, 1)
			assert.Equal(t, c.want, got[0].Text)
			assert.True(t, strings.Contains(got[0].Command, c.command) && (got[0].Command == "") == (c.command == ""), got[0].Command)
			assert.Equal(t, got[0].Command == "", got[0].Why == "", "a command says when to use it")
		})
	}
}
