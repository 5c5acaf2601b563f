package watch

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Action is one thing that the loop does about a run.
type Action interface{ action() }

// The actions. Each is one guarded write, or a look with live reads that ends in guarded writes.
type (
	// DropHolds takes off holds that somebody else has overridden: spec.suspend is the truth.
	DropHolds struct{}
	// MoveOn looks with live reads at what a held run waits for, and takes off what has come.
	MoveOn struct{}
	// End ends a run that can never start.
	End struct{ Reason, Message string }
	// WriteStatus writes the status annotation.
	WriteStatus struct{ Status work.Status }
	// AddOwner adds the owner reference that the document asks for and that is missing.
	AddOwner struct{}
	// Remember lets the anchor of a run that has ended keep it.
	Remember struct{}
	// RemoveFinalizer takes our finalizer off a run whose end was seen.
	RemoveFinalizer struct{}
	// Delete deletes a run whose time to live is over.
	Delete struct{ Propagation metav1.DeletionPropagation }
)

func (DropHolds) action()       {}
func (MoveOn) action()          {}
func (End) action()             {}
func (WriteStatus) action()     {}
func (AddOwner) action()        {}
func (Remember) action()        {}
func (RemoveFinalizer) action() {}
func (Delete) action()          {}

// Around is what the loop knows about the other runs, from its own copies: it says whether a look is worth it, and is never
// acted on alone.
type Around struct {
	Worth  bool          // something that a held run waits for may have come
	Again  time.Duration // when to look again although nothing changed; 0 for never
	Circle string        // the runs that wait for each other, "" for none
	Young  bool          // the verdict has not lasted yet: it is not recorded
	Kept   bool          // its anchor is known to remember it, or never will
}

// DecideRun says what to do about a run, one action at a time: the next pass sees what became of it. recall is when to decide
// again although nothing changed; 0 for never.
func DecideRun(s status.Snapshot, v status.Verdict, around Around) (next Action, recall time.Duration) {
	job := s.Job
	if s.Deleted || Restored(job) || !mapping.Ours(job) && !Moves(job) {
		return nil, 0
	}
	holds, err := work.ParseHolds(job.Annotations[work.AnnotationHolds])
	switch {
	case err != nil: // nobody may guess what holds it
	case !isSuspended(job) && len(holds) > 0 && !v.Phase.Finished() && job.DeletionTimestamp == nil:
		return DropHolds{}, 0
	case Moves(job) && around.Circle != "":
		return End{Reason: work.ReasonDependencyFailed, Message: "it waits for itself: " + around.Circle}, 0
	case Moves(job) && around.Worth:
		return MoveOn{}, around.Again
	case Moves(job):
		recall = around.Again
	}
	if !mapping.Ours(job) {
		return nil, recall
	}
	return decideOurs(s, v, around, recall)
}

// decideOurs is what is done only for runs that we submitted.
func decideOurs(s status.Snapshot, v status.Verdict, around Around, recall time.Duration) (Action, time.Duration) {
	job := s.Job
	w, newer, err := mapping.DecodeSpec(job)
	known := err == nil && !newer
	before, err := work.ParseStatus(job.Annotations[work.AnnotationStatus])
	if err != nil {
		before = work.Status{}
	}
	if record := status.Record(before, s, v, mapping.RunNumber(job)); !around.Young && !record.Same(before) && job.DeletionTimestamp == nil {
		return WriteStatus{Status: record}, 0
	}
	if known && w.Spec.Owner != nil && metav1.GetControllerOf(job) == nil && job.DeletionTimestamp == nil && !v.Phase.Finished() {
		return AddOwner{}, 0
	}
	if known && w.Spec.Owner != nil && w.Spec.Owner.Anchor && v.Phase.Finished() && !around.Kept {
		return Remember{}, 0
	}
	if slices.Contains(job.Finalizers, work.FinalizerCleanup) && (v.Phase.Finished() || job.DeletionTimestamp != nil) {
		return RemoveFinalizer{}, 0
	}
	if known {
		if left, propagation, ours := timeToLive(w, v, s.At); ours && job.DeletionTimestamp == nil {
			if left <= 0 {
				return Delete{Propagation: propagation}, 0
			}
			recall = soonest(recall, left)
		}
	}
	return nil, soonest(recall, untilStuck(v, s.At))
}

// timeToLive is what is left of the time that a finished run is kept, where the deletion is ours to do: the cluster's own
// controller always deletes in the foreground.
func timeToLive(w *v1beta2.Work, v status.Verdict, at time.Time) (left time.Duration, propagation metav1.DeletionPropagation, ours bool) {
	p := w.Spec.CleanupPolicy
	if p == nil || p.TTLSecondsAfterFinished == nil || p.Propagation == "" || p.Propagation == string(metav1.DeletePropagationForeground) || !v.Phase.Finished() || v.Since.IsZero() {
		return 0, "", false
	}
	return time.Duration(*p.TTLSecondsAfterFinished)*time.Second - at.Sub(v.Since), metav1.DeletionPropagation(p.Propagation), true
}

// untilStuck is when the grace of the next finding is over.
func untilStuck(v status.Verdict, at time.Time) time.Duration {
	var next time.Duration
	for _, f := range v.Findings {
		grace, limited := status.DefaultGrace()[f.Class]
		if f.Class == status.ClassNone || !limited || f.Since.IsZero() {
			continue
		}
		if left := grace - at.Sub(f.Since); left > 0 {
			next = soonest(next, left)
		}
	}
	return next
}
