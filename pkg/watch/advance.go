package watch

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Advanced is what a client did for a held run.
type Advanced struct {
	Job  *batchv1.Job // its state then
	What string       // released, ended …: "" when nothing changed
	End  string       // the reason, when it was ended
	Slot SlotMove     // what was done about the slot of its group on the way
}

// Moves tells whether a client can do anything for a run: holds of ours keep it that end by themselves. A restored copy is
// left alone: its holds tell of another life.
func Moves(run *batchv1.Job) bool {
	if !isSuspended(run) || run.DeletionTimestamp != nil || status.Ended(run) || Restored(run) {
		return false
	}
	holds, err := work.ParseHolds(run.Annotations[work.AnnotationHolds])
	if err != nil {
		return false
	}
	paused, is := holds.Find(work.HoldPaused)
	return len(holds) > 0 && (!is || len(holds) > 1 || paused.Until != nil && !paused.Until.Signal)
}

// Known is what was read about what a run waits for, hold by hold.
type Known struct {
	Met   []Met // of each Waiting hold, in their order
	Until bool  // what its pause waits for is there
}

// DecideHeld says what to change of a held run, as a guarded patch; nil for nothing. Only what is certain is acted on.
func DecideHeld(run *batchv1.Job, holds work.Holds, known Known, now time.Time) (patch []byte, what string) {
	var left work.Holds
	values := map[string]string{}
	changed, n := false, 0
	for _, h := range holds {
		switch {
		case h.Type == work.HoldPaused && known.Until:
			changed = true
			continue
		case h.Type == work.HoldWaiting && h.On != nil:
			m := known.Met[n]
			n++
			satisfied, reason, message := DecideDependency(*h.On, m)
			if reason != "" {
				return ended(run, reason, message, now).patch(run), reason + ": " + message
			}
			if satisfied {
				changed = true
				maps.Copy(values, m.Inputs)
				continue
			}
			if m.Run != nil && h.On.UID == "" { // from now on it is that run
				pinned := *h.On
				pinned.Job, pinned.UID = m.Run.Name, m.Run.UID
				h.On, changed = &pinned, true
			}
		}
		left = append(left, h)
	}
	if !changed {
		return nil, ""
	}
	next := released(run, left)
	next.inputs = values
	return next.patch(run), remains(next)
}

// advanceRounds bounds how often a run is looked at anew because somebody else wrote it.
const advanceRounds = 6

// Advance does for one run whatever can be done now: it takes off the holds whose time has come, and moves the slot of its
// group; and first the same for held runs that it depends on, because nobody else may be looking at them. Reads are live,
// every write is guarded; any client may do it at any time.
func Advance(ctx context.Context, c *cluster.Client, run *batchv1.Job) (Advanced, error) {
	return (&advancing{c: c, seen: map[types.UID]bool{}}).run(ctx, run)
}

// advancing is one Advance; seen are the runs that it has looked at, so that a circle ends.
type advancing struct {
	c    *cluster.Client
	seen map[types.UID]bool
}

func (v *advancing) run(ctx context.Context, run *batchv1.Job) (a Advanced, err error) {
	a.Job = run
	v.seen[run.UID] = true
	for range advanceRounds {
		job, err := v.c.Job(ctx, run.Namespace, run.Name)
		if cluster.NotFound(err) || err == nil && job.UID != run.UID {
			return a, nil
		}
		if err != nil {
			return a, err
		}
		a.Job = job
		if !Moves(job) {
			return a, nil
		}
		holds, err := work.ParseHolds(job.Annotations[work.AnnotationHolds])
		if err != nil { // Moves has read them
			return a, err
		}
		known, err := v.know(ctx, job, holds)
		if err != nil {
			return a, err
		}
		if patch, what := DecideHeld(job, holds, known, v.c.Now()); patch != nil {
			job, err = v.c.PatchJob(ctx, job.Namespace, job.Name, patch, false)
			if lost(err) {
				continue
			}
			if err != nil {
				return a, err
			}
			a.Job, a.What, a.End = job, what, endReason(job)
		}
		return a, a.slot(ctx, v.c)
	}
	return a, fmt.Errorf("job/%s is written by somebody else all the time", run.Name)
}

