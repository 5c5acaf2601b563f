package status

import (
	"slices"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// Record is what the status annotation should say of a run, given what it says. Every verdict is judged anew: the annotation
// is for readers that cannot, and for the reason of an end that we brought about. run is the number of the run.
func Record(before work.Status, s Snapshot, v Verdict, run int) work.Status {
	next := before
	next.Phase, next.Outcome, next.Run = string(v.Phase), string(v.Outcome), run
	next.ObservedGeneration, next.SpecHash = s.Job.Generation, s.Job.Annotations[work.AnnotationSpecHash]
	next = next.With(work.ConditionApplied, true, "Submitted", "", s.At)
	held := slices.Contains([]Phase{PhasePaused, PhaseQueued, PhaseWaiting}, v.Phase)
	reason, message := or(v.Reason, string(v.Phase)), v.Message
	next = next.With(work.ConditionHeld, held, whyOr(held, reason, "Released"), whyOr(held, message, ""), s.At)
	going := slices.Contains([]Phase{PhasePending, PhaseInitializing, PhaseRunning}, v.Phase)
	next = next.With(work.ConditionProgressing, going, string(v.Phase), "", s.At)
	wrong := trouble(s, v)
	for _, kind := range []string{work.ConditionReady, work.ConditionInvalidSpec, work.ConditionStuck} {
		f := wrong[kind]
		if f == nil {
			next = next.Without(kind)
			continue
		}
		next = next.With(kind, kind != work.ConditionReady, f.Reason, f.Message, s.At)
	}
	switch {
	case v.Phase == PhaseSucceeded:
		next = next.With(work.ConditionComplete, true, reason, "", s.At)
	case v.Phase == PhaseFailed && before.Ended() == nil:
		next = next.With(work.ConditionFailed, true, reason, message, s.At)
	}
	return next
}

// trouble is the first finding behind each condition that is there only while something is wrong.
func trouble(s Snapshot, v Verdict) map[string]*Finding {
	all := map[string]*Finding{}
	for i := range v.Findings {
		kind, f := "", &v.Findings[i]
		switch {
		case f.ID == "node-lost":
			kind = work.ConditionReady
		case f.Reason == "HoldsUnreadable":
			kind = work.ConditionInvalidSpec
		case stuck(*f, s):
			kind = work.ConditionStuck
		}
		if kind != "" && all[kind] == nil {
			all[kind] = f
		}
	}
	return all
}

// stuck tells whether a finding has lasted longer than the grace of its class.
func stuck(f Finding, s Snapshot) bool {
	grace, limited := DefaultGrace()[f.Class]
	return f.Class != ClassNone && limited && !f.Since.IsZero() && s.At.Sub(f.Since) >= grace
}

func whyOr(is bool, yes, no string) string {
	if is {
		return yes
	}
	return no
}
