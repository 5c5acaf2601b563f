package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Failure is what is known about the Pod that failed last, and about all that failed.
type Failure struct {
	Pod       string      `json:"pod,omitempty"`
	Container string      `json:"container,omitempty"`
	ExitCode  *int32      `json:"exitCode,omitempty"`
	Signal    int32       `json:"signal,omitempty"`
	Reason    string      `json:"reason,omitempty"`  // of the container or Pod: Error, OOMKilled, Evicted …
	Message   string      `json:"message,omitempty"` // the container's termination message, or the Pod's
	Output    []string    `json:"output,omitempty"`  // last lines, stdout and stderr mixed
	Tries     int32       `json:"tries"`             // Pods that failed, or restarts under OnFailure
	Limit     *int32      `json:"limit,omitempty"`   // tries allowed: backoffLimit + 1; nil when counted per index
	Codes     []CodeCount `json:"codes,omitempty"`   // of all failed Pods still there, most frequent first
}

// CodeCount says how many containers ended with a code.
type CodeCount struct {
	Code  int32 `json:"code"`
	Count int   `json:"count"`
}

// logWanted names the container whose output explains the run best: of the newest failed Pod, or of the newest failed
// try of a Pod that goes on. Nil when there is none, or it was read.
func logWanted(v view) *LogSource {
	c, found := newestFailed(v)
	if !found {
		c, found = cutOff(v)
	}
	if !found || neverStarted(c.ended()) {
		return nil
	}
	if _, read := v.logOf(c.pod.Name, c.spec.Name); read {
		return nil
	}
	return &LogSource{Pod: c.pod.Name, Container: c.spec.Name, Previous: c.ended() != nil && c.status.State.Terminated == nil}
}

// cutOff is a container that still runs although the Job's time is over: in its grace it can be asked for its output, after
// that no more.
func cutOff(v view) (container, bool) {
	if c := failureCondition(v); c == nil || c.Reason != batchv1.JobReasonDeadlineExceeded {
		return container{}, false
	}
	for _, pod := range v.live() {
		for _, c := range containersOf(pod) {
			if !c.init && c.status.State.Running != nil {
				return c, true
			}
		}
	}
	return container{}, false
}

// newestFailed is the container that ended badly last, over all Pods; of several in one Pod the one that failed first,
// because the others are usually its victims. A Pod whose condition names it as the one that matched a failure rule goes
// before all others: it decided the run.
func newestFailed(v view) (container, bool) {
	var newest container
	var at time.Time
	found := false
	decider := decidingPod(v)
	for _, pod := range v.pods {
		c, ok := firstFailed(pod)
		if !ok {
			continue
		}
		if pod.Name == decider {
			return c, true
		}
		if end := c.ended().FinishedAt.Time; !found || !end.Before(at) {
			newest, at, found = c, end, true
		}
	}
	return newest, found
}

// decidingPod is the Pod that a podFailurePolicy rule ended the Job for, "" when that is not how it ended.
func decidingPod(v view) string {
	if c := failureCondition(v); c != nil && c.Reason == batchv1.JobReasonPodFailurePolicy {
		pod, _, _ := policyMatch(c.Message)
		return pod
	}
	return ""
}

// failureCondition is the condition that records or announces the failure.
func failureCondition(v view) *batchv1.JobCondition {
	if c := v.condition(batchv1.JobFailed); c != nil {
		return c
	}
	return v.condition(batchv1.JobFailureTarget)
}

func firstFailed(pod *corev1.Pod) (container, bool) {
	var failed []container
	for _, c := range containersOf(pod) {
		if t := c.ended(); t != nil && t.ExitCode != 0 {
			failed = append(failed, c)
		}
	}
	if len(failed) == 0 {
		return container{}, false
	}
	return slices.MinFunc(failed, func(a, b container) int {
		return a.ended().FinishedAt.Compare(b.ended().FinishedAt.Time)
	}), true
}