// endReason is why we ended a run, "" when we did not.
func endReason(run *batchv1.Job) string {
	recorded, err := work.ParseStatus(run.Annotations[work.AnnotationStatus])
	if err != nil || recorded.Ended() == nil {
		return ""
	}
	return recorded.Ended().Reason
}

// slot moves the slot of a run that is in line.
func (a *Advanced) slot(ctx context.Context, c *cluster.Client) error {
	slot, grouped := SlotOf(a.Job)
	if !grouped || !status.InLine(a.Job) {
		return nil
	}
	var err error
	a.Slot, err = slot.Move(ctx, c)
	for _, run := range a.Slot.Released {
		if run.UID == a.Job.UID {
			a.Job, a.What = run, "released"
		}
	}
	return err
}

// know reads what the holds of a run wait for.
func (v *advancing) know(ctx context.Context, run *batchv1.Job, holds work.Holds) (known Known, err error) {
	for _, h := range holds {
		switch {
		case h.Type == work.HoldWaiting && h.On != nil:
			m, err := meet(ctx, v.c, run, *h.On)
			if err != nil {
				return known, err
			}
			if m.Run != nil && Moves(m.Run) && !v.seen[m.Run.UID] {
				if _, err := v.run(ctx, m.Run); err != nil {
					return known, err
				}
			}
			known.Met = append(known.Met, m)
		case h.Type == work.HoldPaused && h.Until != nil:
			if known.Until, err = untilOver(ctx, v.c, run, *h.Until); err != nil {
				return known, err
			}
		}
	}
	return known, nil
}

// untilOver tells whether a pause is over: its time has come, or what it waits for is there.
func untilOver(ctx context.Context, c *cluster.Client, run *batchv1.Job, u work.Until) (bool, error) {
	if u.After != nil && !c.Now().Before(u.After.Time) {
		return true, nil
	}
	if u.When == nil {
		return false, nil
	}
	object, err := c.Object(ctx, u.When.APIVersion, u.When.Kind, run.Namespace, u.When.Name)
	if cluster.NotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return Holds(*u.When, object)
}

const (
	advancePause = 2 * time.Second // between looks at what a held run waits for
	advanceBound = 5 * time.Second // a look at one run: waiting for the others must go on
	advanceRuns  = 4               // runs that are looked at in one go
)

// advances paces what a waiting client does for held runs.
type advances struct {
	last   map[any]time.Time // of a run, or of a slot that several of them wait for
	unable bool
}

// due tells whether it is time to look at a run, and notes that it is looked at.
func (a *advances) due(run *batchv1.Job, now time.Time) bool {
	var key any = run.UID
	if slot, grouped := SlotOf(run); grouped && status.InLine(run) {
		key = slot
	}
	if last, looked := a.last[key]; looked && now.Sub(last) < advancePause {
		return false
	}
	if a.last == nil {
		a.last = map[any]time.Time{}
	}
	a.last[key] = now
	return true
}

// advance does what can be done for the held runs among those that are waited for. Whoever waits for a run keeps it going.
func (l *waiting) advance(ctx context.Context) {
	n := 0
	for _, run := range l.open() {
		if n == advanceRuns {
			return
		}
		if run.Job == nil || !Moves(run.Job) || !l.advances.due(run.Job, l.Client.Local()) {
			continue
		}
		n++
		bounded, cancel := context.WithTimeout(ctx, advanceBound)
		a, err := Advance(bounded, l.Client, run.Job)
		cancel()
		var access *cluster.AccessError
		switch {
		case errors.As(err, &access) && !l.advances.unable && l.Unable != nil:
			l.advances.unable = true
			l.Unable(err)
		case err == nil && l.Moved != nil && (a.What != "" || len(a.Slot.Stopped) > 0):
			l.Moved(a)
		}
	}
}
