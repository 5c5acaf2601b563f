package watch

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// HoldRequest asks to pause, resume or stop a run.
type HoldRequest struct {
	By     string // user name, best effort
	Reason string // the user's own words, of a pause or a stop
	Force  bool
	Now    time.Time

	Until *work.Until // of a pause: what ends it by itself

	Beside  bool    // of a resume: do not wait for Pods that are still ending
	Changes Changes // of a resume
}

// HoldDecision is what to do about a HoldRequest.
type HoldDecision struct {
	Patch    []byte   // merge patch, guarded by resourceVersion; nil: there is nothing to do
	Refusal  string   // why not; "" when it may be done
	Wait     string   // what has to happen first; it will by itself
	Warnings []string // what the caller should know
	Done     string   // paused, resumed, or why nothing was done
}

// DecidePause decides about a pause. The Pods of a paused Job are stopped by the Job controller: what they did since
// their last checkpoint is lost, and so the warnings say.
func DecidePause(job *batchv1.Job, v status.Verdict, r HoldRequest) HoldDecision {
	policy := pausePolicy(job)
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
	case policy.Allowed != nil && !*policy.Allowed && !r.Force:
		return HoldDecision{Refusal: fmt.Sprintf("job/%s may not be paused: its spec.pausePolicy.allowed is false. --force does it anyway", job.Name)}
	case policy.RequireReason && r.Reason == "":
		return HoldDecision{Refusal: fmt.Sprintf("job/%s wants to know why (spec.pausePolicy.requireReason): give --reason", job.Name)}
	}
	holds, err := work.ParseHolds(job.Annotations[work.AnnotationHolds])
	if err != nil && !r.Force {
		return HoldDecision{Refusal: fmt.Sprintf("job/%s: %v. --force overwrites it", job.Name, err)}
	}
	hold := work.Hold{Type: work.HoldPaused, By: r.By, Reason: r.Reason, Since: metav1.NewTime(r.Now), Until: r.Until}
	if before, paused := holds.Find(work.HoldPaused); paused && isSuspended(job) {
		if r.Until == nil {
			return HoldDecision{Done: "unchanged (already paused)"}
		}
		hold.Used, hold.Since = before.Used, before.Since
		if r.Reason == "" {
			hold.Reason = before.Reason
		}
	}
	if left, limited := budgetLeft(job, r.Now); limited && policy.Freeze != v1beta2.FreezeNone {
		if left < 1 && !r.Force {
			return HoldDecision{Refusal: fmt.Sprintf("job/%s has used up its activeDeadlineSeconds (%d): the Job controller is about to end it", job.Name, *job.Spec.ActiveDeadlineSeconds)}
		}
		hold.Used = *job.Spec.ActiveDeadlineSeconds - max(left, 1)
	}
	holds = holds.With(hold)
	return HoldDecision{Patch: change{holds: &holds, suspend: new(true)}.patch(job), Done: "paused", Warnings: pauseWarnings(job)}
}

// pauseWarnings say what a pause costs, and what may undo it.
func pauseWarnings(job *batchv1.Job) []string {
	var all []string
	say := func(format string, args ...any) { all = append(all, "job/"+job.Name+": "+fmt.Sprintf(format, args...)) }
	if job.Status.Active > 0 && !isSuspended(job) {
		say("%s stopped now, and the output goes with it", pods(job.Status.Active))
	}
	if job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		say("with restartPolicy OnFailure the restarts are counted from 0 again after the pause")
	}
	if job.Spec.BackoffLimitPerIndex != nil {
		say("the failures of each index are counted from 0 again after the pause")
	}
	if m := applyOwner(job); m != "" {
		say("spec.suspend belongs to an apply by %s; the next apply undoes the pause", m)
	}
	return all
}

// pausePolicy is what the document of a run says about pauses; a Job without one, or with an unreadable one, says nothing.
func pausePolicy(job *batchv1.Job) v1beta2.PausePolicy {
	w, _, err := mapping.DecodeSpec(job)
	if err != nil || w.Spec.PausePolicy == nil || !mapping.Ours(job) {
		return v1beta2.PausePolicy{}
	}
	return *w.Spec.PausePolicy
}

// budgetLeft is what is left of activeDeadlineSeconds, in seconds; false when the clock does not run.
func budgetLeft(job *batchv1.Job, now time.Time) (seconds int64, limited bool) {
	if job.Spec.ActiveDeadlineSeconds == nil || job.Status.StartTime == nil || isSuspended(job) {
		return 0, false
	}
	return *job.Spec.ActiveDeadlineSeconds - int64(max(now.Sub(job.Status.StartTime.Time), 0)/time.Second), true
}

