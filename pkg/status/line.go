package status

import (
	"cmp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// SameGroup tells whether two runs exclude each other: the same concurrency group of the same tenant and namespace.
func SameGroup(a, b *batchv1.Job) bool {
	group := a.Labels[work.LabelGroup]
	return group != "" && group == b.Labels[work.LabelGroup] && a.Labels[work.LabelTenant] == b.Labels[work.LabelTenant] && a.Namespace == b.Namespace
}

// Line are the runs in the group of a run that wait for nothing but its slot, the next one first: by priority, then age,
// then uid. Every client that looks sees the same order.
func Line(runs []*batchv1.Job, of *batchv1.Job) []*batchv1.Job {
	var line []*batchv1.Job
	priorities := map[types.UID]int32{}
	for _, run := range runs {
		if !SameGroup(run, of) {
			continue
		}
		if hold, is := inLine(run); is {
			line, priorities[run.UID] = append(line, run), hold.Priority
		}
	}
	slices.SortFunc(line, func(a, b *batchv1.Job) int {
		return cmp.Or(cmp.Compare(priorities[b.UID], priorities[a.UID]), older(a, b))
	})
	return line
}

// older orders runs by age, then by uid.
func older(a, b *batchv1.Job) int {
	return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.UID, b.UID))
}

// InLine tells whether a run waits for nothing but the slot of its group.
func InLine(run *batchv1.Job) bool {
	_, is := inLine(run)
	return is
}

func inLine(run *batchv1.Job) (work.Hold, bool) {
	if !suspended(run) || run.DeletionTimestamp != nil || Ended(run) {
		return work.Hold{}, false
	}
	holds, err := work.ParseHolds(run.Annotations[work.AnnotationHolds])
	if err != nil || !holds.Only(work.HoldQueued) {
		return work.Hold{}, false
	}
	return holds.Find(work.HoldQueued)
}

// Ended tells whether the Job controller has recorded an end: Complete or Failed.
func Ended(run *batchv1.Job) bool {
	v := view{Snapshot: Snapshot{Job: run}}
	return v.condition(batchv1.JobComplete) != nil || v.condition(batchv1.JobFailed) != nil
}

// Holders are the runs of a group that have started, or may at any moment: neither ended nor in line. A paused one is among
// them as long as its place in line was taken off.
func Holders(runs []*batchv1.Job, of *batchv1.Job) []*batchv1.Job {
	var holders []*batchv1.Job
	for _, run := range runs {
		holds, err := work.ParseHolds(run.Annotations[work.AnnotationHolds])
		_, queued := holds.Find(work.HoldQueued)
		if SameGroup(run, of) && !Ended(run) && (err != nil || !queued || !suspended(run)) {
			holders = append(holders, run)
		}
	}
	slices.SortFunc(holders, older)
	return holders
}

// Replacing is the newest run of a group when it takes the place of the older ones: under Replace, with nothing else that
// holds it. nil when there is none.
func Replacing(runs []*batchv1.Job, of *batchv1.Job) *batchv1.Job {
	var newest *batchv1.Job
	for _, run := range runs {
		if !SameGroup(run, of) || Ended(run) || run.DeletionTimestamp != nil {
			continue
		}
		if newest == nil || older(newest, run) < 0 {
			newest = run
		}
	}
	if newest == nil {
		return nil
	}
	if hold, is := inLine(newest); !is || hold.Policy != policyReplace {
		return nil
	}
	return newest
}

// policyReplace is the policy of a hold whose run takes the place of older ones.
const policyReplace = "Replace"

// Busy tells whether a Pod that a run controls has not ended: its slot is not free yet, whatever the Job says.
func Busy(pods []*corev1.Pod, run types.UID) bool {
	return slices.ContainsFunc(pods, func(pod *corev1.Pod) bool {
		ref := metav1.GetControllerOf(pod)
		return ref != nil && ref.UID == run && !Terminal(pod)
	})
}
