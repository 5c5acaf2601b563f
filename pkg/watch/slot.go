package watch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Slot is what one group's runs take turns with: a Lease whose holder is a run. A compare-and-swap on one Job cannot order
// two of them. The Lease only says whose turn it is: that a run has ended is read from the run.
type Slot struct {
	Namespace, Tenant, Group string
}

// SlotOf is the slot of a run's group; false when it has none.
func SlotOf(run *batchv1.Job) (Slot, bool) {
	s := Slot{Namespace: run.Namespace, Tenant: run.Labels[work.LabelTenant], Group: run.Labels[work.LabelGroup]}
	return s, s.Group != ""
}

// Lease is the name of the slot's Lease.
func (s Slot) Lease() string {
	sum := sha256.Sum256([]byte(s.Tenant + "/" + s.Group))
	const digits = 10
	return "kubectl-work-slot-" + hex.EncodeToString(sum[:])[:digits]
}

// labels select the runs of the group, and their Pods.
func (s Slot) labels() labels.Set {
	set := labels.Set{work.LabelGroup: s.Group}
	if s.Tenant != "" {
		set[work.LabelTenant] = s.Tenant
	}
	return set
}

// holder is a run in the form that a Lease stores.
func holder(run *batchv1.Job) string { return run.Name + "/" + string(run.UID) }

func parseHolder(text string) (name string, uid types.UID) {
	name, id, _ := strings.Cut(text, "/")
	return name, types.UID(id)
}

// HolderIn is the run of a Lease's holder among Jobs, nil when it is not there.
func HolderIn(holder, namespace string, jobs []*batchv1.Job) *batchv1.Job {
	name, uid := parseHolder(holder)
	for _, job := range jobs {
		if job.Namespace == namespace && job.Name == name && job.UID == uid {
			return job
		}
	}
	return nil
}

// SlotState is what was read about a slot, the Lease first.
type SlotState struct {
	Holder string // of the Lease, "" for none
	Runs   []*batchv1.Job
	Held   *batchv1.Job // the holder's Job, nil when it is gone
	Pods   []*corev1.Pod
}

// SlotDecision is what to do about a slot. Nothing is set when the holder goes on, or nobody waits.
type SlotDecision struct {
	Stop     []*batchv1.Job // older runs whose place the newest takes
	Newest   *batchv1.Job   // for whom they are stopped
	Take     *batchv1.Job   // the next holder
	Release  *batchv1.Job   // the holder, which has not started yet
	Intruder bool           // Take was started past the line
}

// DecideSlot decides by the facts that last: a run that has ended never goes on, so a slow client that acts on an old look
// can only start a run whose turn it is.
func DecideSlot(s SlotState) SlotDecision {
	var d SlotDecision
	if len(s.Runs) > 0 {
		d.Newest = status.Replacing(s.Runs, s.Runs[0])
	}
	if d.Newest != nil {
		for _, run := range s.Runs {
			if run.UID != d.Newest.UID && !status.Ended(run) && !ending(run) {
				d.Stop = append(d.Stop, run)
			}
		}
	}
	name, uid := parseHolder(s.Holder)
	over := func(run *batchv1.Job, id types.UID) bool {
		return (run == nil || run.UID != id || status.Ended(run)) && !status.Busy(s.Pods, id)
	}
	if name != "" && !over(s.Held, uid) {
		if s.Held != nil && s.Held.UID == uid && status.InLine(s.Held) {
			d.Release = s.Held
		}
		return d
	}
	if len(s.Runs) == 0 {
		return d
	}
	for _, run := range status.Holders(s.Runs, s.Runs[0]) {
		d.Take, d.Intruder = run, true
		return d
	}
	if line := status.Line(s.Runs, s.Runs[0]); len(line) > 0 {
		d.Take, d.Release = line[0], line[0]
	}
	return d
}

// ending tells whether we have ended a run already, and the Job controller has not recorded it yet.
func ending(run *batchv1.Job) bool {
	s := run.Spec.ActiveDeadlineSeconds
	recorded, err := work.ParseStatus(run.Annotations[work.AnnotationStatus])
	return s != nil && *s == 0 && err == nil && recorded.Ended() != nil
}

