package status_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/status/snapshottest"
)

var at = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func job(change ...func(*batchv1.Job)) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "etl", UID: "u1", CreationTimestamp: metav1.NewTime(at.Add(-time.Minute))},
		Spec:       batchv1.JobSpec{Completions: new(int32(1)), Parallelism: new(int32(1)), BackoffLimit: new(int32(0))},
	}
	for _, c := range change {
		c(j)
	}
	return j
}

func condition(t batchv1.JobConditionType, s corev1.ConditionStatus) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: t, Status: s, Reason: "R", LastTransitionTime: metav1.NewTime(at)})
	}
}

func suspend(j *batchv1.Job) { j.Spec.Suspend = new(true) }
func active(j *batchv1.Job)  { j.Status.Active = 1 }
func failed(j *batchv1.Job)  { j.Status.Failed = 1 }
func deleting(j *batchv1.Job) {
	j.DeletionTimestamp = new(metav1.NewTime(at))
}

func pod(phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "etl-x", OwnerReferences: []metav1.OwnerReference{{Kind: "Job", Name: "etl", UID: "u1", Controller: new(true)}},
		},
		Status: corev1.PodStatus{Phase: phase},
	}
}

// The order of the phase function, one neighbour against the next: what stands first wins.
func TestPhaseOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		job  *batchv1.Job
		pods []*corev1.Pod
		want status.Phase
	}{
		{"complete beats everything", job(condition(batchv1.JobComplete, "True"), suspend, deleting), nil, status.PhaseSucceeded},
		{"failed beats deletion", job(condition(batchv1.JobFailed, "True"), deleting), nil, status.PhaseFailed},
		{"deletion beats suspension", job(deleting, suspend), nil, status.PhaseTerminating},
		{"a decision beats suspension", job(condition(batchv1.JobFailureTarget, "True"), suspend), nil, status.PhaseTerminating},
		{"a decision of status False is none", job(condition(batchv1.JobFailureTarget, "False"), active), nil, status.PhaseInitializing},
		{"suspension beats Pods that still run", job(suspend, active), []*corev1.Pod{pod(corev1.PodRunning)}, status.PhasePaused},
		{"parallelism 0 beats Pods that still run", job(func(j *batchv1.Job) { j.Spec.Parallelism = new(int32(0)) }), []*corev1.Pod{pod(corev1.PodRunning)}, status.PhasePaused},
		{"a running Pod", job(active), []*corev1.Pod{pod(corev1.PodRunning)}, status.PhaseRunning},
		{"something counted, nothing alive", job(failed), nil, status.PhaseRunning},
		{"active only", job(active), nil, status.PhaseInitializing},
		{"a finished Pod that is not counted yet", job(), []*corev1.Pod{pod(corev1.PodFailed)}, status.PhasePending},
		{"nothing", job(), nil, status.PhasePending},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, status.Of(status.Snapshot{Job: c.job, Pods: c.pods, At: at}).Phase)
		})
	}
}

func TestPodsOfOthersDoNotCount(t *testing.T) {
	t.Parallel()
	other := pod(corev1.PodRunning)
	other.OwnerReferences[0].UID = "someone-else"
	require.Equal(t, status.PhasePending, status.Of(status.Snapshot{Job: job(), Pods: []*corev1.Pod{other}, At: at}).Phase)
}

func TestWithoutPodsInSightTheJobsOwnCountsDecide(t *testing.T) {
	t.Parallel()
	running := job(active, func(j *batchv1.Job) { j.Status.Ready = new(int32(1)) })
	got := status.Of(status.Snapshot{Job: running, PodsHidden: true, At: at})
	require.Equal(t, status.PhaseRunning, got.Phase)
	require.True(t, got.Partial)
}

func TestWhoPausedAndWhy(t *testing.T) {
	t.Parallel()
	paused := job(suspend, func(j *batchv1.Job) {
		j.Annotations = map[string]string{work.AnnotationHolds: `[{"type":"Paused","by":"ann","reason":"late data","since":"2026-12-01T11:00:00Z"}]`}
	})
	got := status.Of(status.Snapshot{Job: paused, At: at})
	require.Equal(t, status.PhasePaused, got.Phase)
	require.Equal(t, `paused by ann: "late data"`, got.Message)
}

// A hand-edited annotation must not decide anything: the run stays what spec.suspend says, and the reader is told.
func TestUnreadableHoldsAreReported(t *testing.T) {
	t.Parallel()
	broken := job(suspend, func(j *batchv1.Job) { j.Annotations = map[string]string{work.AnnotationHolds: "{"} })
	got := status.Of(status.Snapshot{Job: broken, At: at})
	require.Equal(t, status.PhasePaused, got.Phase)
	require.Equal(t, "HoldsUnreadable", got.Reason)
}

