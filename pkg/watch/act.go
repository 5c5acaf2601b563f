package watch

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

// Event is what an Event about it says; no reason when none is worth it. What failed is tried again, and no Event.
func (d Done) Event() (kind, reason, message string) {
	if d.Job == nil || d.Err != nil {
		return "", "", ""
	}
	kind, message = corev1.EventTypeNormal, d.What
	switch a := d.Action.(type) {
	case DropHolds:
		reason = "HoldsDropped"
	case MoveOn:
		reason = "Moved"
	case End:
		kind, reason = corev1.EventTypeWarning, a.Reason
	case AddOwner:
		reason = "OwnerAdded"
	case Remember:
		reason = "Remembered"
	case RemoveFinalizer:
		reason = "FinalizerRemoved"
	case Delete:
		reason = "Deleted"
	case WriteStatus:
	}
	return kind, reason, message
}

// act does one action. A conflict is no error: the event of the other write brings the next pass.
func (l *Loop) act(ctx context.Context, job *batchv1.Job, next Action) (did bool, err error) {
	next, what, err := l.do(ctx, job, next)
	if lost(err) {
		return false, nil
	}
	if what != "" || err != nil {
		l.did(Done{Job: job, Action: next, What: what, Err: err, At: l.Client.Now()})
	}
	_, quiet := next.(WriteStatus)
	return what != "" || quiet, err
}

// do returns what was done: a look may end a run.
func (l *Loop) do(ctx context.Context, job *batchv1.Job, next Action) (did Action, what string, err error) {
	did = next
	switch a := next.(type) {
	case DropHolds:
		what, err = "its holds are dropped: somebody else has started it", l.write(ctx, job, WithoutHolds(job))
	case End:
		what, err = a.Reason+": "+a.Message, l.write(ctx, job, ended(job, a.Reason, a.Message, l.Client.Now()).patch(job))
	case WriteStatus:
		err = l.write(ctx, job, change{status: &a.Status}.patch(job))
	case RemoveFinalizer:
		var left *batchv1.Job
		if left, err = l.Client.RemoveFinalizer(ctx, job, work.FinalizerCleanup); err == nil && left.DeletionTimestamp == nil {
			l.written(left)
		}
		what = "its finalizer is taken off"
	case Delete:
		what = fmt.Sprintf("deleted (%s): its time to live is over", a.Propagation)
		err = l.Client.DeleteJob(ctx, job, a.Propagation, false)
	case AddOwner:
		what, err = l.addOwner(ctx, job)
	case Remember:
		if what, err = l.remember(ctx, job); err == nil {
			l.add(key{run: job.UID}) // nothing of the run changed that would bring the next pass
		}
	case MoveOn:
		var moved Advanced
		moved, err = Advance(ctx, l.Client, job)
		l.moved(moved.Slot)
		if moved.Job != nil && moved.Job.UID == job.UID && moved.What != "" {
			l.written(moved.Job)
		}
		if what = moved.What; moved.End != "" {
			did = End{Reason: moved.End}
		}
	}
	return did, what, err
}

// write sends a patch and remembers what it made, so that the next pass does not decide on something older.
func (l *Loop) write(ctx context.Context, job *batchv1.Job, patch []byte) error {
	made, err := l.Client.PatchJob(ctx, job.Namespace, job.Name, patch, false)
	if err == nil {
		l.written(made)
	}
	return err
}

// addOwner adds the owner reference that is missing, of a run that we made. A second controller is never added.
func (l *Loop) addOwner(ctx context.Context, job *batchv1.Job) (string, error) {
	w, _, err := mapping.DecodeSpec(job)
	if err != nil {
		return "", err
	}
	owner, err := ResolveOwner(ctx, l.Client, w, job, true)
	if err != nil || owner == nil {
		return "", err
	}
	refs := append(slices.Clone(job.OwnerReferences), owner.Reference)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"uid": job.UID, "resourceVersion": job.ResourceVersion, "ownerReferences": refs}})
	if err != nil {
		return "", fmt.Errorf("encode owner: %w", err)
	}
	return fmt.Sprintf("owned by %s/%s again", owner.Reference.Kind, owner.Reference.Name), l.write(ctx, job, patch)
}

// passSlot moves a slot when the copies say that it may be moved; what is written is decided on live reads.
func (l *Loop) passSlot(ctx context.Context, slot Slot) (again time.Duration, err error) {
	if l.Acting != nil && !l.Acting() || !l.state.around.free(slot) {
		return 0, nil
	}
	moved, err := slot.Move(ctx, l.Client)
	l.moved(moved)
	if err != nil && cluster.Denied(err) {
		l.did(Done{What: "group " + slot.Group, Err: err, At: l.Client.Now()})
		return time.Minute, nil
	}
	if err == nil && len(moved.Released) == 0 && len(moved.Stopped) == 0 { // the copies were ahead of what is live, or behind
		again = outOfScope
	}
	return again, err
}

// moved tells what became of the runs of a slot.
func (l *Loop) moved(m SlotMove) {
	for _, run := range m.Stopped {
		l.did(Done{Job: run, Action: End{Reason: work.ReasonReplaced}, What: "stopped: a newer run of its group takes its place", At: l.Client.Now()})
	}
	for _, run := range m.Released {
		l.written(run)
		l.did(Done{Job: run, Action: MoveOn{}, What: "released: it is its turn", At: l.Client.Now()})
	}
	if m.Intruder != nil {
		l.did(Done{Job: m.Intruder, Action: MoveOn{}, What: "it was started past the line, and has the turn", At: l.Client.Now()})
	}
}