// DecideResume decides about a resume. It never starts what a queueing controller decides about, nor what waits for other
// runs, unless forced.
func DecideResume(job *batchv1.Job, v status.Verdict, r HoldRequest) HoldDecision {
	if refusal := refuseResume(job, v, r); refusal != nil {
		return *refusal
	}
	holds, err := work.ParseHolds(job.Annotations[work.AnnotationHolds])
	if err != nil && !r.Force {
		return HoldDecision{Refusal: fmt.Sprintf("job/%s: %v. --force drops it", job.Name, err)}
	}
	if !isSuspended(job) && len(holds) == 0 && err == nil && r.Changes.Parallelism == nil {
		return HoldDecision{Done: "unchanged (not paused)"}
	}
	paused, isPaused := holds.Find(work.HoldPaused)
	left := holds.Without(work.HoldPaused)
	if r.Force {
		left = nil
	}
	switch {
	case len(left) > 0 && !isPaused && isSuspended(job):
		return HoldDecision{Done: fmt.Sprintf("unchanged (%s; --force starts it anyway)", keeps(left))}
	case len(left) == 0 && !r.Beside && job.Labels[work.LabelGroup] != "" && ending64(job.Status.Terminating) > 0:
		return HoldDecision{Wait: fmt.Sprintf("%s of job/%s to end, so that none runs beside the next (--now does not wait)", podCount(*job.Status.Terminating), job.Name)}
	}
	c := released(job, left)
	c.spec, err = r.Changes.of(job)
	if err != nil {
		return HoldDecision{Refusal: fmt.Sprintf("job/%s: %v", job.Name, err)}
	}
	if !isSuspended(job) { // only our record is behind
		c.suspend = new(false)
	}
	d := HoldDecision{Done: "resumed"}
	switch {
	case c.queue != "":
		d.Done = remains(c)
	case len(left) > 0:
		d.Done = "resumed (" + keeps(left) + ")"
	}
	if limit := job.Spec.ActiveDeadlineSeconds; limit != nil {
		if paused.Used > 0 {
			rest := max(*limit-paused.Used, 1)
			c.deadline = &rest
			c.status = budgetOf(job, *limit)
			d.Warnings = append(d.Warnings, fmt.Sprintf("job/%s: %d s of the %d s of activeDeadlineSeconds are left (Kubernetes starts its clock anew, so the limit is set to what is left)", job.Name, rest, *limit))
		} else if job.Status.StartTime != nil || pausedLate(v) {
			d.Warnings = append(d.Warnings, fmt.Sprintf("job/%s: Kubernetes counts activeDeadlineSeconds (%d) anew from now", job.Name, *limit))
		}
	}
	d.Patch = c.patch(job)
	return d
}

// pausedLate tells whether the run had begun before it was suspended, as far as its counts tell.
func pausedLate(v status.Verdict) bool { return v.Progress.Failed > 0 || v.Progress.Succeeded > 0 }

// budgetOf records the deadline that a run had before pauses shortened it.
func budgetOf(job *batchv1.Job, limit int64) *work.Status {
	recorded, err := work.ParseStatus(job.Annotations[work.AnnotationStatus])
	if err != nil {
		recorded = work.Status{}
	}
	if recorded.ResumedBudget == 0 {
		recorded.ResumedBudget = limit
	}
	return &recorded
}

// refuseResume says why a run may not be resumed, nil when it may.
func refuseResume(job *batchv1.Job, v status.Verdict, r HoldRequest) *HoldDecision {
	switch {
	case v.Phase.Finished():
		d := refuseFinished(job, v)
		return &d
	case job.DeletionTimestamp != nil, v.Outcome != status.OutcomeNone:
		return &HoldDecision{Refusal: fmt.Sprintf("job/%s is ending already (%s)", job.Name, v.Phase)}
	case status.QueuedElsewhere(job) && isSuspended(job) && !r.Force:
		by := "its Workload"
		if queue := job.Labels[work.LabelKueueQueue]; queue != "" {
			by = fmt.Sprintf("queue %s (label %s)", queue, work.LabelKueueQueue)
		}
		return &HoldDecision{Refusal: fmt.Sprintf("%s decides when job/%s starts. --force starts it anyway; the queueing controller may stop it again", by, job.Name)}
	case managedElsewhere(job) && !r.Force:
		return &HoldDecision{Refusal: fmt.Sprintf("job/%s is managed by %s, which this cluster's Job controller leaves alone. --force writes spec.suspend anyway", job.Name, *job.Spec.ManagedBy)}
	case !isSuspended(job) && job.Spec.Parallelism != nil && *job.Spec.Parallelism == 0 && r.Changes.Parallelism == nil:
		return &HoldDecision{Refusal: fmt.Sprintf("job/%s is not suspended: its parallelism is 0. Set it with --parallelism N", job.Name)}
	}
	return nil
}

// keeps says what still holds a run.
func keeps(left work.Holds) string {
	var all []string
	for _, h := range left {
		switch {
		case h.Type == work.HoldWaiting && h.On != nil:
			all = append(all, "it waits for Work "+h.On.Work)
		case h.Type == work.HoldQueued:
			all = append(all, "it waits in line in group "+h.Group)
		}
	}
	return strings.Join(all, " and ")
}

// withheldQueue is Kueue's queue of a run that was submitted on hold: until its holds are gone the queue must not see it.
func withheldQueue(job *batchv1.Job) string {
	w, _, err := mapping.DecodeSpec(job)
	if err != nil || w.Spec.SchedulingPolicy == nil || job.Labels[work.LabelKueueQueue] != "" || !isSuspended(job) {
		return ""
	}
	return w.Spec.SchedulingPolicy.QueueName
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

func ending64(n *int32) int32 {
	if n == nil {
		return 0
	}
	return *n
}

// pods counts Pods in a sentence: "1 Pod is", "3 Pods are".
func pods(n int32) string {
	if n == 1 {
		return "1 Pod is"
	}
	return fmt.Sprintf("%d Pods are", n)
}

func podCount(n int32) string {
	if n == 1 {
		return "1 Pod"
	}
	return fmt.Sprintf("%d Pods", n)
}
