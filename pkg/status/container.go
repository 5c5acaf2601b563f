package status

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// container is one container of a Pod: what was asked for and how it stands.
type container struct {
	pod    *corev1.Pod
	spec   corev1.Container
	status corev1.ContainerStatus
	init   bool
	path   string // JSON path of the status in the Pod
	field  string // of its spec in the Job: spec.template.spec.containers[0]
}

// containersOf lists the containers of a Pod that have a status, init containers first: the order in which they run.
func containersOf(pod *corev1.Pod) []container {
	var all []container
	add := func(specs []corev1.Container, statuses []corev1.ContainerStatus, init bool, list, field string) {
		for n, spec := range specs {
			for i, st := range statuses {
				if st.Name == spec.Name {
					path := fmt.Sprintf(".status.%s[%d]", list, i)
					all = append(all, container{
						pod: pod, spec: spec, status: st, init: init, path: path, field: fmt.Sprintf("spec.template.spec.%s[%d]", field, n),
					})
				}
			}
		}
	}
	add(pod.Spec.InitContainers, pod.Status.InitContainerStatuses, true, "initContainerStatuses", "initContainers")
	add(pod.Spec.Containers, pod.Status.ContainerStatuses, false, "containerStatuses", "containers")
	return all
}

// ended is the last recorded end of c: the current state, or the one before it.
func (c container) ended() *corev1.ContainerStateTerminated {
	if t := c.status.State.Terminated; t != nil {
		return t
	}
	return c.status.LastTerminationState.Terminated
}

// kind is how c is called in sentences.
func (c container) kind() string {
	switch {
	case c.sidecar():
		return "sidecar"
	case c.init:
		return "init container"
	}
	return "container"
}

func (c container) evidence(path, value string) Evidence {
	return Evidence{Object: "pod/" + c.pod.Name, Path: c.path + path, Value: value}
}

// killedCode is the exit code of a process that SIGKILL ended.
const killedCode = 128 + 9

// describeEnd says how a container ended, without its name: `exited 3`.
func describeEnd(c container, t *corev1.ContainerStateTerminated) string {
	switch t.Reason {
	case "OOMKilled":
		if t.ExitCode != killedCode { // the kernel took a child; the main process saw it go and ended by itself
			return fmt.Sprintf("exited %d after a process in it was killed for using too much memory (OOMKilled%s)", t.ExitCode, memoryLimit(c))
		}
		return "was killed for using too much memory (OOMKilled" + memoryLimit(c) + ")"
	case "StartError", "ContainerCannotRun", "RunContainerError":
		return "could not start: " + startError(t.Message)
	case "ContainerStatusUnknown":
		return "has an unknown result: the node lost track of the container"
	}
	text := fmt.Sprintf("exited %d", t.ExitCode)
	if s := signalOf(t); s != 0 {
		text += fmt.Sprintf(" (signal %d%s)", s, signalName(s))
	}
	return text
}

func memoryLimit(c container) string {
	if limit, ok := c.spec.Resources.Limits[corev1.ResourceMemory]; ok {
		return ", limit " + limit.String()
	}
	return ""
}

// signalOf is the signal that ended the process, 0 for none. Exit codes over 128 stand for signals by the shell's
// convention, which container runtimes follow.
func signalOf(t *corev1.ContainerStateTerminated) int32 {
	if t.Signal != 0 {
		return t.Signal
	}
	if t.ExitCode > 128 && t.ExitCode <= 128+64 {
		return t.ExitCode - 128
	}
	return 0
}

// signalName names the usual signals of Linux, ", SIGKILL"; containers run on Linux whatever we run on.
func signalName(n int32) string {
	names := map[int32]string{
		1: "HUP", 2: "INT", 3: "QUIT", 4: "ILL", 5: "TRAP", 6: "ABRT", 7: "BUS", 8: "FPE", 9: "KILL", 10: "USR1",
		11: "SEGV", 12: "USR2", 13: "PIPE", 14: "ALRM", 15: "TERM", 24: "XCPU", 25: "XFSZ", 31: "SYS",
	}
	if name := names[n]; name != "" {
		return ", SIG" + name
	}
	return ""
}

// startError keeps the part of the runtime's message that a person can use: the text after the innermost "exec: ".
func startError(message string) string {
	text := strings.TrimSuffix(strings.TrimSpace(message), ": unknown")
	if i := strings.LastIndex(text, "exec: "); i >= 0 {
		text = text[i+len("exec: "):]
	}
	if text == "" {
		return "the runtime gave no reason"
	}
	return text
}
