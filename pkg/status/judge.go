package status

import (
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Of judges a Snapshot. It is a pure function: the same Snapshot gives the same Verdict.
func Of(s Snapshot) Verdict {
	v := newView(s)
	phase, outcome := phaseOf(v)
	verdict := Verdict{Phase: phase, Outcome: outcome, Partial: s.PodsHidden, Progress: progressOf(v)}
	verdict.Scheduled = slices.ContainsFunc(v.live(), func(p *corev1.Pod) bool { return p.Spec.NodeName != "" })
	verdict.Since = since(v, phase)
	if phase == PhaseQueued {
		verdict.Place = placeOf(v)
	}
	if !suspended(s.Job) && v.condition(batchv1.JobSuspended) == nil { // released, and the Job controller has seen it
		verdict.Released = s.Job.CreationTimestamp.Time
		if at := releasedAt(s.Job); !at.IsZero() {
			verdict.Released = at
		}
	}
	for _, r := range rules() {
		for _, f := range r.find(v, phase) {
			f.ID = r.ID
			if r.proofOf(f.Reason) == Unseen {
				f.Confidence = ConfidenceLow
			}
			verdict.Findings = append(verdict.Findings, f)
		}
	}
	inNamespace(s.Job.Namespace, verdict.Findings)
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
	if st.Terminating != nil {
		p.Terminating = *st.Terminating
	}
	p.Indexes = indexesOf(v)
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

// inNamespace makes the commands of advice fit to be pasted anywhere: each names the namespace, but for those about nodes.
func inNamespace(namespace string, findings []Finding) {
	if namespace == "" {
		return
	}
	for i := range findings {
		for j := range findings[i].Advice {
			parts := strings.Split(findings[i].Advice[j].Command, " | ")
			for k, part := range parts {
				if !strings.Contains(part, " node") {
					parts[k] = strings.TrimSuffix(part, " -f -") + " -n " + namespace
					if strings.HasSuffix(part, " -f -") {
						parts[k] += " -f -"
					}
				}
			}
			findings[i].Advice[j].Command = strings.Join(parts, " | ")
		}
	}
}
