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
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Snapshot is everything known about one run at one moment. What Wants asks for may be missing: every rule says less
// without it, and none says something else.
type Snapshot struct {
	Job     *batchv1.Job   `json:"job"`               // never nil
	Deleted bool           `json:"deleted,omitempty"` // the Job is gone from the cluster; Job is its last known state
	Pods    []*corev1.Pod  `json:"pods,omitempty"`    // any Pods; those that the Job does not control are left out of the judgement
	Events  []corev1.Event `json:"events,omitempty"`
	Logs    []LogTail      `json:"logs,omitempty"`
	At      time.Time      `json:"at"` // when the snapshot was taken, by the server's clock where it is known

	Nodes    []*corev1.Node                  `json:"nodes,omitempty"`    // those that Wants asked for and that were there
	Leases   []*coordinationv1.Lease         `json:"leases,omitempty"`   // of Nodes: the heartbeats of their kubelets
	NodePods []*corev1.Pod                   `json:"nodePods,omitempty"` // what takes room on Nodes, of all namespaces
	Claims   []*corev1.PersistentVolumeClaim `json:"claims,omitempty"`
	Probe    *Probe                          `json:"probe,omitempty"`
	Queue    *Queue                          `json:"queue,omitempty"`
	Related  []*batchv1.Job                  `json:"related,omitempty"` // other runs that it waits for; nil: they were not read
	Place    *Place                          `json:"place,omitempty"`   // in the line of its group, by Places; nil: found out from Related, if that was read

	Usage []Usage      `json:"usage,omitempty"` // when it was asked for
	Tasks []TaskStatus `json:"tasks,omitempty"` // the same

	PodsHidden   bool     `json:"podsHidden,omitempty"`   // Pods could not be listed: the verdict is partial
	Unread       []string `json:"unread,omitempty"`       // what would have explained more and could not be read, with why
	EventsHidden bool     `json:"eventsHidden,omitempty"` // events were not read, or could not be
}

// LogTail is the end of one container's output.
type LogTail struct {
	Pod       string   `json:"pod"`
	Container string   `json:"container"`
	Lines     []string `json:"lines,omitempty"` // without line ends; stdout and stderr as the runtime mixed them
	Error     string   `json:"error,omitempty"` // why there are none
}

// Usage is what a container uses at the moment of the Snapshot.
type Usage struct {
	Pod       string `json:"pod"`
	Container string `json:"container"`
	CPU       int64  `json:"cpuMilli"`    // thousandths of a core
	Memory    int64  `json:"memoryBytes"` // the working set: what counts against the limit
}

// TaskStatus is what a task serves about itself.
type TaskStatus struct {
	Pod   string `json:"pod"`
	From  string `json:"from"` // PORT/PATH
	Text  string `json:"text,omitempty"`
	Error string `json:"error,omitempty"` // why there is none
}

// Probe is what the API server answered to a dry run of the Pod that the Job's template makes.
type Probe struct {
	Refusal string `json:"refusal,omitempty"` // "" when it was accepted
}

// Queue is where a run stands with Kueue (https://kueue.sigs.k8s.io/docs/concepts/workload).
type Queue struct {
	Workload string `json:"workload"`           // its name
	Admitted bool   `json:"admitted,omitempty"` // quota is reserved and every check has passed
	Reason   string `json:"reason,omitempty"`   // of the newest condition that keeps it out, CamelCase
	Message  string `json:"message,omitempty"`
	Position *int32 `json:"position,omitempty"` // in its LocalQueue, from 0; nil where the visibility API does not answer
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

// podCondition returns the Pod's condition of the given type, nil when it has none.
func podCondition(pod *corev1.Pod, t corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type == t {
			return c
		}
	}
	return nil
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

// node returns the node of the given name, nil when it was not read.
func (v view) node(name string) *corev1.Node {
	for _, n := range v.Nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}
