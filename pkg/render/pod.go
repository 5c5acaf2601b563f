package render

import (
	"cmp"
	"fmt"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// PodState is what a Pod's containers are at, in a few words: `main exited 3, proxy running`.
func PodState(pod *corev1.Pod) string {
	var parts []string
	if pod.DeletionTimestamp != nil {
		parts = append(parts, "terminating")
	}
	if pod.Status.Reason != "" {
		parts = append(parts, pod.Status.Reason)
	}
	for _, st := range pod.Status.InitContainerStatuses {
		if t := st.State.Terminated; t != nil && t.ExitCode == 0 { // a step that is done
			continue
		}
		parts = append(parts, containerState(st))
	}
	for _, st := range pod.Status.ContainerStatuses {
		parts = append(parts, containerState(st))
	}
	if len(parts) == 0 && pod.Spec.NodeName == "" {
		return "not scheduled"
	}
	return strings.Join(parts, ", ")
}

func containerState(st corev1.ContainerStatus) string {
	switch {
	case st.State.Terminated != nil:
		t := st.State.Terminated
		if t.Reason != "" && t.Reason != "Error" && t.Reason != "Completed" {
			return fmt.Sprintf("%s exited %d (%s)", st.Name, t.ExitCode, t.Reason)
		}
		return fmt.Sprintf("%s exited %d", st.Name, t.ExitCode)
	case st.State.Waiting != nil:
		return fmt.Sprintf("%s %s", st.Name, cmp.Or(st.State.Waiting.Reason, "waiting"))
	case st.State.Running != nil:
		return st.Name + " running"
	}
	return st.Name + " waiting"
}

func restarts(pod *corev1.Pod) int32 {
	var n int32
	for _, st := range append(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses...) {
		n += st.RestartCount
	}
	return n
}

// DescriptionItem is a run with its Pods and events, for JSON.
func DescriptionItem(s status.Snapshot, v status.Verdict) Item {
	item := ItemOf(s.Job)
	item.Verdict = &v
	for _, pod := range status.Owned(s) {
		item.Pods = append(item.Pods, Pod{
			Name: pod.Name, Phase: pod.Status.Phase, Node: pod.Spec.NodeName, State: PodState(pod),
			Index: pod.Annotations[batchv1.JobCompletionIndexAnnotation],
		})
	}
	for _, step := range status.Timeline(s) {
		item.Timeline = append(item.Timeline, Step{Step: step, TookSeconds: step.Took.Seconds()})
	}
	f := status.FiguresOf(s)
	item.Figures = &Figures{Derived: true, SuccessRate: f.SuccessRate, LastRetry: f.LastRetry}
	if f.SyncDelay != nil {
		item.Figures.SyncDelaySeconds = new(f.SyncDelay.Seconds())
	}
	item.Usage, item.Tasks, item.Unread = s.Usage, s.Tasks, s.Unread
	events := status.RelatedEvents(s)
	for i := range events {
		e := &events[i]
		item.Events = append(item.Events, Event{
			Last: status.EventTime(e), Count: status.EventCount(e), Type: e.Type, Reason: e.Reason,
			Object: strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name, Message: e.Message,
		})
	}
	return item
}
