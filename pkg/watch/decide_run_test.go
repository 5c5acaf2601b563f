package watch_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// ours is a submitted run whose status annotation is as it should be.
func ours(t *testing.T, w *v1beta2.Work, change ...func(*batchv1.Job)) *batchv1.Job {
	t.Helper()
	job := jobOf(t, w, 1, "id", change...)
	s := status.Snapshot{Job: &job, At: at}
	before, err := work.ParseStatus(job.Annotations[work.AnnotationStatus])
	if err == nil {
		job.Annotations[work.AnnotationStatus] = status.Record(before, s, status.Of(s), 1).String()
	}
	return &job
}

func decideRun(job *batchv1.Job, around watch.Around) (watch.Action, time.Duration) {
	s := status.Snapshot{Job: job, At: at}
	return watch.DecideRun(s, status.Of(s), around)
}

func is(action watch.Action) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", action), "watch.")
}

// Every kind of hold against every state of a run: what a pass does when everything that the hold waits for may have come.
func TestDecideRunForEveryHoldAndPhase(t *testing.T) {
	t.Parallel()
	soon := metav1.NewTime(at.Add(time.Minute))
	dependency := work.Dependency{Work: "other", Job: "other", UID: "u9", Outcome: "Succeeded"}
	kinds := map[string]func(*batchv1.Job){
		"none":         func(*batchv1.Job) {},
		"paused":       holds(work.Hold{Type: work.HoldPaused}),
		"paused until": holds(work.Hold{Type: work.HoldPaused, Until: &work.Until{After: &soon}}),
		"by signal":    holds(work.Hold{Type: work.HoldPaused, Until: &work.Until{Signal: true}}),
		"queued":       holds(work.Hold{Type: work.HoldQueued, Group: "g", Policy: "Forbid"}),
		"waiting":      holds(work.Hold{Type: work.HoldWaiting, On: &dependency}),
		"both":         holds(work.Hold{Type: work.HoldPaused}, work.Hold{Type: work.HoldWaiting, On: &dependency}),
		"unreadable": func(j *batchv1.Job) {
			j.Annotations[work.AnnotationHolds] = "{"
		},
	}
	states := map[string]func(*batchv1.Job){
		"suspended":   func(j *batchv1.Job) { j.Spec.Suspend = new(true) },
		"started":     func(j *batchv1.Job) { j.Spec.Suspend, j.Status.Active = new(false), 1 },
		"complete":    func(j *batchv1.Job) { j.Spec.Suspend = new(false); complete(j) },
		"terminating": func(j *batchv1.Job) { j.Spec.Suspend = new(true); beingDeleted(j) },
		"restored":    func(j *batchv1.Job) { j.Spec.Suspend = new(true); j.Annotations[work.AnnotationUID] = "another" },
	}
	const nothing, moveOn, drop = "<nil>", "MoveOn", "DropHolds"
	want := map[string]map[string]string{
		"suspended": {
			"none": nothing, "paused": nothing, "paused until": moveOn, "by signal": nothing, "queued": moveOn, "waiting": moveOn, "both": moveOn, "unreadable": nothing,
		},
		"started": {
			"none": nothing, "paused": drop, "paused until": drop, "by signal": drop, "queued": drop, "waiting": drop, "both": drop, "unreadable": nothing,
		},
		"complete":    {},
		"terminating": {},
		"restored":    {},
	}
	for state, change := range states {
		for kind, hold := range kinds {
			t.Run(state+"/"+kind, func(t *testing.T) {
				t.Parallel()
				expected, told := want[state][kind]
				if !told {
					expected = nothing
				}
				job := ours(t, document(), hold, change)
				action, _ := decideRun(job, watch.Around{Worth: true})
				require.Equal(t, expected, is(action))
				quiet, _ := decideRun(job, watch.Around{})
				require.NotEqual(t, moveOn, is(quiet), "nothing has come")
			})
		}
	}
}

func TestDecideRunOfAJobOfSomebodyElseWritesNothing(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*batchv1.Job){func(*batchv1.Job) {}, suspended, complete, beingDeleted, func(j *batchv1.Job) { j.Finalizers = []string{work.FinalizerCleanup} }} {
		action, again := decideRun(held(change), watch.Around{Worth: true})
		require.Nil(t, action)
		require.Zero(t, again)
	}
}

