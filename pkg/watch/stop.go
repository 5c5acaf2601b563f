package watch

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// DecideStop decides about ending a run: a deadline of 0 makes the Job controller record Failed without starting another
// Pod, and the same patch records why. A run that is over, or on its way there, needs nothing.
func DecideStop(job *batchv1.Job, v status.Verdict, r HoldRequest) HoldDecision {
	switch {
	case v.Phase.Finished():
		since := ""
		if !v.Since.IsZero() {
			since = " since " + v.Since.UTC().Format(time.RFC3339)
		}
		return HoldDecision{Done: fmt.Sprintf("unchanged (%s%s)", v.Phase, since)}
	case job.DeletionTimestamp != nil, v.Outcome != status.OutcomeNone:
		return HoldDecision{Done: fmt.Sprintf("unchanged (it is ending already: %s)", v.Phase)}
	case managedElsewhere(job) && !r.Force:
		return HoldDecision{Refusal: fmt.Sprintf("job/%s is managed by %s, which this cluster's Job controller leaves alone. --force writes the deadline anyway", job.Name, *job.Spec.ManagedBy)}
	}
	d := HoldDecision{Patch: stopPatch(job, r), Done: "stopped"}
	if job.Status.Active > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("job/%s: %s stopped after the grace time, and the output goes with it", job.Name, pods(job.Status.Active)))
	}
	return d
}

// stopPatch ends a Job and says who did it, in one patch.
func stopPatch(job *batchv1.Job, r HoldRequest) []byte {
	message := "it was stopped"
	if r.By != "" {
		message += " by " + r.By
	}
	if r.Reason != "" {
		message += fmt.Sprintf(": %q", r.Reason)
	}
	return ended(job, work.ReasonStopped, message, r.Now).patch(job)
}
