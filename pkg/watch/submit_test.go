package watch_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// document is a Work; change may alter it.
func document(change ...func(*v1beta2.Work)) *v1beta2.Work {
	w := &v1beta2.Work{ObjectMeta: metav1.ObjectMeta{Name: "etl"}}
	w.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "a:1"}}
	for _, c := range change {
		c(w)
	}
	return w
}

func jobOf(t *testing.T, w *v1beta2.Work, run int, id string, change ...func(*batchv1.Job)) batchv1.Job {
	t.Helper()
	job, err := mapping.ToJob(w, mapping.Injection{Namespace: "ns", SubmitID: id, Run: run, Now: at})
	require.NoError(t, err)
	job.UID, job.ResourceVersion = "u", "7"
	if job.Spec.Completions == nil && job.Spec.Parallelism == nil { // as the API server does
		job.Spec.Completions = new(int32(1))
	}
	for _, c := range change {
		c(job)
	}
	return *job
}

func end(condition batchv1.JobConditionType) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Status.Conditions = []batchv1.JobCondition{{Type: condition, Status: "True", LastTransitionTime: metav1.NewTime(at.Add(-22 * time.Hour))}}
	}
}

func image(w *v1beta2.Work)       { w.Spec.Template.Spec.Containers[0].Image = "a:2" }
func limit(w *v1beta2.Work)       { w.Spec.ActiveDeadlineSeconds = new(int64(3)) }
func parallelism(w *v1beta2.Work) { w.Spec.Parallelism = new(int32(3)) }
func beingDeleted(j *batchv1.Job) { j.DeletionTimestamp = new(metav1.NewTime(at)) }

// The table of "Names, runs, identity", a row a line.
func TestDecideSubmit(t *testing.T) {
	t.Parallel()
	complete, failed := end(batchv1.JobComplete), end(batchv1.JobFailed)
	for _, c := range []struct {
		name    string
		doc     *v1beta2.Work
		runs    []batchv1.Job
		taken   *batchv1.Job
		choices watch.SubmitChoices
		want    watch.SubmitAction
		run     int
		text    string
	}{
		{name: "nothing there", doc: document(), want: watch.SubmitCreate, run: 1},
		{name: "same document, unfinished", doc: document(), runs: []batchv1.Job{jobOf(t, document(), 1, "old")}, want: watch.SubmitNothing},
		{name: "same document, finished, same id", doc: document(), runs: []batchv1.Job{jobOf(t, document(), 1, "new", failed)}, want: watch.SubmitNothing, text: "this submit made it before"},
		{name: "same document, finished, another id", doc: document(), runs: []batchv1.Job{jobOf(t, document(), 1, "old", complete)}, want: watch.SubmitRefuse, text: "run 1 of etl Succeeded 22h ago; nothing was started"},
		{name: "the same, ok", doc: document(), runs: []batchv1.Job{jobOf(t, document(), 1, "old", complete)}, choices: watch.SubmitChoices{IfFinished: watch.IfFinishedOK}, want: watch.SubmitNothing},
		{name: "the same, new-run", doc: document(), runs: []batchv1.Job{jobOf(t, document(), 1, "old", complete)}, choices: watch.SubmitChoices{IfFinished: watch.IfFinishedNewRun}, want: watch.SubmitCreate, run: 2},
		{name: "the same, replace", doc: document(), runs: []batchv1.Job{jobOf(t, document(), 1, "old", complete)}, choices: watch.SubmitChoices{IfFinished: watch.IfFinishedReplace}, want: watch.SubmitReplace, run: 1},
		{name: "parallelism alone makes a work queue of it", doc: document(parallelism), runs: []batchv1.Job{jobOf(t, document(), 1, "old")}, want: watch.SubmitRefuse},
		{name: "only mutable fields differ", doc: document(limit), runs: []batchv1.Job{jobOf(t, document(), 1, "old")}, want: watch.SubmitPatch, run: 1},
		{name: "mutable fields of a finished run", doc: document(limit), runs: []batchv1.Job{jobOf(t, document(), 1, "old", complete)}, want: watch.SubmitRefuse},
		{name: "the template differs", doc: document(image), runs: []batchv1.Job{jobOf(t, document(), 1, "old")}, want: watch.SubmitRefuse, text: "exists with another spec"},
		{name: "the template differs, finished, new-run", doc: document(image), runs: []batchv1.Job{jobOf(t, document(), 1, "old", failed)}, choices: watch.SubmitChoices{IfFinished: watch.IfFinishedNewRun}, want: watch.SubmitCreate, run: 2},
		{name: "the template differs, --new-run", doc: document(image), runs: []batchv1.Job{jobOf(t, document(), 1, "old")}, choices: watch.SubmitChoices{NewRun: true}, want: watch.SubmitCreate, run: 2},
		{name: "--replace of a run that goes on", doc: document(image), runs: []batchv1.Job{jobOf(t, document(), 1, "old")}, choices: watch.SubmitChoices{Replace: true}, want: watch.SubmitRefuse, text: "--force"},
		{name: "--replace --force", doc: document(image), runs: []batchv1.Job{jobOf(t, document(), 1, "old")}, choices: watch.SubmitChoices{Replace: true, Force: true}, want: watch.SubmitReplace, run: 1},
		{name: "--replace of the newest", doc: document(), runs: []batchv1.Job{jobOf(t, document(), 1, "a", complete), jobOf(t, document(), 2, "b", failed)}, choices: watch.SubmitChoices{Replace: true}, want: watch.SubmitReplace, run: 2},
		{name: "being deleted", doc: document(), runs: []batchv1.Job{jobOf(t, document(), 1, "old", beingDeleted)}, want: watch.SubmitRefuse, text: "is being deleted"},
		{name: "being deleted, --replace waits", doc: document(), runs: []batchv1.Job{jobOf(t, document(), 1, "old", beingDeleted)}, choices: watch.SubmitChoices{Replace: true}, want: watch.SubmitReplace, run: 1},
		{name: "the name is somebody else's", doc: document(), taken: &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "etl"}}, want: watch.SubmitRefuse, text: "was not submitted by kubectl work"},
		{name: "a run beside somebody else's", doc: document(), taken: &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "etl"}}, choices: watch.SubmitChoices{NewRun: true}, want: watch.SubmitCreate, run: 2},
		{name: "the same id, another document", doc: document(image), runs: []batchv1.Job{jobOf(t, document(), 1, "new")}, choices: watch.SubmitChoices{NewRun: true}, want: watch.SubmitRefuse, text: "from another document"},
		{name: "a run that another run of ours made, same id, whatever the choices", doc: document(), runs: []batchv1.Job{jobOf(t, document(), 2, "new", complete)}, choices: watch.SubmitChoices{NewRun: true}, want: watch.SubmitNothing},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			wanted := jobOf(t, c.doc, 1, "new")
			if c.choices.IfFinished == "" {
				c.choices.IfFinished = watch.IfFinishedFail
			}
			got := watch.DecideSubmit(&wanted, c.runs, c.taken, at, c.choices)
			require.Equal(t, c.want, got.Action, got.Text)
			require.Contains(t, got.Text, c.text)
			if c.run > 0 {
				require.Equal(t, c.run, got.Run)
			}
		})
	}
}

