package status

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// findContainerFailing: containers of a living Pod end badly and are started again (restartPolicy OnFailure). Under Never
// the Pod itself is about to fail, and the Job controller says the rest. The container is ended and waiting in turns,
// which is one cause, so it has one reason.
func findContainerFailing(v view, p Phase) []Finding {
	if !starting(p) {
		return nil
	}
	for _, pod := range v.live() {
		if pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
			continue
		}
		for _, c := range containersOf(pod) {
			end := c.ended()
			if end == nil || end.ExitCode == 0 || c.status.State.Running != nil && c.status.RestartCount == 0 {
				continue
			}
			f := Finding{
				Severity: SeverityWarning, Reason: "CrashLoopBackOff", Since: end.FinishedAt.Time,
				Message:  fmt.Sprintf("pod %s, %s %s %s", pod.Name, c.kind(), c.spec.Name, describeEnd(c, end)),
				Evidence: []Evidence{c.evidence(".lastState.terminated", fmt.Sprintf("%s: exit code %d", end.Reason, end.ExitCode))},
				Advice:   []Advice{{Command: "kubectl work logs " + v.Job.Name, Risk: RiskInspect, Why: "its output"}},
			}
			if limit := v.Job.Spec.BackoffLimit; limit != nil {
				f.Message += fmt.Sprintf(", restart %d of limit %d", c.status.RestartCount, *limit)
			} else {
				f.Message += fmt.Sprintf(", restart %d", c.status.RestartCount)
			}
			if w := c.status.State.Waiting; w != nil && w.Reason == "CrashLoopBackOff" {
				f.Next = "the kubelet starts it again: " + firstSentence(w.Message)
			}
			if tail, ok := v.logOf(pod.Name, c.spec.Name); ok && lastLine(tail.Lines) != "" {
				f.Message += ", last output: " + quoted(lastLine(tail.Lines))
			}
			return []Finding{f}
		}
	}
	return nil
}

func firstSentence(text string) string {
	if before, _, found := strings.Cut(text, " restarting"); found { // back-off 40s restarting failed container=…
		return before
	}
	return text
}

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
	next := "the Job controller starts another Pod"
	if v.Job.Status.Active > 0 {
		next = "another Pod is at it"
	}
	return []Finding{{
		Severity: SeverityWarning, Reason: "TryFailed", Message: message, Next: next,
		Evidence: []Evidence{{Object: "job/" + v.Job.Name, Path: ".status.failed", Value: fmt.Sprint(v.Job.Status.Failed)}},
	}}
}

// findHelperLeft: the work is done, a helper container keeps the Pod alive (istio/istio#6324). The first container of a
// Pod is taken for the main one.
func findHelperLeft(v view, p Phase) []Finding {
	if p != PhaseRunning {
		return nil
	}
	for _, pod := range v.live() {
		if pod.DeletionTimestamp != nil || len(pod.Spec.Containers) < 2 {
			continue
		}
		var main *corev1.ContainerStateTerminated
		var left []string
		for _, c := range containersOf(pod) {
			switch {
			case c.init:
			case c.spec.Name == pod.Spec.Containers[0].Name:
				main = c.status.State.Terminated
			case c.status.State.Running != nil:
				left = append(left, c.spec.Name)
			}
		}
		if main == nil || main.ExitCode != 0 || len(left) == 0 {
			continue
		}
		return []Finding{{
			Severity: SeverityWarning, Class: ClassSidecar, Reason: "HelperStillRunning", Since: main.FinishedAt.Time,
			Message: fmt.Sprintf("pod %s: container %s ended 0 at %s; still running: %s. The Job cannot complete until it ends",
				pod.Name, pod.Spec.Containers[0].Name, main.FinishedAt.UTC().Format(timeFormat), strings.Join(left, ", ")),
			Evidence: []Evidence{{Object: "pod/" + pod.Name, Path: ".status.containerStatuses", Value: "still running: " + strings.Join(left, ", ")}},
			Advice: []Advice{{
				Command: "kubectl work export " + v.Job.Name, Risk: RiskInspect,
				Why: "make the helper an init container with restartPolicy: Always, or stop it from the main container",
			}},
		}}
	}
	return nil
}

func findPodsHidden(v view, p Phase) []Finding {
	if !v.PodsHidden || p.Finished() {
		return nil
	}
	return []Finding{{
		Severity: SeverityInfo, Reason: "PodsHidden", Message: "Pods cannot be seen (no right to list them), so causes inside them stay unknown",
	}}
}
