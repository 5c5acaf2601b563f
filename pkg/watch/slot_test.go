package watch_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// grouped is a run of group g, by default one that goes on. Its uid is its name.
func grouped(name string, edits ...func(*batchv1.Job)) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(name), Labels: map[string]string{work.LabelGroup: "g"}, CreationTimestamp: metav1.NewTime(time.Unix(1000, 0)),
	}}
	for _, edit := range edits {
		edit(job)
	}
	return job
}

func after(seconds int64) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.CreationTimestamp = metav1.NewTime(time.Unix(1000+seconds, 0)) }
}

func holds(all ...work.Hold) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Spec.Suspend = new(true)
		metav1.SetMetaDataAnnotation(&j.ObjectMeta, work.AnnotationHolds, work.Holds(all).String())
	}
}

func inLine(policy string, priority int32) func(*batchv1.Job) {
	return holds(work.Hold{Type: work.HoldQueued, Group: "g", Policy: policy, Priority: priority})
}

func ended(j *batchv1.Job) {
	j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{Type: batchv1.JobComplete, Status: corev1.ConditionTrue})
}

func pod(owner string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{{UID: types.UID(owner), Controller: new(true)}}},
		Status:     corev1.PodStatus{Phase: phase},
	}
}

func TestDecideSlot(t *testing.T) {
	t.Parallel()
	forbid, replace := inLine("Forbid", 0), inLine("Replace", 0)
	paused := holds(work.Hold{Type: work.HoldPaused})
	deleted := func(j *batchv1.Job) { j.DeletionTimestamp = new(metav1.Now()) }
	for _, test := range []struct {
		because string
		holder  string
		held    *batchv1.Job
		runs    []*batchv1.Job
		pods    []*corev1.Pod
		take    string
		release string
		stop    []string
	}{
		{because: "nobody is there"},
		{because: "the first takes an empty slot", runs: []*batchv1.Job{grouped("a", forbid)}, take: "a", release: "a"},
		{because: "the older goes first", runs: []*batchv1.Job{grouped("b", forbid, after(5)), grouped("c", forbid, after(1))}, take: "c", release: "c"},
		{because: "a higher priority goes first", runs: []*batchv1.Job{grouped("a", forbid), grouped("b", inLine("Forbid", 3), after(9))}, take: "b", release: "b"},
		{because: "of one second the uid decides", runs: []*batchv1.Job{grouped("b", forbid), grouped("a", forbid)}, take: "a", release: "a"},
		{because: "the holder goes on", holder: "a/a", held: grouped("a"), runs: []*batchv1.Job{grouped("a"), grouped("b", forbid)}},
		{because: "a kill after the Lease was taken is made up for", holder: "a/a", held: grouped("a", forbid), runs: []*batchv1.Job{grouped("a", forbid)}, release: "a"},
		{because: "the holder has ended", holder: "a/a", held: grouped("a", ended), runs: []*batchv1.Job{grouped("a", ended), grouped("b", forbid)}, take: "b", release: "b"},
		{because: "the holder has ended, but a Pod of it runs", holder: "a/a", held: grouped("a", ended), runs: []*batchv1.Job{grouped("b", forbid)}, pods: []*corev1.Pod{pod("a", corev1.PodRunning)}},
		{because: "the holder is gone", holder: "a/a", runs: []*batchv1.Job{grouped("b", forbid)}, pods: []*corev1.Pod{pod("a", corev1.PodFailed)}, take: "b", release: "b"},
		{because: "the holder is gone, but a Pod of it runs", holder: "a/a", runs: []*batchv1.Job{grouped("b", forbid)}, pods: []*corev1.Pod{pod("a", corev1.PodRunning)}},
		{because: "another Job has the holder's name", holder: "a/old", held: grouped("a"), runs: []*batchv1.Job{grouped("a", forbid)}, take: "a", release: "a"},
		{because: "a paused holder keeps its turn", holder: "a/a", held: grouped("a", paused), runs: []*batchv1.Job{grouped("a", paused), grouped("b", forbid)}},
		{because: "a paused run keeps its turn although the Lease was lost", runs: []*batchv1.Job{grouped("a", paused), grouped("b", forbid)}, take: "a"},
		{because: "a run that somebody started takes the turn", runs: []*batchv1.Job{grouped("a", forbid), grouped("b", after(5))}, take: "b"},
		{
			because: "what waits for something else is not in line", take: "b", release: "b",
			runs: []*batchv1.Job{grouped("a", holds(work.Hold{Type: work.HoldQueued}, work.Hold{Type: work.HoldWaiting})), grouped("b", forbid, after(5))},
		},
		{because: "what is being deleted is not in line", runs: []*batchv1.Job{grouped("a", forbid, deleted), grouped("b", forbid, after(5))}, take: "b", release: "b"},
		{
			because: "the newest replaces those that are older, once", holder: "a/a", held: grouped("a"), stop: []string{"a", "b"},
			runs: []*batchv1.Job{grouped("a"), grouped("b", replace, after(1)), grouped("c", replace, after(2))},
		},
		{because: "the one that was replaced is over", holder: "a/a", held: grouped("a", ended), runs: []*batchv1.Job{grouped("a", ended), grouped("c", replace, after(2))}, take: "c", release: "c"},
	} {
		t.Run(test.because, func(t *testing.T) {
			t.Parallel()
			d := watch.DecideSlot(watch.SlotState{Holder: test.holder, Held: test.held, Runs: test.runs, Pods: test.pods})
			name := func(job *batchv1.Job) string {
				if job == nil {
					return ""
				}
				return job.Name
			}
			var stop []string
			for _, run := range d.Stop {
				stop = append(stop, run.Name)
			}
			require.Equal(t, fmt.Sprint(test.take, test.release, test.stop), fmt.Sprint(name(d.Take), name(d.Release), stop))
		})
	}
}