func TestASubmitThatIsRepeatedReportsTheOutcome(t *testing.T) {
	t.Parallel()
	wanted := jobOf(t, document(), 1, "new")
	got := watch.DecideSubmit(&wanted, []batchv1.Job{jobOf(t, document(), 1, "new", end(batchv1.JobFailed))}, nil, at, watch.SubmitChoices{})
	require.Equal(t, status.OutcomeFailed, got.Ended)
}

// What only the old document had goes; what others set stays.
func TestSubmitPatch(t *testing.T) {
	t.Parallel()
	labelled := func(key string) func(*v1beta2.Work) {
		return func(w *v1beta2.Work) { w.Labels = map[string]string{key: "x"} }
	}
	run := jobOf(t, document(labelled("old")), 1, "old")
	wanted := jobOf(t, document(labelled("new"), limit), 1, "new")
	data, err := watch.SubmitPatchOf(&run, &wanted)
	require.NoError(t, err)
	var patch struct {
		Metadata struct {
			UID, ResourceVersion string
			Labels, Annotations  map[string]any
		}
		Spec map[string]any
	}
	require.NoError(t, json.Unmarshal(data, &patch))
	require.Equal(t, "u", patch.Metadata.UID)
	require.Equal(t, "7", patch.Metadata.ResourceVersion)
	require.Equal(t, map[string]any{"old": nil, "new": "x"}, patch.Metadata.Labels)
	require.Equal(t, wanted.Annotations[work.AnnotationSpecHash], patch.Metadata.Annotations[work.AnnotationSpecHash])
	require.EqualValues(t, 3, patch.Spec["activeDeadlineSeconds"])
	require.NotContains(t, patch.Spec, "suspend")
}
