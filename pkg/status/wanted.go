package status

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// Wanted is what else would explain a run: each is asked for only when something in the Snapshot points at it.
type Wanted struct {
	Log      *LogSource // output that was not read yet
	Nodes    []string   // to see whether they are there and alive
	AllNodes bool       // a Pod fits no node: all of them, and what takes their room
	Claims   []string   // volume claims of Pods that wait for them
	Probe    bool       // no Pod, and no event tells why, or one that may be out of date: a dry run of its Pod
	Queue    string     // Kueue's LocalQueue that decides
	Related  bool       // the runs that it waits for: of its group, and those that it depends on
}

// LogSource is the output of one container.
type LogSource struct {
	Pod, Container string
	Previous       bool // of the container's run before the current one
}

// Objects counts what is wanted besides output.
func (w Wanted) Objects() int {
	n := len(w.Nodes) + len(w.Claims)
	for _, one := range []bool{w.AllNodes, w.Probe, w.Queue != "", w.Related} {
		if one {
			n++
		}
	}
	return n
}

// Wants says what else would explain the run.
func Wants(s Snapshot) Wanted {
	v := newView(s)
	phase, _ := phaseOf(v)
	w := Wanted{Log: logWanted(v)}
	if phase == PhaseQueued && s.Queue == nil {
		w.Queue = s.Job.Labels[work.LabelKueueQueue]
	}
	w.Related = s.Related == nil && !s.Deleted && suspended(s.Job) && waitsForRuns(s.Job)
	if phase.Finished() || managedElsewhere(v) || s.Deleted {
		return w
	}
	w.Probe = s.Probe == nil && (silent(v) || refusedBefore(v))
	for _, pod := range v.live() {
		if unschedulable(pod) {
			w.AllNodes = w.AllNodes || s.Nodes == nil
			w.Claims = append(w.Claims, claimsOf(pod)...)
		}
		if node := pod.Spec.NodeName; node != "" && suspicious(pod, v.At) && !slices.Contains(w.Nodes, node) {
			w.Nodes = append(w.Nodes, node)
		}
	}
	if s.Claims != nil || !slices.ContainsFunc(v.live(), waitsForClaim) {
		w.Claims = nil
	}
	if s.Nodes != nil {
		w.Nodes = nil
	}
	return w
}

// silent tells whether the Job should have had Pods for a while, has none, and no event explains why.
func silent(v view) bool {
	event, _ := newestFailedCreate(v)
	return event == nil && neverHadPods(v) && v.At.Sub(v.Job.Status.StartTime.Time) >= quiet
}

// refusedBefore tells whether the newest try to make a Pod was refused a while ago: what was in its way may be gone, and the
// Job controller's next try may be up to a minute away.
func refusedBefore(v view) bool {
	event, _ := newestFailedCreate(v)
	return event != nil && v.At.Sub(EventTime(event)) >= outdated
}

// outdated is the age from which a refusal is asked about again.
const outdated = 10 * time.Second

// neverHadPods tells whether the Job should have Pods and neither has nor had any.
func neverHadPods(v view) bool {
	st := v.Job.Status
	if made, _ := podNames(v); len(made) > 0 {
		return false
	}
	return !v.PodsHidden && st.StartTime != nil && !suspended(v.Job) && st.Active == 0 && st.Succeeded == 0 && st.Failed == 0 &&
		(v.Job.Spec.Parallelism == nil || *v.Job.Spec.Parallelism > 0) && len(st.Conditions) == 0
}

// suspicious tells whether a Pod looks as if its node were gone: the control plane took its Ready away while its
// containers claim to run, or it should have been deleted by now.
func suspicious(pod *corev1.Pod, at time.Time) bool {
	if pod.DeletionTimestamp != nil && at.After(pod.DeletionTimestamp.Time) {
		return true
	}
	ready := podCondition(pod, corev1.PodReady)
	return pod.Status.Phase == corev1.PodRunning && ready != nil && ready.Status != corev1.ConditionTrue && ready.Reason != "ContainersNotReady" &&
		slices.ContainsFunc(pod.Status.ContainerStatuses, func(st corev1.ContainerStatus) bool { return st.State.Running != nil })
}

// WantsEvents tells whether only events can say more: a run without Pods, a Pod whose containers are not made yet, or a
// Pod that is gone.
func WantsEvents(s Snapshot) bool {
	v := newView(s)
	if s.Deleted || suspended(s.Job) || v.condition(batchv1.JobComplete) != nil {
		return false
	}
	return len(v.pods) == 0 || slices.ContainsFunc(v.live(), notCreated) || newestFailedByEvents(v)
}

// newestFailedByEvents tells whether the newest failure may have a cause that only events name: a container that was
// killed from outside.
func newestFailedByEvents(v view) bool {
	c, ok := newestFailed(v)
	return ok && signalOf(c.ended()) != 0 && c.ended().Reason == "Error"
}

// notCreated tells whether a Pod has a node and waits for its volumes, its sandbox or its first container.
func notCreated(pod *corev1.Pod) bool {
	if pod.Spec.NodeName == "" || pod.Status.Phase != corev1.PodPending {
		return false
	}
	for _, st := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if w := st.State.Waiting; w == nil || w.Reason != "ContainerCreating" && w.Reason != "PodInitializing" {
			return false
		}
	}
	return true
}

// waitsForRuns tells whether holds of ours make a run wait for other runs.
func waitsForRuns(job *batchv1.Job) bool {
	holds, err := work.ParseHolds(job.Annotations[work.AnnotationHolds])
	return err == nil && len(holds.Without(work.HoldPaused)) > 0
}
