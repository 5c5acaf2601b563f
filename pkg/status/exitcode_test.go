package status_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/status/snapshottest"
)

func TestExitCodeOfTwoContainers(t *testing.T) {
	t.Parallel()
	snapshots, err := snapshottest.Load("99-two-containers.33s")
	require.NoError(t, err)
	code, note := status.ExitCodeOf(snapshots[0], "main")
	require.EqualValues(t, 3, code)
	require.Empty(t, note)
	code, note = status.ExitCodeOf(snapshots[0], "report") // it ended 0: a failed run must not pass for a good one
	require.Zero(t, code)
	require.Equal(t, "container report did not fail", note)
	code, note = status.ExitCodeOf(snapshots[0], "mian")
	require.Zero(t, code)
	require.Equal(t, "no failed Pod has a container mian that ended", note)
}

func ended(name, index string, code int32, at time.Time) *corev1.Pod {
	p := pod(corev1.PodFailed)
	p.Name, p.Annotations = name, map[string]string{batchv1.JobCompletionIndexAnnotation: index}
	p.Spec.Containers = []corev1.Container{{Name: "main"}}
	p.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name:  "main",
		State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: metav1.NewTime(at)}},
	}}
	return p
}

func TestExitCodeOfSeveralIndexes(t *testing.T) {
	t.Parallel()
	same := []*corev1.Pod{ended("a", "0", 9, at), ended("b", "0", 4, at.Add(time.Second)), ended("c", "1", 4, at)}
	code, note := status.ExitCodeOf(status.Snapshot{Job: job(), Pods: same}, "main")
	require.EqualValues(t, 4, code, "the last try of each index counts")
	require.Empty(t, note)
	code, note = status.ExitCodeOf(status.Snapshot{Job: job(), Pods: append(same, ended("d", "2", 5, at))}, "main")
	require.Zero(t, code)
	require.Equal(t, "container main ended with different codes on several indexes", note)
}
