package status

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// rule finds one kind of cause. A rule sees the phase, because most causes only make sense in some.
type rule struct {
	id   string
	find func(v view, p Phase) []Finding
}

// rules in the order in which they give the verdict. What the Job controller recorded comes first: it is the truth
// about the run. Then what keeps the Job from having Pods at all, because no Pod can tell it. Then what keeps a Pod from
// starting, nearest to the start last: an image that is missing is found only after a node was. Then what goes wrong
// in Pods that run. Remarks close.
func rules() []rule {
	return []rule{
		{"job-failed", findFailed},
		{"job-succeeded", findSucceeded},
		{"deleting", findDeleting},
		{"held", findHeld},
		{"managed-elsewhere", findManagedElsewhere},
		{"pods-refused", findPodsRefused},
		{"no-pods", findNoPods},
		{"unschedulable", findUnschedulable},
		{"image", findImage},
		{"config-missing", findConfigMissing},
		{"container-failing", findContainerFailing},
		{"try-failed", findTryFailed},
		{"helper-left", findHelperLeft},
		{"pods-hidden", findPodsHidden},
	}
}

// RuleIDs lists the ids of all rules in their order.
func RuleIDs() []string {
	var ids []string
	for _, r := range rules() {
		ids = append(ids, r.id)
	}
	return ids
}

// Of judges a Snapshot. It is a pure function: the same Snapshot gives the same Verdict.
func Of(s Snapshot) Verdict {
	v := newView(s)
	phase, outcome := phaseOf(v)
	verdict := Verdict{Phase: phase, Outcome: outcome, Partial: s.PodsHidden, Progress: progressOf(v)}
	verdict.Scheduled = slices.ContainsFunc(v.live(), func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
	verdict.Since = since(v, phase)
	for _, r := range rules() {
		for _, f := range r.find(v, phase) {
			f.ID = r.id
			verdict.Findings = append(verdict.Findings, f)
		}
	}
	if outcome == OutcomeFailed {
		verdict.Failure = failureOf(v)
	}
	if len(verdict.Findings) > 0 {
		verdict.Reason, verdict.Message = verdict.Findings[0].Reason, verdict.Findings[0].Message
	}
	return verdict
}

func progressOf(v view) Progress {
	st := v.Job.Status
	p := Progress{Wanted: v.Job.Spec.Completions, Active: st.Active, Succeeded: st.Succeeded, Failed: st.Failed}
	if st.Ready != nil {
		p.Ready = *st.Ready
	}
	if v.Job.Spec.Completions == nil && (v.Job.Spec.Parallelism == nil || *v.Job.Spec.Parallelism == 1) {
		one := int32(1)
		p.Wanted = &one
	}
	return p
}

// since is when the phase began, as far as the objects tell: zero when they do not.
func since(v view, p Phase) time.Time {
	at := func(t batchv1.JobConditionType) time.Time {
		if c := v.condition(t); c != nil {
			return c.LastTransitionTime.Time
		}
		return time.Time{}
	}
	switch p {
	case PhaseSucceeded:
		return at(batchv1.JobComplete)
	case PhaseFailed:
		return at(batchv1.JobFailed)
	case PhaseTerminating:
		for _, t := range []time.Time{at(batchv1.JobFailureTarget), at(batchv1.JobSuccessCriteriaMet)} {
			if !t.IsZero() {
				return t
			}
		}
		if v.Job.DeletionTimestamp != nil {
			return v.Job.DeletionTimestamp.Time
		}
	case PhasePaused, PhaseQueued, PhaseWaiting:
		if t := at(batchv1.JobSuspended); !t.IsZero() {
			return t
		}
		return v.Job.CreationTimestamp.Time
	case PhasePending, PhaseInitializing, PhaseRunning:
		if v.Job.Status.StartTime != nil {
			return v.Job.Status.StartTime.Time
		}
		return v.Job.CreationTimestamp.Time
	}
	return time.Time{}
}