// failureOf collects the facts of a failed run. Nil when no Pod can tell any.
func failureOf(v view) *Failure {
	f := &Failure{Tries: tries(v), Limit: tryLimit(v.Job), Codes: codes(v)}
	c, ok := newestFailed(v)
	if running, late := cutOff(v); !ok && late {
		f.Pod, f.Container, f.Message = running.pod.Name, running.spec.Name, "it still ran when the time was over"
		if tail, read := v.logOf(f.Pod, f.Container); read {
			f.Output = tail.Lines
		}
		return f
	}
	if !ok {
		if pod := newestFailedPod(v); pod != nil {
			f.Pod, f.Reason, f.Message = pod.Name, pod.Status.Reason, pod.Status.Message
		}
		return f
	}
	t := c.ended()
	f.Pod, f.Container, f.ExitCode, f.Signal = c.pod.Name, c.spec.Name, &t.ExitCode, signalOf(t)
	f.Reason, f.Message = t.Reason, strings.TrimSpace(t.Message)
	if c.pod.Status.Reason != "" {
		f.Reason, f.Message = c.pod.Status.Reason, cmp.Or(f.Message, strings.TrimSpace(c.pod.Status.Message))
	}
	if tail, ok := v.logOf(c.pod.Name, c.spec.Name); ok {
		f.Output = tail.Lines
	}
	return f
}

// tries counts failed Pods, those included that the Job controller is about to count. When it says that the limit is
// exceeded, as many were tried as the limit allows, whatever it has counted yet.
func tries(v view) int32 {
	n := v.Job.Status.Failed
	if u := v.Job.Status.UncountedTerminatedPods; u != nil {
		n += int32(len(u.Failed))
	}
	limit := tryLimit(v.Job)
	if c := v.condition(batchv1.JobFailureTarget); limit != nil && c != nil && c.Reason == batchv1.JobReasonBackoffLimitExceeded {
		n = max(n, *limit)
	}
	return n
}

// newestFailedPod is the youngest Pod that failed, or is being ended from outside.
func newestFailedPod(v view) *corev1.Pod {
	for _, pod := range slices.Backward(v.pods) {
		if c := podCondition(pod, corev1.DisruptionTarget); pod.Status.Phase == corev1.PodFailed || c != nil && c.Status == corev1.ConditionTrue {
			return pod
		}
	}
	return nil
}

// tryLimit is backoffLimit + 1; nil when tries are counted per index.
func tryLimit(job *batchv1.Job) *int32 {
	if job.Spec.BackoffLimitPerIndex != nil || job.Spec.BackoffLimit == nil {
		return nil
	}
	limit := *job.Spec.BackoffLimit + 1
	return &limit
}

func codes(v view) []CodeCount {
	counts := map[int32]int{}
	for _, pod := range v.pods {
		if pod.Status.Phase != corev1.PodFailed {
			continue
		}
		if c, ok := firstFailed(pod); ok {
			counts[c.ended().ExitCode]++
		}
	}
	var list []CodeCount
	for code, n := range counts {
		list = append(list, CodeCount{Code: code, Count: n})
	}
	slices.SortFunc(list, func(a, b CodeCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Code, b.Code))
	})
	return list
}

// cause is the failure in half a sentence: pod NAME, container main exited 3, last output: "…".
func (f *Failure) cause(v view) string {
	i := slices.IndexFunc(v.pods, func(pod *corev1.Pod) bool { return pod.Name == f.Pod })
	if f.Pod == "" || i < 0 {
		return ""
	}
	pod := v.pods[i]
	if text := podEnd(v, pod); text != "" {
		return "pod " + f.Pod + " " + text
	}
	if f.Container == "" {
		return strings.TrimSuffix(fmt.Sprintf("pod %s ended: %s", f.Pod, f.Message), ": ")
	}
	c, ok := newestFailed(v)
	if !ok {
		return ""
	}
	text := fmt.Sprintf("pod %s, %s %s %s", f.Pod, c.kind(), f.Container, describeEnd(c, c.ended()))
	if by := killedBy(v, c); by != "" {
		text += ": " + by
	}
	switch {
	case neverStarted(c.ended()): // the runtime's message is in describeEnd, and there is no output
	case firstLine(f.Message) != "":
		text += ", message: " + quoted(firstLine(f.Message))
	case lastLine(f.Output) != "":
		text += ", last output: " + quoted(lastLine(f.Output))
	}
	return text
}
