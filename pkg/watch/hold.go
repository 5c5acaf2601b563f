package watch

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// HoldRequest asks to pause or resume a run.
type HoldRequest struct {
	By     string // user name, best effort
	Reason string // the user's own words, of a pause
	Force  bool
	Now    time.Time
}

// HoldDecision is what to do about a HoldRequest.
type HoldDecision struct {
	Patch    []byte   // merge patch, guarded by resourceVersion; nil: there is nothing to do
	Refusal  string   // why not; "" when it may be done
	Warnings []string // what the caller should know
	Done     string   // paused, resumed, or why nothing was done
}

// DecidePause decides about a pause. The Pods of a paused Job are stopped by the Job controller: what they did since
// their last checkpoint is lost, and so the warnings say.
func DecidePause(job *batchv1.Job, v status.Verdict, r HoldRequest) HoldDecision {
	switch {
	case v.Phase.Finished():
		return refuseFinished(job, v)
	case job.DeletionTimestamp != nil, v.Outcome != status.OutcomeNone:
		return HoldDecision{Refusal: fmt.Sprintf("job/%s is ending already (%s)", job.Name, v.Phase)}
	case status.QueuedElsewhere(job) && !r.Force:
		return HoldDecision{Refusal: fmt.Sprintf("job/%s is started and stopped by a queueing controller; a pause of ours would be undone by it. --force does it anyway", job.Name)}
	case managedElsewhere(job) && !r.Force:
		return HoldDecision{Refusal: fmt.Sprintf("job/%s is managed by %s, which this cluster's Job controller leaves alone. --force writes spec.suspend anyway", job.Name, *job.Spec.ManagedBy)}
	case job.Spec.Completions == nil && job.Status.Succeeded > 0 && !r.Force:
		return HoldDecision{Refusal: fmt.Sprintf("job/%s is a work queue (no completions) and %d of its Pods succeeded: paused now it would turn Complete although work is left. --force does it anyway", job.Name, job.Status.Succeeded)}
	}
	holds, err := work.ParseHolds(job.Annotations[work.AnnotationHolds])
	if err != nil && !r.Force {
		return HoldDecision{Refusal: fmt.Sprintf("job/%s: %v. --force overwrites it", job.Name, err)}
	}
	if _, paused := holds.Find(work.HoldPaused); paused && isSuspended(job) {
		return HoldDecision{Done: "unchanged (already paused)"}
	}
	holds = holds.With(work.Hold{Type: work.HoldPaused, By: r.By, Reason: r.Reason, Since: metav1.NewTime(r.Now)})
	d := HoldDecision{Patch: holdPatch(job, holds, true), Done: "paused"}
	if job.Status.Active > 0 && !isSuspended(job) {
		d.Warnings = append(d.Warnings, fmt.Sprintf("job/%s: %s stopped now, and the output goes with it", job.Name, pods(job.Status.Active)))
	}
	if m := applyOwner(job); m != "" {
		d.Warnings = append(d.Warnings, fmt.Sprintf("job/%s: spec.suspend belongs to an apply by %s; the next apply undoes the pause", job.Name, m))
	}
	return d
}

// DecideResume decides about a resume. It never starts what a queueing controller decides about, unless forced.
func DecideResume(job *batchv1.Job, v status.Verdict, r HoldRequest) HoldDecision {
	switch {
	case v.Phase.Finished():
		return refuseFinished(job, v)
	case job.DeletionTimestamp != nil, v.Outcome != status.OutcomeNone:
		return HoldDecision{Refusal: fmt.Sprintf("job/%s is ending already (%s)", job.Name, v.Phase)}
	case status.QueuedElsewhere(job) && isSuspended(job) && !r.Force:
		by := "its Workload"
		if queue := job.Labels[work.LabelKueueQueue]; queue != "" {
			by = fmt.Sprintf("queue %s (label %s)", queue, work.LabelKueueQueue)
		}
		return HoldDecision{Refusal: fmt.Sprintf("%s decides when job/%s starts. --force starts it anyway; the queueing controller may stop it again", by, job.Name)}
	case managedElsewhere(job) && !r.Force:
		return HoldDecision{Refusal: fmt.Sprintf("job/%s is managed by %s, which this cluster's Job controller leaves alone. --force writes spec.suspend anyway", job.Name, *job.Spec.ManagedBy)}
	case !isSuspended(job) && job.Spec.Parallelism != nil && *job.Spec.Parallelism == 0:
		return HoldDecision{Refusal: fmt.Sprintf(`job/%s is not suspended: its parallelism is 0. Set it: kubectl patch job %s -p '{"spec":{"parallelism":1}}'`, job.Name, job.Name)}
	}
	holds, err := work.ParseHolds(job.Annotations[work.AnnotationHolds])
	if err != nil && !r.Force {
		return HoldDecision{Refusal: fmt.Sprintf("job/%s: %v. --force drops it", job.Name, err)}
	}
	if !isSuspended(job) && len(holds) == 0 && err == nil {
		return HoldDecision{Done: "unchanged (not paused)"}
	}
	if queue := withheldQueue(job); queue != "" {
		return HoldDecision{Patch: queuePatch(job, holds.Without(work.HoldPaused), queue), Done: fmt.Sprintf("handed to queue %s, which decides when it starts", queue)}
	}
	d := HoldDecision{Patch: holdPatch(job, holds.Without(work.HoldPaused), false), Done: "resumed"}
	if s := job.Spec.ActiveDeadlineSeconds; s != nil {
		d.Warnings = append(d.Warnings, fmt.Sprintf("job/%s: Kubernetes counts activeDeadlineSeconds (%d) anew from now", job.Name, *s))
	}
	return d
}

