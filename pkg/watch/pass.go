package watch

import (
	"context"
	"maps"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// pass looks at one run or slot, decides, and acts. A settled one sends no request.
func (l *Loop) pass(ctx context.Context, k key) (again time.Duration, err error) {
	if k.slot != (Slot{}) {
		return l.passSlot(ctx, k.slot)
	}
	seen, there := l.state.observer.Run(k.run)
	if !there {
		return 0, nil
	}
	if l.behind(seen.Job) { // our own write is not seen yet: the next event brings it
		return time.Second, nil
	}
	for _, other := range l.state.around.note(seen) {
		l.add(other)
	}
	if l.Wanted != nil && !l.Wanted(seen.Job) {
		if seen.Deleted {
			l.forget(k.run)
		}
		return 0, nil
	}
	s, v := l.judge(seen)
	young := l.tell(Changed{Job: seen.Job, Verdict: v, Deleted: seen.Deleted, At: s.At})
	if seen.Deleted {
		l.forget(k.run)
		return 0, nil
	}
	if l.Acting != nil && !l.Acting() {
		return young, nil
	}
	around := l.state.around.of(seen.Job, s.At)
	around.Young, around.Kept = young > 0, l.state.memories.has(seen.Job.UID)
	next, again := DecideRun(s, v, around)
	again = soonest(again, young)
	if next == nil {
		return again, nil
	}
	did, err := l.act(ctx, seen.Job, next)
	if !did { // what it waits for may not be as far as it looked
		again = soonest(again, outOfScope)
	}
	return again, err
}

// judge makes a verdict from what was seen, and from the runs that a held one waits for.
func (l *Loop) judge(seen cluster.Observed) (status.Snapshot, status.Verdict) {
	s := status.Snapshot{Job: seen.Job, Deleted: seen.Deleted, Pods: seen.Pods, PodsHidden: l.state.observer.PodsHidden(), EventsHidden: true, At: l.Client.Now()}
	if waitsForRuns(seen.Job) {
		s.Related = l.state.around.related(seen.Job)
	}
	return s, status.Of(s)
}

// behind tells whether a run is older than our own last write of it.
func (l *Loop) behind(job *batchv1.Job) bool {
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	wrote := l.state.wrote[job.UID]
	if wrote == "" {
		return false
	}
	order, err := resourceversion.CompareResourceVersion(job.ResourceVersion, wrote)
	if err == nil && order < 0 {
		return true
	}
	delete(l.state.wrote, job.UID)
	return false
}

// written notes our own write of a run.
func (l *Loop) written(job *batchv1.Job) {
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	l.state.wrote[job.UID] = job.ResourceVersion
}

func (l *Loop) forget(run types.UID) {
	l.state.observer.Forget(run)
	l.state.around.forget(run)
	l.state.memories.forget(run)
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	delete(l.state.wrote, run)
	delete(l.state.told, run)
}

// tell calls Changed for news that lasts, and returns when to look again at news that is too young.
func (l *Loop) tell(c Changed) time.Duration {
	l.state.mu.Lock()
	n := l.state.told[c.Job.UID]
	if n == nil {
		n = &news{}
		l.state.told[c.Job.UID] = n
	}
	final := c.Deleted || c.Verdict.Phase.Finished() && (!n.wasTold || changed(n.told, c.Verdict))
	tell, left := n.due(c.Verdict, final, l.Client.Local())
	l.state.mu.Unlock()
	if tell && l.Changed != nil {
		l.state.calls.Lock()
		defer l.state.calls.Unlock()
		l.Changed(c)
	}
	return left
}

// did calls Did.
func (l *Loop) did(d Done) {
	if l.Did != nil {
		l.state.calls.Lock()
		defer l.state.calls.Unlock()
		l.Did(d)
	}
}

// Runs are the runs that the loop is about as last seen, judged, in order of their names.
func (l *Loop) Runs() []Changed {
	var all []Changed
	for _, seen := range l.state.observer.Runs() {
		if seen.Deleted || l.Wanted != nil && !l.Wanted(seen.Job) {
			continue
		}
		s, v := l.judge(seen)
		all = append(all, Changed{Job: seen.Job, Verdict: v, At: s.At})
	}
	return all
}

// Synced tells whether everything in scope was read once.
func (l *Loop) Synced() bool { return l.state.observer != nil && l.state.observer.Synced() }

// Queued is how many passes are due.
func (l *Loop) Queued() int { return l.state.queue.Len() }

// Settled tells whether everything in scope was read, looked at, and is as it should be, as far as it could be done; failing
// are the passes that will be tried again.
func (l *Loop) Settled() (settled bool, failing []error) {
	if !l.Synced() || l.state.queue.Len() > 0 {
		return false, nil
	}
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	return l.state.busy == 0 && len(l.state.asked) == 0 && len(l.state.wrote) == 0, slices.Collect(maps.Values(l.state.failing))
}

// waitsForRuns tells whether a held run depends on other runs.
func waitsForRuns(job *batchv1.Job) bool {
	if !isSuspended(job) {
		return false
	}
	holds, err := work.ParseHolds(job.Annotations[work.AnnotationHolds])
	_, is := holds.Find(work.HoldWaiting)
	return err == nil && is
}
