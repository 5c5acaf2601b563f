// Package status is the one judge: it looks at a Snapshot of a Job and what belongs to it, and says what state the
// run is in, why, what happens next by itself and what a person can do.
//
// It owns phases, outcomes and the rules that find causes. It never asks a cluster, reads no clock and no environment:
// time is Snapshot.At. list, describe, wait, watch and every other reader show the same Verdict, so they cannot
// contradict each other.
package status

import (
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Snapshot is everything known about one run at one moment.
type Snapshot struct {
	Job     *batchv1.Job  // never nil
	Deleted bool          // the Job is gone from the cluster; Job is its last known state
	Pods    []*corev1.Pod // any Pods; those that the Job does not control are left out of the judgement
	Events  []corev1.Event
	Logs    []LogTail
	At      time.Time // when the snapshot was taken, by the server's clock where it is known

	PodsHidden   bool // Pods could not be listed: the verdict is partial
	EventsHidden bool // events were not read, or could not be
}

// LogTail is the end of one container's output.
type LogTail struct {
	Pod, Container string
	Lines          []string // without line ends; stdout and stderr as the runtime mixed them
	Error          string   // why there are none
}

// view is a Snapshot prepared for the rules: only our Pods, oldest first, and what is asked again and again.
type view struct {
	Snapshot
	pods []*corev1.Pod
}

func newView(s Snapshot) view {
	v := view{Snapshot: s}
	for _, pod := range s.Pods {
		if ref := metav1.GetControllerOf(pod); ref != nil && ref.UID == s.Job.UID {
			v.pods = append(v.pods, pod)
		}
	}
	slices.SortStableFunc(v.pods, func(a, b *corev1.Pod) int {
		if c := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	return v
}

// Owned returns the Pods of s that its Job controls, oldest first.
func Owned(s Snapshot) []*corev1.Pod { return newView(s).pods }

// condition returns the Job condition of the given type when its status is True. Only True counts: a FailureTarget of
// status False has been seen in the field (kubernetes/kubernetes#125909).
func (v view) condition(t batchv1.JobConditionType) *batchv1.JobCondition {
	for i := range v.Job.Status.Conditions {
		if c := &v.Job.Status.Conditions[i]; c.Type == t && c.Status == corev1.ConditionTrue {
			return c
		}
	}
	return nil
}

// live are the Pods that have not ended.
func (v view) live() []*corev1.Pod {
	return slices.DeleteFunc(slices.Clone(v.pods), Terminal)
}

// Terminal tells whether a Pod has ended: it will never run again.
func Terminal(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// logOf returns the log tail of one container, if it was read.
func (v view) logOf(pod, container string) (LogTail, bool) {
	for _, tail := range v.Logs {
		if tail.Pod == pod && tail.Container == container {
			return tail, true
		}
	}
	return LogTail{}, false
}
