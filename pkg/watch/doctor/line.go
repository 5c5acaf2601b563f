package doctor

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// lines are the groups whose turn could have moved on. Whether a Pod of the last holder still goes on has to be known.
func (v view) lines() []*Trouble {
	if v.PodsHidden {
		return nil
	}
	groups, order := map[watch.Slot][]*batchv1.Job{}, []watch.Slot{}
	for _, job := range v.Jobs {
		slot, grouped := watch.SlotOf(job)
		if !grouped || watch.Restored(job) {
			continue
		}
		if groups[slot] == nil {
			order = append(order, slot)
		}
		groups[slot] = append(groups[slot], job)
	}
	var found []*Trouble
	for _, slot := range order {
		found = append(found, v.line(slot, groups[slot]))
	}
	return found
}

func (v view) line(slot watch.Slot, runs []*batchv1.Job) *Trouble {
	state := watch.SlotState{Runs: runs}
	for _, lease := range v.Leases {
		if lease.Namespace == slot.Namespace && lease.Name == slot.Lease() && lease.Spec.HolderIdentity != nil {
			state.Holder = *lease.Spec.HolderIdentity
		}
	}
	for _, pod := range v.Pods {
		if pod.Namespace == slot.Namespace && pod.Labels[work.LabelGroup] == slot.Group {
			state.Pods = append(state.Pods, pod)
		}
	}
	if v.LeasesHidden && slices.ContainsFunc(state.Pods, func(pod *corev1.Pod) bool { return !status.Terminal(pod) }) {
		return nil // whose they are decides
	}
	state.Held = watch.HolderIn(state.Holder, slot.Namespace, v.Jobs)
	d := watch.DecideSlot(state)
	next := d.Release
	if next == nil && len(d.Stop) > 0 {
		next = d.Newest
	}
	if next == nil {
		return nil
	}
	since := inLineSince(next)
	if state.Held != nil && state.Held.UID != next.UID && status.Ended(state.Held) {
		since = later(since, v.verdicts[state.Held.UID].Since)
	}
	if !v.old(since, patience) {
		return nil
	}
	return nobodyMoves(next, since, fmt.Sprintf("it is its turn in group %s since %s", slot.Group, stamp(since)))
}

// inLineSince is from when on a run could have taken its turn, as far as it tells itself.
func inLineSince(run *batchv1.Job) time.Time {
	holds, err := work.ParseHolds(run.Annotations[work.AnnotationHolds])
	hold, _ := holds.Find(work.HoldQueued)
	if err != nil {
		return run.CreationTimestamp.Time
	}
	return later(run.CreationTimestamp.Time, hold.Since.Time)
}
