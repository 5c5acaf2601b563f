package watch_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

func held(change ...func(*batchv1.Job)) *batchv1.Job {
	j := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: "etl", UID: "u1", ResourceVersion: "7"},
		Spec:       batchv1.JobSpec{Completions: new(int32(1)), Parallelism: new(int32(1))},
	}
	for _, c := range change {
		c(j)
	}
	return j
}

func suspended(j *batchv1.Job) { j.Spec.Suspend = new(true) }
func pausedByUs(j *batchv1.Job) {
	j.Annotations = map[string]string{work.AnnotationHolds: `[{"type":"Paused","since":"2026-12-01T11:00:00Z"}]`}
}
func queued(j *batchv1.Job)    { j.Labels = map[string]string{work.LabelKueueQueue: "team-a"} }
func elsewhere(j *batchv1.Job) { j.Spec.ManagedBy = new("example.com/other") }
func workQueue(j *batchv1.Job) { j.Spec.Completions, j.Status.Succeeded = nil, 1 }
func unreadable(j *batchv1.Job) {
	j.Annotations = map[string]string{work.AnnotationHolds: "{"}
}

func complete(j *batchv1.Job) {
	j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: "True"}}
}
func noParallelism(j *batchv1.Job) { j.Spec.Parallelism = new(int32(0)) }

func decidePause(j *batchv1.Job, force bool) watch.HoldDecision {
	return watch.DecidePause(j, status.Of(status.Snapshot{Job: j, At: at}), watch.HoldRequest{By: "ann", Reason: "late", Force: force, Now: at})
}

func decideResume(j *batchv1.Job, force bool) watch.HoldDecision {
	return watch.DecideResume(j, status.Of(status.Snapshot{Job: j, At: at}), watch.HoldRequest{By: "ann", Force: force, Now: at})
}

// Every state against both verbs: what is refused, what is a change, what is nothing.
func TestHoldDecisions(t *testing.T) {
	t.Parallel()
	const refused, patched, nothing = "refused", "patched", "nothing"
	kind := func(d watch.HoldDecision) string {
		switch {
		case d.Refusal != "":
			return refused
		case d.Patch != nil:
			return patched
		}
		return nothing
	}
	for _, c := range []struct {
		name                                   string
		job                                    *batchv1.Job
		pause, pauseForce, resume, resumeForce string
	}{
		{"runs", held(), patched, patched, nothing, nothing},
		{"finished", held(complete), refused, refused, refused, refused},
		{"paused by us", held(suspended, pausedByUs), nothing, nothing, patched, patched},
		{"suspended by somebody", held(suspended), patched, patched, patched, patched},
		{"released behind our back", held(pausedByUs), patched, patched, patched, patched},
		{"in a queue", held(suspended, queued), refused, patched, refused, patched},
		{"managed elsewhere", held(suspended, elsewhere), refused, patched, refused, patched},
		{"work queue with a success", held(workQueue), refused, patched, nothing, nothing},
		{"unreadable holds", held(suspended, unreadable), refused, patched, refused, patched},
		{"parallelism 0", held(noParallelism), patched, patched, refused, refused},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.pause, kind(decidePause(c.job, false)), "pause")
			require.Equal(t, c.pauseForce, kind(decidePause(c.job, true)), "pause --force")
			require.Equal(t, c.resume, kind(decideResume(c.job, false)), "resume")
			require.Equal(t, c.resumeForce, kind(decideResume(c.job, true)), "resume --force")
		})
	}
}

// One patch, guarded by what was read: the hold and spec.suspend can never part, and nobody's change is overwritten.
func TestPausePatch(t *testing.T) {
	t.Parallel()
	var got map[string]any
	require.NoError(t, json.Unmarshal(decidePause(held(), false).Patch, &got))
	require.Equal(t, map[string]any{
		"metadata": map[string]any{
			"uid": "u1", "resourceVersion": "7",
			"annotations": map[string]any{
				work.AnnotationHolds: `[{"type":"Paused","by":"ann","reason":"late","since":"2026-12-01T12:00:00Z"}]`,
				work.AnnotationUID:   "u1",
			},
		},
		"spec": map[string]any{"suspend": true},
	}, got)
}