func TestDecideRunKeepsOurRunsTrue(t *testing.T) {
	t.Parallel()
	cleanup := func(p v1beta2.CleanupPolicy) func(*v1beta2.Work) {
		return func(w *v1beta2.Work) { w.Spec.CleanupPolicy = &p }
	}
	owned := func(w *v1beta2.Work) { w.Spec.Owner = &v1beta2.Owner{Anchor: true} }
	finalizer := func(j *batchv1.Job) { j.Finalizers = []string{work.FinalizerCleanup} }
	controlled := func(j *batchv1.Job) {
		j.OwnerReferences = []metav1.OwnerReference{{Kind: "Gone", Name: "x", UID: "stale", Controller: new(true)}}
	}
	endedAgo := func(ago time.Duration) func(*batchv1.Job) {
		return func(j *batchv1.Job) {
			stamp := metav1.NewTime(at.Add(-ago))
			j.Status.CompletionTime = &stamp
			j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: "True", LastTransitionTime: stamp}}
		}
	}
	background := v1beta2.CleanupPolicy{TTLSecondsAfterFinished: new(int32(60)), Propagation: "Background"}
	for _, c := range []struct {
		name   string
		work   *v1beta2.Work
		job    []func(*batchv1.Job)
		around watch.Around
		want   string
		again  time.Duration
	}{
		{"a settled run", document(), nil, watch.Around{}, "<nil>", 0},
		{"its finalizer stays while it goes on", document(), []func(*batchv1.Job){finalizer}, watch.Around{}, "<nil>", 0},
		{"its finalizer goes with its end", document(), []func(*batchv1.Job){finalizer, complete}, watch.Around{}, "RemoveFinalizer", 0},
		{"or with its deletion", document(), []func(*batchv1.Job){finalizer, beingDeleted}, watch.Around{}, "RemoveFinalizer", 0},
		{"a missing owner is added", document(owned), nil, watch.Around{}, "AddOwner", 0},
		{"not to what has ended", document(owned), []func(*batchv1.Job){complete}, watch.Around{Kept: true}, "<nil>", 0},
		{"an anchor remembers what has ended", document(owned), []func(*batchv1.Job){complete, controlled}, watch.Around{}, "Remember", 0},
		{"before its finalizer goes", document(owned), []func(*batchv1.Job){complete, controlled, finalizer}, watch.Around{}, "Remember", 0},
		{"a stale owner is left alone", document(owned), []func(*batchv1.Job){controlled}, watch.Around{}, "<nil>", 0},
		{"a time to live that is ours", document(cleanup(background)), []func(*batchv1.Job){endedAgo(time.Minute)}, watch.Around{}, "Delete", 0},
		{"is waited for", document(cleanup(background)), []func(*batchv1.Job){endedAgo(20 * time.Second)}, watch.Around{}, "<nil>", 40 * time.Second},
		{"the cluster's own is left to it", document(cleanup(v1beta2.CleanupPolicy{TTLSecondsAfterFinished: new(int32(60))})), []func(*batchv1.Job){endedAgo(time.Hour)}, watch.Around{}, "<nil>", 0},
		{"a circle ends", document(), []func(*batchv1.Job){suspended, holds(work.Hold{Type: work.HoldWaiting, On: &work.Dependency{Work: "b", Job: "b", UID: "u9"}})}, watch.Around{Circle: "etl -> b -> etl"}, "End", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			action, again := decideRun(ours(t, c.work, c.job...), c.around)
			require.Equal(t, c.want, is(action))
			require.Equal(t, c.again, again)
		})
	}
}

func TestStatusIsWrittenWhenItSaysSomethingElse(t *testing.T) {
	t.Parallel()
	job := ours(t, document())
	job.Status.Active = 1
	action, _ := decideRun(job, watch.Around{})
	require.Equal(t, "WriteStatus", is(action))
	action, _ = decideRun(job, watch.Around{Young: true})
	require.Nil(t, action, "what does not last is not written")
}
