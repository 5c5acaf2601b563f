package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// restarts tells whether the kubelet starts a container again after a bad end: by the Pod's policy, by the container's own,
// or because it is a native sidecar.
func (c container) restarts() bool {
	if own := c.spec.RestartPolicy; own != nil {
		return *own != corev1.ContainerRestartPolicyNever
	}
	return c.pod.Spec.RestartPolicy != corev1.RestartPolicyNever
}

// sidecar tells whether c is a native sidecar: an init container that runs beside the others
// (https://kubernetes.io/docs/concepts/workloads/pods/sidecar-containers).
func (c container) sidecar() bool {
	return c.init && c.spec.RestartPolicy != nil && *c.spec.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

// findContainerFailing: containers of a living Pod end badly and are started again. Without restarts the Pod itself is
// about to fail, and the Job controller says the rest. The container is ended and waiting in turns, which is one cause,
// so it has one reason.
func findContainerFailing(v view, p Phase) []Finding {
	if !starting(p) {
		return nil
	}
	for _, pod := range v.live() {
		for _, c := range containersOf(pod) {
			end := c.ended()
			if c.sidecar() && mainEnded(pod) { // the kubelet has ended it, because nobody needs it any more
				continue
			}
			if !c.restarts() || end == nil || end.ExitCode == 0 || c.status.State.Running != nil && c.status.RestartCount == 0 {
				continue
			}
			f := Finding{
				Severity: SeverityWarning, Reason: "CrashLoopBackOff", Since: end.FinishedAt.Time, Field: c.field,
				Message:  fmt.Sprintf("pod %s, %s %s %s", pod.Name, c.kind(), c.spec.Name, describeEnd(c, end)),
				Evidence: []Evidence{c.evidence(".lastState.terminated", fmt.Sprintf("%s: exit code %d", end.Reason, end.ExitCode))},
				Advice:   []Advice{{Command: "kubectl work logs " + v.Job.Name, Risk: RiskInspect, Why: "its output"}},
				Details:  hints(v, c, end),
			}
			if by := killedBy(v, c); by != "" {
				f.Message += ": " + by
			}
			if limit := v.Job.Spec.BackoffLimit; limit != nil && !c.sidecar() {
				f.Message += fmt.Sprintf(", restart %d of limit %d", c.status.RestartCount, *limit)
			} else {
				f.Message += fmt.Sprintf(", restart %d", c.status.RestartCount)
			}
			if c.sidecar() {
				f.Details = append(f.Details, "restarts of a sidecar do not count for backoffLimit")
			}
			f.Next = nextRestart(v, c, end)
			if tail, ok := v.logOf(pod.Name, c.spec.Name); ok && lastLine(tail.Lines) != "" {
				f.Message += ", last output: " + quoted(lastLine(tail.Lines))
			}
			return []Finding{f}
		}
	}
	return nil
}

// mainEnded tells whether all containers have ended that are no init containers.
func mainEnded(pod *corev1.Pod) bool {
	if len(pod.Status.ContainerStatuses) < len(pod.Spec.Containers) {
		return false
	}
	return !slices.ContainsFunc(pod.Status.ContainerStatuses, func(st corev1.ContainerStatus) bool { return st.State.Terminated == nil })
}

const restartText = `^back-off (\S+) restarting`

// The kubelet's pauses between restarts (https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/#restart-policy).
const (
	firstRestart = 10 * time.Second
	mostRestart  = 5 * time.Minute
)

// nextRestart says when the kubelet starts a container again: it is told while the container waits, and follows from the
// number of restarts before that.
func nextRestart(v view, c container, end *corev1.ContainerStateTerminated) string {
	if c.status.State.Running != nil || end.FinishedAt.IsZero() {
		return ""
	}
	var pause time.Duration
	if n := c.status.RestartCount; n > 0 { // the first restart comes at once
		pause = mostRestart
		if n < 6 {
			pause = firstRestart << (n - 1)
		}
	}
	if w := c.status.State.Waiting; w != nil {
		if m := match(restartText, w.Message); m != nil {
			if told, err := time.ParseDuration(m[1]); err == nil {
				pause = told
			}
		}
	}
	return fmt.Sprintf("the kubelet starts it again in %s (pauses double up to 5 min)", about(end.FinishedAt.Add(pause).Sub(v.At)))
}

// about is a time that is not exact: "about 35 s", "about 2 min 40 s", or "a moment" once it should have come.
func about(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d <= 0:
		return "a moment"
	case d < 2*time.Minute:
		return fmt.Sprintf("about %d s", int(d.Seconds()))
	case d%time.Minute == 0, d >= 10*time.Minute:
		return fmt.Sprintf("about %d min", int(d.Minutes()))
	}
	return fmt.Sprintf("about %d min %d s", int(d.Minutes()), int(d.Seconds())%60)
}

