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

// LogWanted names the container whose output explains the run best: of the newest failed Pod, or of the newest failed
// try of a Pod that goes on. previous asks for the output of the container's run before the current one.
func LogWanted(s Snapshot) (pod, name string, previous, ok bool) {
	v := newView(s)
	c, found := newestFailed(v)
	if !found {
		return "", "", false, false
	}
	return c.pod.Name, c.spec.Name, c.status.State.Terminated == nil, true
}

// newestFailed is the container that ended badly last, over all Pods; of several in one Pod the one that failed first,
// because the others are usually its victims.
func newestFailed(v view) (container, bool) {
	var newest container
	var at time.Time
	found := false
	for _, pod := range v.pods {
		c, ok := firstFailed(pod)
		if !ok {
			continue
		}
		if end := c.ended().FinishedAt.Time; !found || !end.Before(at) {
			newest, at, found = c, end, true
		}
	}
	return newest, found
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
	if !ok {
		if pod := newestFailedPod(v); pod != nil {
			f.Pod, f.Reason, f.Message = pod.Name, pod.Status.Reason, pod.Status.Message
		}
		return f
	}
	t := c.ended()
	f.Pod, f.Container, f.ExitCode, f.Signal = c.pod.Name, c.spec.Name, &t.ExitCode, signalOf(t)
	f.Reason, f.Message = t.Reason, strings.TrimSpace(t.Message)
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

func newestFailedPod(v view) *corev1.Pod {
	for _, pod := range slices.Backward(v.pods) {
		if pod.Status.Phase == corev1.PodFailed {
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
	switch {
	case f.Pod == "":
		return ""
	case f.Container == "":
		return strings.TrimSuffix(fmt.Sprintf("pod %s was %s: %s", f.Pod, cmp.Or(f.Reason, "Failed"), f.Message), ": ")
	}
	c, ok := newestFailed(v)
	if !ok {
		return ""
	}
	text := fmt.Sprintf("pod %s, %s %s %s", f.Pod, c.kind(), f.Container, describeEnd(c, c.ended()))
	switch {
	case neverStarted(c.ended()): // the runtime's message is in describeEnd, and there is no output
	case f.Message != "":
		text += ", message: " + quoted(firstLine(f.Message))
	case len(f.Output) > 0:
		text += ", last output: " + quoted(lastLine(f.Output))
	}
	return text
}

func neverStarted(t *corev1.ContainerStateTerminated) bool {
	return t.Reason == "StartError" || t.Reason == "ContainerCannotRun"
}

// quoted sets a program's own words apart. They stay as they are: what is not fit for a screen goes where it is drawn.
func quoted(text string) string { return `"` + text + `"` }

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

func lastLine(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if strings.TrimSpace(line) != "" {
			return line
		}
	}
	return ""
}