// The node lost track of the container: 137 then means nothing, least of all memory (kubernetes/kubernetes#122932).
func TestUnknownContainerStatusIsNotOutOfMemory(t *testing.T) {
	t.Parallel()
	lost := pod(corev1.PodFailed)
	lost.Spec.Containers = []corev1.Container{{Name: "main"}}
	lost.Status.ContainerStatuses = []corev1.ContainerStatus{{
		Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "ContainerStatusUnknown"}},
	}}
	got := status.Of(status.Snapshot{Job: job(failed, condition(batchv1.JobFailed, "True")), Pods: []*corev1.Pod{lost}, At: at})
	require.Contains(t, got.Message, "unknown result: the node lost track of the container")
	require.NotContains(t, got.Message, "memory")
}

func TestEventTimesOfBothForms(t *testing.T) {
	t.Parallel()
	series := corev1.Event{Series: &corev1.EventSeries{Count: 12, LastObservedTime: metav1.NewMicroTime(at)}, EventTime: metav1.NewMicroTime(at.Add(-time.Hour))}
	require.Equal(t, at, status.EventTime(&series))
	require.EqualValues(t, 12, status.EventCount(&series))
	old := corev1.Event{Count: 7, LastTimestamp: metav1.NewTime(at.Add(-time.Minute))}
	require.Equal(t, at.Add(-time.Minute), status.EventTime(&old))
	require.EqualValues(t, 7, status.EventCount(&old))
	bare := corev1.Event{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(at)}}
	require.Equal(t, at, status.EventTime(&bare))
	require.EqualValues(t, 1, status.EventCount(&bare))
}

// Rule ids are an interface: people look them up and scripts match them.
func TestRuleIDs(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range status.Rules() {
		require.Regexp(t, `^[a-z]+(-[a-z]+)*$`, r.ID)
		require.False(t, seen[r.ID], "%s names two rules", r.ID)
		require.NotEmpty(t, r.About)
		require.NotEmpty(t, r.Reasons)
		seen[r.ID] = true
	}
	require.NotEmpty(t, seen)
}

// A line of nothing but control sequences shows nothing, so it explains nothing.
func TestWordsThatShow(t *testing.T) {
	t.Parallel()
	failing := pod(corev1.PodFailed)
	failing.Spec.Containers = []corev1.Container{{Name: "main"}}
	failing.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "main", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
		ExitCode: 9, Reason: "Error", Message: "\x1b]0;title\x07\x1b[2J\n\r\x1b[31mlock held\x1b[0m\n",
	}}}}
	got := status.Of(status.Snapshot{Job: job(failed, condition(batchv1.JobFailed, "True")), Pods: []*corev1.Pod{failing}, At: at})
	require.Contains(t, got.Message, "lock held")
}

// A scale-up that was triggered is worth waiting for, for as long as a node may take to come; after that it is not.
func TestScaleUpIsWaitedFor(t *testing.T) {
	t.Parallel()
	snapshots, err := snapshottest.Load("13-too-much-cpu.33s")
	require.NoError(t, err)
	s := snapshots[0]
	triggered := corev1.Event{Reason: "TriggeredScaleUp", Message: "pool-a 1->2", InvolvedObject: corev1.ObjectReference{Kind: "Pod", UID: s.Pods[0].UID}}
	for ago, want := range map[time.Duration]status.Class{time.Minute: status.ClassNone, 9 * time.Minute: status.ClassNone, 11 * time.Minute: status.ClassUnschedulable} {
		triggered.LastTimestamp = metav1.NewTime(s.At.Add(-ago))
		s.Events = []corev1.Event{triggered}
		f := status.Of(s).Findings[0]
		require.Equal(t, want, f.Class, ago)
		require.Contains(t, f.Details[len(f.Details)-1], "TriggeredScaleUp: pool-a 1->2")
	}
}

// The lease of a node tells before its Ready condition does.
func TestSilentLease(t *testing.T) {
	t.Parallel()
	snapshots, err := snapshottest.Load("node-lost.39s")
	require.NoError(t, err)
	s := snapshots[0]
	for i := range s.Nodes[0].Status.Conditions {
		s.Nodes[0].Status.Conditions[i].Status = corev1.ConditionTrue
	}
	renewed := metav1.NewMicroTime(s.At.Add(-time.Minute))
	s.Leases[0].Spec.RenewTime = &renewed
	require.Equal(t, "NodeLost", status.Of(s).Reason)
	renewed = metav1.NewMicroTime(s.At.Add(-10 * time.Second))
	require.NotEqual(t, "NodeLost", status.Of(s).Reason)
}