// findSidecarNotReady: a native sidecar runs and its startup probe has not passed, so the next container does not start.
func findSidecarNotReady(v view, p Phase) []Finding {
	if !starting(p) {
		return nil
	}
	for _, pod := range v.live() {
		for _, c := range containersOf(pod) {
			r := c.status.State.Running
			if !c.sidecar() || r == nil || c.status.Started == nil || *c.status.Started || v.At.Sub(r.StartedAt.Time) < quiet {
				continue
			}
			f := Finding{
				Severity: SeverityWarning, Reason: "SidecarNotReady", Since: r.StartedAt.Time, Field: c.field,
				Message:  fmt.Sprintf("pod %s: sidecar %s runs, but its startup probe has not passed; the next container starts only then", pod.Name, c.spec.Name),
				Evidence: []Evidence{c.evidence(".started", "false")},
			}
			if e := newestPodEvent(v, pod, "Unhealthy"); e != nil {
				f.Details = []string{strings.TrimSpace(e.Message) + fmt.Sprintf(" (%s)", count(EventCount(e), "time", "times"))}
			}
			return []Finding{f}
		}
	}
	return nil
}

// findInitRunning says which init step a Pod is at.
func findInitRunning(v view, p Phase) []Finding {
	if p != PhaseInitializing {
		return nil
	}
	for _, pod := range v.live() {
		for _, c := range containersOf(pod) {
			r := c.status.State.Running
			if !c.init || c.sidecar() || r == nil {
				continue
			}
			step := 1 + slices.IndexFunc(pod.Spec.InitContainers, func(i corev1.Container) bool { return i.Name == c.spec.Name })
			return []Finding{{
				Severity: SeverityInfo, Reason: "InitRunning", Since: r.StartedAt.Time,
				Message:  fmt.Sprintf("pod %s is at init step %d of %d: %s runs", pod.Name, step, len(pod.Spec.InitContainers), c.spec.Name),
				Evidence: []Evidence{c.evidence(".state.running", r.StartedAt.UTC().Format(timeFormat))},
			}}
		}
	}
	return nil
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
			Message: fmt.Sprintf("pod %s: container %s ended 0 at %s (%s ago); still running: %s. The Job cannot complete until it ends",
				pod.Name, pod.Spec.Containers[0].Name, main.FinishedAt.UTC().Format(timeFormat), short(v.At.Sub(main.FinishedAt.Time)), strings.Join(left, ", ")),
			Evidence: []Evidence{{Object: "pod/" + pod.Name, Path: ".status.containerStatuses", Value: "still running: " + strings.Join(left, ", ")}},
			Advice: []Advice{{
				Command: "kubectl work export " + v.Job.Name, Risk: RiskInspect,
				Why: "make the helper an init container with restartPolicy: Always, or stop it from the main container",
			}},
		}}
	}
	return nil
}

// findWorkQueue: without completions one success means that the queue is empty, and nothing new is started
// (https://kubernetes.io/docs/concepts/workloads/controllers/job/#parallel-jobs).
func findWorkQueue(v view, p Phase) []Finding {
	spec := v.Job.Spec
	if p != PhaseRunning || spec.Completions != nil || v.Job.Status.Succeeded == 0 || v.Job.Status.Active == 0 {
		return nil
	}
	return []Finding{{
		Severity: SeverityInfo, Reason: "WorkQueueEnding",
		Message: fmt.Sprintf("a work queue: %s succeeded, so no new Pod is made; it completes when the %d still running have ended",
			count(v.Job.Status.Succeeded, "Pod", "Pods"), v.Job.Status.Active),
		Evidence: []Evidence{{Object: "job/" + v.Job.Name, Path: ".status.succeeded", Value: fmt.Sprint(v.Job.Status.Succeeded)}},
	}}
}

func findPodsHidden(v view, p Phase) []Finding {
	if !v.PodsHidden || p.Finished() {
		return nil
	}
	return []Finding{{
		Severity: SeverityInfo, Reason: "PodsHidden", Message: "Pods cannot be seen (no right to list them), so causes inside them stay unknown",
	}}
}
