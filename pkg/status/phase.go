package status

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// phaseOf is the first line that matches. The order is argued:
// the recorded end beats all, because nothing can follow it; deletion beats a decision, because the Job may vanish
// before the decision is recorded; a decision beats suspension, because a suspended Job can still be ending; what holds
// a run beats its Pods, because those are on their way out; Pods that run beat Pods that start. Pods that have ended
// never change the phase: only what the Job controller counted does.
func phaseOf(v view) (Phase, Outcome) {
	switch {
	case v.condition(batchv1.JobComplete) != nil:
		return PhaseSucceeded, OutcomeSucceeded
	case v.condition(batchv1.JobFailed) != nil:
		return PhaseFailed, OutcomeFailed
	}
	outcome := decided(v)
	switch {
	case v.Job.DeletionTimestamp != nil, outcome != OutcomeNone:
		return PhaseTerminating, outcome
	case suspended(v.Job):
		return heldPhase(v.Job), OutcomeNone
	case v.Job.Spec.Parallelism != nil && *v.Job.Spec.Parallelism == 0:
		return PhasePaused, OutcomeNone
	case runs(v), v.Job.Status.Succeeded > 0, v.Job.Status.Failed > 0:
		return PhaseRunning, OutcomeNone
	case v.Job.Status.Active > 0, len(v.live()) > 0:
		return PhaseInitializing, OutcomeNone
	}
	return PhasePending, OutcomeNone
}

// decided reads the conditions that announce the end while Pods are still ending
// (Kubernetes 1.31 and later: FailureTarget, SuccessCriteriaMet).
func decided(v view) Outcome {
	switch {
	case v.condition(batchv1.JobFailureTarget) != nil:
		return OutcomeFailed
	case v.condition(batchv1.JobSuccessCriteriaMet) != nil:
		return OutcomeSucceeded
	}
	return OutcomeNone
}

func suspended(job *batchv1.Job) bool { return job.Spec.Suspend != nil && *job.Spec.Suspend }

// heldPhase is the phase of a suspended Job. Unreadable holds count as none: the Job is paused by somebody.
func heldPhase(job *batchv1.Job) Phase {
	holds, err := work.ParseHolds(job.Annotations[work.AnnotationHolds])
	if err == nil {
		if _, paused := holds.Find(work.HoldPaused); paused {
			return PhasePaused
		}
		if _, waiting := holds.Find(work.HoldWaiting); waiting {
			return PhaseWaiting
		}
		if _, queued := holds.Find(work.HoldQueued); queued {
			return PhaseQueued
		}
	}
	if QueuedElsewhere(job) {
		return PhaseQueued
	}
	return PhasePaused
}

// QueuedElsewhere tells whether a queueing controller decides when the Job starts: Kueue by its label, or any owner of
// kind Workload.
func QueuedElsewhere(job *batchv1.Job) bool {
	if job.Labels[work.LabelKueueQueue] != "" {
		return true
	}
	owner := metav1.GetControllerOf(job)
	return owner != nil && owner.Kind == "Workload"
}

// runs tells whether a Pod runs or is ready. Without Pods in sight the Job's own count of ready ones has to do.
func runs(v view) bool {
	if v.PodsHidden {
		return v.Job.Status.Ready != nil && *v.Job.Status.Ready > 0
	}
	for _, pod := range v.pods {
		if pod.Status.Phase == corev1.PodRunning {
			return true
		}
	}
	return false
}
