package status

import (
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// findHeld says who or what keeps the run from going on.
func findHeld(v view, p Phase) []Finding {
	if p != PhasePaused && p != PhaseQueued && p != PhaseWaiting {
		return nil
	}
	resume := Advice{Command: "kubectl work resume " + v.Job.Name, Risk: RiskChanges, Why: "starts its Pods"}
	f := Finding{Severity: SeverityWarning, Since: since(v, p)}
	if !suspended(v.Job) {
		f.Reason, f.Message = "ZeroParallelism", "spec.parallelism is 0, so no Pod is started; suspend is not what holds it"
		f.Evidence = []Evidence{{Object: "job/" + v.Job.Name, Path: ".spec.parallelism", Value: "0"}}
		f.Advice = []Advice{{Command: fmt.Sprintf(`kubectl patch job %s -p '{"spec":{"parallelism":1}}'`, v.Job.Name), Risk: RiskChanges, Why: "starts its Pods"}}
		return []Finding{f}
	}
	f.Evidence = []Evidence{{Object: "job/" + v.Job.Name, Path: ".spec.suspend", Value: "true"}}
	holds, err := work.ParseHolds(v.Job.Annotations[work.AnnotationHolds])
	hold, paused := holds.Find(work.HoldPaused)
	if err == nil && !paused && len(holds) > 0 {
		return waitingFor(v, holds, f)
	}
	switch {
	case err != nil:
		f.Reason, f.Message = "HoldsUnreadable", err.Error()
		f.Advice = []Advice{{Command: resume.Command + " --force", Risk: RiskChanges, Why: resume.Why}}
	case paused:
		f.Reason, f.Message = "Paused", "paused"+by(hold.By)+reason(hold.Reason)
		f.Since, f.Next = hold.Since.Time, untilText(hold.Until)
		f.Advice = []Advice{resume}
	case p == PhaseQueued:
		f.Reason, f.Message = "QueuedElsewhere", "a queueing controller decides when it starts"
		if queue := v.Job.Labels[work.LabelKueueQueue]; queue != "" {
			f.Message = fmt.Sprintf("queue %s decides when it starts (label %s)", queue, work.LabelKueueQueue)
		}
		queued(v, &f)
	default:
		f.Reason, f.Message = "Suspended", "spec.suspend is true"+setBy(SuspendManager(v.Job))
		f.Advice = []Advice{resume}
	}
	if v.condition(batchv1.JobSuspended) == nil && f.Next == "" {
		f.Next = "the Job controller has not confirmed it yet"
	}
	return []Finding{f}
}

// queued adds what Kueue says about the run's Workload.
func queued(v view, f *Finding) {
	q := v.Queue
	if q == nil {
		return
	}
	switch {
	case q.Admitted:
		f.Reason = "QueueAdmitted"
		f.Message += fmt.Sprintf("; Workload %s is admitted, and suspend is about to go", q.Workload)
	case q.Message != "":
		f.Message += fmt.Sprintf("; Workload %s waits: %s", q.Workload, q.Message)
	default:
		f.Message += fmt.Sprintf("; Workload %s waits", q.Workload)
	}
	if q.Position != nil && !q.Admitted {
		f.Message += fmt.Sprintf("; place %d in the queue", *q.Position+1)
	}
	f.Evidence = append(f.Evidence, Evidence{Object: "workload/" + q.Workload, Path: ".status.conditions", Value: join(q.Reason, q.Message)})
}

// findRestored: the Job carries the uid of an earlier life, so its annotations may tell of another run
// (velero-io/velero#8800).
func findRestored(v view, _ Phase) []Finding {
	uid := v.Job.Annotations[work.AnnotationUID]
	if uid == "" || uid == string(v.Job.UID) {
		return nil
	}
	return []Finding{{
		Severity: SeverityWarning, Reason: "RestoredCopy",
		Message:  fmt.Sprintf("it is a restored copy of an earlier run (uid %s): its annotations tell of that one, its state is read from the cluster only", uid),
		Evidence: []Evidence{{Object: "job/" + v.Job.Name, Path: fmt.Sprintf(".metadata.annotations[%q]", work.AnnotationUID), Value: uid}},
	}}
}

func by(who string) string {
	if who == "" {
		return ""
	}
	return " by " + who
}

func setBy(manager string) string {
	if manager == "" {
		return ""
	}
	return ", set by " + manager
}

func reason(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(": %q", text)
}

// SuspendManager is the field manager that owns spec.suspend, "" when managedFields do not tell.
func SuspendManager(job *batchv1.Job) string {
	for _, entry := range job.ManagedFields {
		if entry.FieldsV1 != nil && entry.Subresource == "" && strings.Contains(entry.FieldsV1.GetRawString(), `"f:suspend":{}`) {
			return entry.Manager
		}
	}
	return ""
}

// findManagedElsewhere: the built-in controller ignores such a Job, so nothing that misses here means anything.
func findManagedElsewhere(v view, p Phase) []Finding {
	m := v.Job.Spec.ManagedBy
	if m == nil || *m == batchv1.JobControllerName || p.Finished() {
		return nil
	}
	return []Finding{{
		Severity: SeverityInfo, Reason: "ManagedElsewhere", Since: v.Job.CreationTimestamp.Time,
		Message:  fmt.Sprintf("managed by %s; this cluster's Job controller ignores it", *m),
		Evidence: []Evidence{{Object: "job/" + v.Job.Name, Path: ".spec.managedBy", Value: *m}},
	}}
}

func managedElsewhere(v view) bool {
	return v.Job.Spec.ManagedBy != nil && *v.Job.Spec.ManagedBy != batchv1.JobControllerName
}
