package status

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// findTryFailed: earlier Pods failed and the run goes on. A failed first try is not a failed Job.
func findTryFailed(v view, p Phase) []Finding {
	if p != PhaseRunning && p != PhaseInitializing || v.Job.Status.Failed == 0 {
		return nil
	}
	f := failureOf(v)
	message := fmt.Sprintf("%d failed", v.Job.Status.Failed)
	if f.Limit != nil {
		message = fmt.Sprintf("%d of %d tries failed", v.Job.Status.Failed, *f.Limit)
	}
	if text := f.cause(v); text != "" {
		message += ", the last: " + text
	}
	finding := Finding{
		Severity: SeverityWarning, Reason: "TryFailed", Message: message, Next: nextTry(v),
		Evidence: []Evidence{{Object: "job/" + v.Job.Name, Path: ".status.failed", Value: fmt.Sprint(v.Job.Status.Failed)}},
	}
	if c, ok := newestFailed(v); ok {
		finding.Details, finding.Since = hints(v, c, c.ended()), c.ended().FinishedAt.Time
	}
	return []Finding{finding}
}

// The Job controller's pauses between tries (pkg/controller/job/job_controller.go, DefaultJobPodFailureBackOff and
// MaxJobPodFailureBackOff).
const (
	firstBackOff = 10 * time.Second
	mostBackOff  = 10 * time.Minute
)

// nextTry says when the Job controller makes the next Pod.
func nextTry(v view) string {
	if v.Job.Status.Active > 0 {
		return "another Pod is at it"
	}
	if t := v.Job.Status.Terminating; t != nil && *t > 0 && v.Job.Spec.PodReplacementPolicy != nil && *v.Job.Spec.PodReplacementPolicy == batchv1.Failed {
		return "the next Pod is made when the old one has ended (podReplacementPolicy Failed)"
	}
	failures, last := failuresInARow(v)
	if failures == 0 {
		return "the Job controller makes another Pod"
	}
	pause := mostBackOff
	if failures < 7 {
		pause = min(firstBackOff<<(failures-1), mostBackOff)
	}
	return fmt.Sprintf("the Job controller makes the next Pod in %s (pauses double from 10 s to 10 min)", about(last.Add(pause).Sub(v.At)))
}

// failuresInARow counts the Pods that failed after the last one that succeeded, and says when the last of them ended.
func failuresInARow(v view) (n int, last time.Time) {
	var succeeded time.Time
	ends := map[*corev1.Pod]time.Time{}
	for _, pod := range v.pods {
		for _, c := range containersOf(pod) {
			if t := c.status.State.Terminated; t != nil && t.FinishedAt.After(ends[pod]) {
				ends[pod] = t.FinishedAt.Time
			}
		}
		if pod.Status.Phase == corev1.PodSucceeded && ends[pod].After(succeeded) {
			succeeded = ends[pod]
		}
	}
	for pod, end := range ends {
		if pod.Status.Phase != corev1.PodFailed || end.Before(succeeded) {
			continue
		}
		n++
		if end.After(last) {
			last = end
		}
	}
	return n, last
}