// withheldQueue is Kueue's queue of a run that was submitted on hold: until its holds are gone the queue must not see it.
func withheldQueue(job *batchv1.Job) string {
	w, _, err := mapping.DecodeSpec(job)
	if err != nil || w.Spec.SchedulingPolicy == nil || job.Labels[work.LabelKueueQueue] != "" || !isSuspended(job) {
		return ""
	}
	return w.Spec.SchedulingPolicy.QueueName
}

// queuePatch takes the last hold off and lets the queue see the run: it stays suspended, and from then on the release is the
// queue's.
func queuePatch(job *batchv1.Job, holds work.Holds, queue string) []byte {
	annotations := map[string]any{work.AnnotationHolds: nil, work.AnnotationUID: string(job.UID)}
	if len(holds) > 0 {
		annotations[work.AnnotationHolds] = holds.String()
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": job.UID, "resourceVersion": job.ResourceVersion, "annotations": annotations, "labels": map[string]any{work.LabelKueueQueue: queue},
	}})
	if err != nil { // strings always marshal
		return nil
	}
	return patch
}

func refuseFinished(job *batchv1.Job, v status.Verdict) HoldDecision {
	since := ""
	if !v.Since.IsZero() {
		since = " since " + v.Since.UTC().Format(time.RFC3339)
	}
	return HoldDecision{Refusal: fmt.Sprintf("job/%s is %s%s; nothing can be paused or resumed any more", job.Name, v.Phase, since)}
}

func isSuspended(job *batchv1.Job) bool { return job.Spec.Suspend != nil && *job.Spec.Suspend }

func managedElsewhere(job *batchv1.Job) bool {
	return job.Spec.ManagedBy != nil && *job.Spec.ManagedBy != batchv1.JobControllerName
}

// applyOwner is the manager whose server-side apply set spec.suspend, "" without one.
func applyOwner(job *batchv1.Job) string {
	for _, entry := range job.ManagedFields {
		if entry.Operation == metav1.ManagedFieldsOperationApply && entry.FieldsV1 != nil && strings.Contains(entry.FieldsV1.GetRawString(), `"f:suspend":{}`) {
			return entry.Manager
		}
	}
	return ""
}

// holdPatch changes spec.suspend and our annotations in one merge patch. The resourceVersion guards it: whoever changed
// the Job meanwhile makes it a conflict. No holds removes the annotation. Our own uid goes along, so that a restored
// copy can be told from the original.
func holdPatch(job *batchv1.Job, holds work.Holds, suspend bool) []byte {
	annotations := map[string]any{work.AnnotationHolds: nil, work.AnnotationUID: string(job.UID)}
	if len(holds) > 0 {
		annotations[work.AnnotationHolds] = holds.String()
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": job.UID, "resourceVersion": job.ResourceVersion, "annotations": annotations},
		"spec":     map[string]any{"suspend": suspend},
	})
	if err != nil { // strings and booleans always marshal
		return nil
	}
	return patch
}

// pods counts Pods in a sentence: "1 Pod is", "3 Pods are".
func pods(n int32) string {
	if n == 1 {
		return "1 Pod is"
	}
	return fmt.Sprintf("%d Pods are", n)
}
