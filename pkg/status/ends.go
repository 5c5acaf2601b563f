package status

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	corev1 "k8s.io/api/core/v1"
)

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
	return t != nil && (t.Reason == "StartError" || t.Reason == "ContainerCannotRun")
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
