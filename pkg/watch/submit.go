package watch

import (
	"encoding/json"
	"fmt"
	"reflect"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// SubmitAction is what to do with a document whose Work was looked up.
type SubmitAction string

// The actions.
const (
	SubmitCreate  SubmitAction = "create"  // a run with the number of the decision
	SubmitNothing SubmitAction = "nothing" // the run that is there is the one that is wanted
	SubmitPatch   SubmitAction = "patch"   // the run that is there takes the changes
	SubmitReplace SubmitAction = "replace" // delete the run that is there, wait until it is gone, then create
	SubmitAdopt   SubmitAction = "adopt"   // the Job that is there becomes a run of the Work: labels and annotations only
	SubmitRefuse  SubmitAction = "refuse"
)

// IfFinished says what a submit does about a run of the same document that has ended.
type IfFinished string

// The choices. The zero value is not one.
const (
	IfFinishedFail    IfFinished = "fail"
	IfFinishedOK      IfFinished = "ok"      // it counts as done: its outcome is reported
	IfFinishedNewRun  IfFinished = "new-run" // another run is started
	IfFinishedReplace IfFinished = "replace" // it is deleted, and started anew
)

// SubmitChoices are the flags of a submit that decide about runs.
type SubmitChoices struct {
	IfFinished IfFinished
	NewRun     bool // start another run whatever there is
	Replace    bool // in place of the newest run
	Force      bool // replace even one that goes on
	Adopt      bool // take over a Job that somebody else made
}

// SubmitDecision is what to do, and what to say.
type SubmitDecision struct {
	Action SubmitAction
	Run    int            // number of the run to create
	Found  *batchv1.Job   // the run that the decision is about, if one is there
	Text   string         // of a refusal, or of a run that is there
	Ended  status.Outcome // of that run, where it is what was asked for
}

// DecideSubmit follows the table of "Names, runs, identity": wanted is the Job that the document becomes, runs are those of
// its Work, taken is the Job that has the Work's own name, nil for none.
func DecideSubmit(wanted *batchv1.Job, runs []batchv1.Job, taken *batchv1.Job, at time.Time, c SubmitChoices) SubmitDecision {
	name := mapping.WorkName(wanted)
	next, newest := 1, (*batchv1.Job)(nil)
	if taken != nil {
		next = 2
	}
	for i := range runs {
		run := &runs[i]
		if !mapping.Ours(run) || mapping.WorkName(run) != name {
			continue
		}
		next = max(next, mapping.RunNumber(run)+1)
		if newest == nil || mapping.RunNumber(run) > mapping.RunNumber(newest) {
			newest = run
		}
		if sameID(run, wanted) {
			return decideSameID(run, wanted, at)
		}
	}
	switch {
	case newest == nil && taken != nil && c.Adopt:
		return SubmitDecision{Action: SubmitAdopt, Found: taken, Run: 1}
	case newest != nil && c.Adopt && Restored(newest):
		return SubmitDecision{Action: SubmitAdopt, Found: newest, Run: mapping.RunNumber(newest)}
	case newest == nil && taken != nil && !c.NewRun:
		return refuseSubmit("job %q exists and was not submitted by kubectl work (%s); take another name, delete it, make it a run of this Work with --adopt, or start another run beside it with --new-run",
			taken.Name, stateOf(taken, at))
	case newest == nil || c.NewRun:
		return SubmitDecision{Action: SubmitCreate, Run: next}
	}
	return decideNewest(newest, wanted, next, at, c)
}

// decideSameID: this submit made the run before. Its document must be the same, or another one would pass for it.
func decideSameID(run, wanted *batchv1.Job, at time.Time) SubmitDecision {
	v := judge(run, at)
	if !sameSpec(run, wanted) {
		return refuseSubmit("this submit id (%s) made job %q from another document (%s); nothing was started. Give each document an id of its own",
			run.Annotations[work.AnnotationSubmitID], run.Name, stateOf(run, at))
	}
	return SubmitDecision{Action: SubmitNothing, Found: run, Ended: v.Outcome, Text: fmt.Sprintf("unchanged (this submit made it before; it is %s)", v.Phase)}
}

// decideNewest decides by the newest run of the Work.
func decideNewest(run, wanted *batchv1.Job, next int, at time.Time, c SubmitChoices) SubmitDecision {
	v := judge(run, at)
	same, finished := sameSpec(run, wanted), v.Phase.Finished()
	create := SubmitDecision{Action: SubmitCreate, Run: next}
	replace := SubmitDecision{Action: SubmitReplace, Found: run, Run: mapping.RunNumber(run)}
	nothing := SubmitDecision{Action: SubmitNothing, Found: run}
	switch {
	case c.Replace && run.DeletionTimestamp != nil:
		return replace
	case c.Replace && !finished && !c.Force:
		return refuseSubmit("job %q goes on (%s); --replace ends it only with --force", run.Name, v.Phase)
	case c.Replace:
		return replace
	case run.DeletionTimestamp != nil:
		return refuseSubmit("job %q is being deleted; submit again when it is gone (kubectl work wait %s --for=deleted), or give --replace, which waits for that", run.Name, run.Name)
	case same && !finished:
		nothing.Text = fmt.Sprintf("unchanged (%s)", v.Phase)
		return nothing
	case same && c.IfFinished == IfFinishedOK:
		nothing.Ended, nothing.Text = v.Outcome, fmt.Sprintf("unchanged (%s)", stateOf(run, at))
		return nothing
	case finished && c.IfFinished == IfFinishedNewRun:
		return create
	case finished && c.IfFinished == IfFinishedReplace:
		return replace
	case same:
		return refuseSubmit("run %d of %s %s; nothing was started. Start another one with --new-run, or say what to do with --if-finished=ok|new-run|replace",
			mapping.RunNumber(run), mapping.WorkName(run), stateOf(run, at))
	case !finished && v.Outcome == status.OutcomeNone && mapping.OnlyMutable(run, wanted):
		return SubmitDecision{Action: SubmitPatch, Found: run, Run: mapping.RunNumber(run)}
	}
	d := refuseSubmit("job %q exists with another spec (%s) and a Job's template cannot be changed; nothing was started. "+
		"Start another run with --new-run, put it in the place of this one with --replace, or take another name", run.Name, stateOf(run, at))
	d.Found = run
	return d
}

func refuseSubmit(format string, args ...any) SubmitDecision {
	return SubmitDecision{Action: SubmitRefuse, Text: fmt.Sprintf(format, args...)}
}

func judge(job *batchv1.Job, at time.Time) status.Verdict {
	return status.Of(status.Snapshot{Job: job, At: at, PodsHidden: true})
}

// stateOf is where a run stands, and since when: Succeeded 5m ago.
func stateOf(job *batchv1.Job, at time.Time) string {
	v := judge(job, at)
	if v.Since.IsZero() {
		return string(v.Phase)
	}
	return fmt.Sprintf("%s %s ago", v.Phase, duration.HumanDuration(max(at.Sub(v.Since), 0)))
}

func sameID(a, b *batchv1.Job) bool {
	id := a.Annotations[work.AnnotationSubmitID]
	return id != "" && id == b.Annotations[work.AnnotationSubmitID]
}

func sameSpec(a, b *batchv1.Job) bool {
	return a.Annotations[work.AnnotationSpecHash] == b.Annotations[work.AnnotationSpecHash]
}

// SubmitPatchOf changes what may be changed of a run that goes on: fields, labels and annotations, our record of the
// document and its hash, in one merge patch guarded by the resourceVersion.
func SubmitPatchOf(run, wanted *batchv1.Job) ([]byte, error) {
	was, newer, err := mapping.DecodeSpec(run)
	if err != nil {
		return nil, err
	}
	if newer {
		return nil, mapping.ErrNewer
	}
	now, _, err := mapping.DecodeSpec(wanted)
	if err != nil {
		return nil, err
	}
	annotations := replaced(was.Annotations, now.Annotations)
	for _, key := range []string{work.AnnotationSpec, work.AnnotationSpecHash} {
		annotations[key] = wanted.Annotations[key]
	}
	annotations[work.AnnotationUID] = string(run.UID)
	spec := mutableSpec(wanted, was, now)
	holds, err := work.ParseHolds(run.Annotations[work.AnnotationHolds])
	if err != nil {
		return nil, err
	}
	labels := replaced(was.Labels, now.Labels)
	if next, changed := holdsAfter(holds, wanted, was, now); changed {
		switch c := released(run, next); {
		case c.queue != "":
			labels[work.LabelKueueQueue] = c.queue
		default:
			spec["suspend"] = len(next) > 0
		}
		annotations[work.AnnotationHolds] = any(nil)
		if text := next.String(); text != "" {
			annotations[work.AnnotationHolds] = text
		}
	}
	return json.Marshal(map[string]any{
		"metadata": map[string]any{
			"uid": run.UID, "resourceVersion": run.ResourceVersion, "labels": labels, "annotations": annotations,
		},
		"spec": spec,
	})
}

// replaced sets the keys of now in a merge patch, and takes away those that only was has.
func replaced(was, now map[string]string) map[string]any {
	out := map[string]any{}
	for key := range was {
		out[key] = nil
	}
	for key, value := range now {
		out[key] = value
	}
	return out
}

// mutableSpec are the fields of the Job that a new document changes. A deadline that only a pause has shortened stays.
func mutableSpec(wanted *batchv1.Job, was, now *v1beta2.Work) map[string]any {
	spec := map[string]any{
		"parallelism": wanted.Spec.Parallelism, "backoffLimit": wanted.Spec.BackoffLimit, "ttlSecondsAfterFinished": wanted.Spec.TTLSecondsAfterFinished,
	}
	if !reflect.DeepEqual(was.Spec.ActiveDeadlineSeconds, now.Spec.ActiveDeadlineSeconds) {
		spec["activeDeadlineSeconds"] = wanted.Spec.ActiveDeadlineSeconds
	}
	if c := wanted.Spec.Completions; c != nil { // immutable but for Indexed Jobs, and then never unset
		spec["completions"] = c
	}
	return spec
}

// holdsAfter are the holds of a run after a new document: a pause comes and goes with spec.suspend, a new priority counts in
// line.
func holdsAfter(holds work.Holds, wanted *batchv1.Job, was, now *v1beta2.Work) (next work.Holds, changed bool) {
	fresh, _ := work.ParseHolds(wanted.Annotations[work.AnnotationHolds])
	next = holds
	asks := func(w *v1beta2.Work) bool { return w.Spec.Suspend != nil && *w.Spec.Suspend }
	switch paused, _ := fresh.Find(work.HoldPaused); {
	case asks(now) && !asks(was):
		next, changed = next.With(paused), true
	case !asks(now) && asks(was):
		next, changed = next.Without(work.HoldPaused), true
	}
	queued, is := next.Find(work.HoldQueued)
	if again, _ := fresh.Find(work.HoldQueued); is && queued.Priority != again.Priority {
		queued.Priority = again.Priority
		next, changed = next.With(queued), true
	}
	return next, changed
}
