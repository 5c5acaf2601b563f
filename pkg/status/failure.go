package status

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

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
	if !found || neverStarted(c.ended()) {
		return nil
	}
	if _, read := v.logOf(c.pod.Name, c.spec.Name); read {
		return nil
	}
	return &LogSource{Pod: c.pod.Name, Container: c.spec.Name, Previous: c.status.State.Terminated == nil}
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

// podEnd says how a Pod was ended as a whole, not through one of its containers: "" when that is not so.
func podEnd(v view, pod *corev1.Pod) string {
	message := strings.TrimSpace(strings.TrimPrefix(pod.Status.Message, "Pod was rejected: "))
	switch {
	case pod.Status.Reason == "":
		if c := podCondition(pod, corev1.DisruptionTarget); c != nil && c.Status == corev1.ConditionTrue {
			return "was " + disruption(c.Reason) + ": " + c.Message
		}
		return ""
	case pod.Status.Reason == "Evicted":
		return "was evicted by its node: " + message
	case pod.Status.Reason == "DeadlineExceeded":
		if s := v.Job.Spec.Template.Spec.ActiveDeadlineSeconds; s != nil {
			return fmt.Sprintf("was active longer than its template's activeDeadlineSeconds: %d", *s)
		}
		return "was active longer than its deadline"
	case len(pod.Status.ContainerStatuses) == 0 && pod.Spec.NodeName != "":
		return fmt.Sprintf("was refused by node %s (%s): %s", pod.Spec.NodeName, pod.Status.Reason, message)
	}
	return strings.TrimSuffix(fmt.Sprintf("was ended (%s): %s", pod.Status.Reason, message), ": ")
}

// killedBy says who killed a container that a signal ended, as far as the Pod's events tell.
func killedBy(v view, c container) string {
	if t := c.ended(); signalOf(t) == 0 || t.Reason == "OOMKilled" {
		return ""
	}
	if e := newestPodEvent(v, c.pod, "FailedPostStartHook"); e != nil {
		return "its postStart hook failed"
	}
	if e := newestPodEvent(v, c.pod, "Unhealthy"); e != nil && newestPodEvent(v, c.pod, "Killing") != nil {
		for _, probe := range []string{"Liveness", "Startup"} {
			if strings.HasPrefix(e.Message, probe+" probe failed") {
				return strings.TrimSuffix(strings.TrimSpace("its "+strings.ToLower(e.Message[:1])+e.Message[1:]), ":")
			}
		}
	}
	return ""
}

// hints are what an exit code or a start error usually means, for a person who meets it for the first time.
func hints(v view, c container, t *corev1.ContainerStateTerminated) []string {
	one := func(text string) []string { return []string{text} }
	switch {
	case t == nil:
		return nil
	case neverStarted(t) && len(c.spec.Command) == 1 && strings.Contains(c.spec.Command[0], " "):
		return one(fmt.Sprintf("command is one word with a blank in it; a shell line needs [sh, -c, %q]", c.spec.Command[0]))
	case neverStarted(t) && strings.Contains(t.Message, "permission denied"):
		return one("the file is not executable: set its mode (for a volume defaultMode: 0755)")
	case neverStarted(t):
		return one("no output: the container never started")
	case formatError(v, c) != "":
		return one(formatError(v, c) + " is no program for this node: built for another CPU, or a script without a first line like #!/bin/sh")
	case t.Reason == "OOMKilled":
		return one("raise resources.limits.memory, or make the program use less")
	case t.ExitCode == 126:
		return one("126 is the shell's code for a file that cannot be executed")
	case t.ExitCode == 127:
		return one("127 is the shell's code for a command that was not found")
	case t.ExitCode == killedCode && t.Reason == "Error" && killedBy(v, c) == "" && podEnd(v, c.pod) == "":
		return one("killed from outside (the kubelet, a person, the node), or for memory in a way that the runtime did not report")
	}
	return nil
}

const formatErrorText = `^exec (?:user process caused: )?(\S+): exec format error$`

// formatError is the program that the kernel could not execute, "" when that is not what happened. Only the output tells.
func formatError(v view, c container) string {
	tail, ok := v.logOf(c.pod.Name, c.spec.Name)
	if !ok {
		return ""
	}
	if m := match(formatErrorText, lastLine(tail.Lines)); m != nil {
		return m[1]
	}
	return ""
}

func neverStarted(t *corev1.ContainerStateTerminated) bool {
	return t.Reason == "StartError" || t.Reason == "ContainerCannotRun"
}

// quoted sets a program's own words apart. They stay as they are: what is not fit for a screen goes where it is drawn.
func quoted(text string) string { return `"` + text + `"` }

// firstLine is the first line that a person can see.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if visible(line) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

func lastLine(lines []string) string {
	for _, line := range slices.Backward(lines) {
		if visible(line) {
			return line
		}
	}
	return ""
}

// escapeText is a terminal's control sequence: what a line of nothing else shows is nothing.
const escapeText = `\x1b(?:\[[\x20-\x3f]*[\x40-\x7e]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|.)`

// visible tells whether a line shows anything on a screen.
func visible(line string) bool {
	if strings.ContainsRune(line, 0x1b) {
		line = regexp.MustCompile(escapeText).ReplaceAllString(line, "")
	}
	return strings.ContainsFunc(line, func(r rune) bool { return unicode.IsGraphic(r) && !unicode.IsSpace(r) })
}