// SlotMove is what a client did about a slot.
type SlotMove struct {
	Released []*batchv1.Job
	Stopped  []*batchv1.Job
	Intruder *batchv1.Job
}

// slotRounds bounds how often a slot is looked at anew because another client was quicker.
const slotRounds = 10

// Move looks at a slot, decides, and acts, until nothing is left to do. Any client may do it at any time: every write is
// guarded, and a kill between two of them is made up for by whoever comes next.
func (s Slot) Move(ctx context.Context, c *cluster.Client) (moved SlotMove, err error) {
	for range slotRounds {
		again, err := s.step(ctx, c, &moved)
		if err != nil || !again {
			return moved, err
		}
	}
	return moved, fmt.Errorf("others write the Lease %s or its runs all the time", s.Lease())
}

// step is one round; again asks for another one.
func (s Slot) step(ctx context.Context, c *cluster.Client, moved *SlotMove) (again bool, err error) {
	lease, err := c.Lease(ctx, s.Namespace, s.Lease(), s.labels())
	if err != nil {
		return false, err
	}
	state := SlotState{}
	if h := lease.Spec.HolderIdentity; h != nil {
		state.Holder = *h
	}
	if err := s.read(ctx, c, &state); err != nil {
		return false, err
	}
	d := DecideSlot(state)
	for _, run := range d.Stop {
		message := fmt.Sprintf("a newer run of its group took over: job/%s", d.Newest.Name)
		_, err := c.PatchJob(ctx, run.Namespace, run.Name, ended(run, work.ReasonReplaced, message, c.Now()).patch(run), false)
		if lost(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		moved.Stopped = append(moved.Stopped, run)
	}
	if d.Take != nil {
		_, err := c.HoldLease(ctx, lease, holder(d.Take))
		if lost(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	if d.Intruder {
		moved.Intruder = d.Take
	}
	if d.Release == nil {
		return false, nil
	}
	holds, err := work.ParseHolds(d.Release.Annotations[work.AnnotationHolds])
	if err != nil { // it would not be in line
		return false, err
	}
	run, err := c.PatchJob(ctx, d.Release.Namespace, d.Release.Name, released(d.Release, holds.Without(work.HoldQueued)).patch(d.Release), false)
	if lost(err) {
		return true, nil
	}
	if err == nil {
		moved.Released = append(moved.Released, run)
	}
	return false, err
}

// Runs lists the runs of the group.
func (s Slot) Runs(ctx context.Context, c *cluster.Client) ([]batchv1.Job, error) {
	jobs, err := c.Jobs(ctx, s.Namespace, s.labels().String())
	return slices.DeleteFunc(jobs, func(run batchv1.Job) bool { return run.Labels[work.LabelTenant] != s.Tenant }), err
}

// read completes a state, all live: the holder before its Pods, so that one that has ended is known to make no more; the runs
// beside them, because a list may wait for the server's cache.
func (s Slot) read(ctx context.Context, c *cluster.Client, state *SlotState) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		runs, err := s.Runs(ctx, c)
		for i := range runs {
			state.Runs = append(state.Runs, &runs[i])
		}
		return err
	})
	group.Go(func() error { return s.readHolder(ctx, c, state) })
	return group.Wait()
}

func (s Slot) readHolder(ctx context.Context, c *cluster.Client, state *SlotState) error {
	name, _ := parseHolder(state.Holder)
	if name == "" {
		return nil
	}
	held, err := c.Job(ctx, s.Namespace, name)
	switch {
	case cluster.NotFound(err):
	case err != nil:
		return err
	default:
		state.Held = held
	}
	state.Pods, err = c.PodsWith(ctx, s.Namespace, s.labels().String())
	return err
}

// lost tells of a write whose object changed, or went, since it was read: another look is needed.
func lost(err error) bool { return cluster.Conflict(err) || cluster.NotFound(err) }
