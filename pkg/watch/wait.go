package watch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Waited is one run that is waited for, and how that stands.
type Waited struct {
	Name     string       // of the Job, or the name that was asked for while there is none
	Job      *batchv1.Job // nil until it is seen
	UID      types.UID    // the run is pinned to it
	Snapshot status.Snapshot
	Verdict  status.Verdict
	Decision Decision

	news news
}

// Open tells whether waiting for it goes on.
func (w *Waited) Open() bool { return w.Decision.Result == ResultOpen }

// Waiter waits for runs in one namespace.
type Waiter struct {
	Client   *cluster.Client
	Options  WaitOptions
	RetryFor time.Duration // how long the API server may be out of reach
	Once     bool          // look once, do not wait
	Any      bool          // one that ended well is enough
	Min      int           // runs are added as they appear, until there are so many; 0 for no others than those given
	Observed func(*cluster.Observer)
	Changed  func(*Waited)                    // the verdict of an open run changed, or its end was decided
	Added    func(*Waited)                    // a run appeared that Min waits for
	Pinned   func(types.UID)                  // a run has its Job; those given with one come first
	Record   func(status.Snapshot)            // every judged Snapshot; nil is fine
	Moved    func(Advanced)                   // something was done for a held run; nil is fine
	Unable   func(error)                      // it could not be done: told once; nil is fine
	Beat     func(open []*Waited)             // every 30 s without an end
	Lost     func(since time.Time, err error) // the server has been out of reach for 10 s; once for each time
}

const (
	beatInterval = 30 * time.Second
	lostNotice   = 10 * time.Second
	refusedLimit = 10 * time.Second // refused credentials are renewed meanwhile
)

// Wait returns when every run has its result, or with an error: the context's cause, an *cluster.UnreachableError or an
// *cluster.AccessError. It returns the runs, those added included; they hold the last known state in any case.
func (w *Waiter) Wait(ctx context.Context, scope cluster.Scope, runs []*Waited) ([]*Waited, error) {
	watching, stop := context.WithCancel(ctx)
	observer := w.Client.Observe(watching, scope)
	changed := observer.Subscribe()
	defer observer.Wait()
	defer stop()
	l := &waiting{Waiter: w, observer: observer, runs: runs, scope: scope, extras: extras{client: w.Client}}
	for _, run := range runs {
		if run.UID != "" {
			l.pinned(run.UID)
		}
	}
	if w.Observed != nil {
		w.Observed(observer)
	}
	beat := time.NewTicker(beatInterval)
	defer beat.Stop()
	recall := time.NewTimer(time.Hour)
	defer recall.Stop()
	for {
		recall.Reset(l.look(ctx))
		if l.over() {
			return l.runs, nil
		}
		if err := l.contact(); err != nil {
			return l.runs, err
		}
		select {
		case <-ctx.Done():
			return l.runs, l.ended(ctx)
		case <-changed:
		case <-recall.C:
		case <-beat.C:
			if w.Beat != nil {
				w.Beat(l.open())
			}
		}
	}
}

// waiting is the state of one Wait.
type waiting struct {
	*Waiter
	observer *cluster.Observer
	scope    cluster.Scope
	runs     []*Waited
	extras   extras
	advances advances
	looked   bool
	lost     bool
}

func (l *waiting) open() []*Waited {
	return slices.DeleteFunc(slices.Clone(l.runs), func(w *Waited) bool { return !w.Open() })
}

func (l *waiting) over() bool {
	if l.Any && slices.ContainsFunc(l.runs, func(w *Waited) bool { return w.Decision.Result == ResultReached }) {
		return true
	}
	return len(l.open()) == 0 && len(l.runs) >= l.Min || l.Once && l.looked
}

// look judges every open run and returns when to look again if nothing changes.
func (l *waiting) look(ctx context.Context) time.Duration {
	next := time.Second * 5
	if !l.observer.Synced() {
		return time.Second
	}
	l.looked = true
	seen := l.observer.Runs()
	l.add(seen)
	l.extras.begin(len(l.open()))
	l.advance(ctx)
	for _, run := range l.open() {
		observed := l.find(run, seen)
		if observed == nil {
			continue
		}
		if recall := l.judge(ctx, run, *observed, seen); recall > 0 {
			next = min(next, recall)
		}
	}
	return max(next, 10*time.Millisecond)
}

func (l *waiting) pinned(uid types.UID) {
	if l.Pinned != nil {
		l.Pinned(uid)
	}
}

// add takes up runs that were not there at the start, until there are as many as are waited for.
func (l *waiting) add(seen []cluster.Observed) {
	for i := range seen {
		job := seen[i].Job
		if len(l.runs) >= l.Min {
			return
		}
		if seen[i].Deleted || slices.ContainsFunc(l.runs, func(w *Waited) bool { return w.UID == job.UID }) {
			continue
		}
		run := &Waited{Name: job.Name, Job: job, UID: job.UID}
		l.runs = append(l.runs, run)
		l.pinned(run.UID)
		if l.Added != nil {
			l.Added(run)
		}
	}
}

// find returns the pinned run among those observed. A run that is not pinned yet is pinned to the first Job of its name;
// a pinned one that the first list did not have was deleted before the watch began.
func (l *waiting) find(run *Waited, seen []cluster.Observed) *cluster.Observed {
	for i := range seen {
		job := seen[i].Job
		if run.UID == "" && job.Name == run.Name && !seen[i].Deleted {
			run.UID = job.UID
			l.pinned(run.UID)
		}
		if job.UID == run.UID {
			return &seen[i]
		}
	}
	if run.UID == "" || run.Job == nil {
		return nil
	}
	return &cluster.Observed{Job: run.Job, Deleted: true, Gap: true}
}

func (l *waiting) judge(ctx context.Context, run *Waited, seen cluster.Observed, all []cluster.Observed) time.Duration {
	run.Job, run.Name = seen.Job, seen.Job.Name
	run.Snapshot = status.Snapshot{
		Job: seen.Job, Deleted: seen.Deleted, Pods: seen.Pods, PodsHidden: l.observer.PodsHidden(), At: l.Client.Now(),
	}
	l.extras.add(ctx, &run.Snapshot)
	run.Verdict = status.Of(run.Snapshot)
	run.Decision = Decide(run.Snapshot, run.Verdict, l.Options)
	if l.Record != nil {
		l.Record(run.Snapshot)
	}
	if run.Decision.Result == ResultGone {
		l.explainGone(ctx, run, seen, all)
	}
	return soonest(run.Decision.Recall, l.tell(run))
}

// explainGone finds out what is left of a Job that is gone. When the watch was interrupted its last state may be missing:
// its Completed event then tells of success; nothing else is believed.
func (l *waiting) explainGone(ctx context.Context, run *Waited, seen cluster.Observed, all []cluster.Observed) {
	d := &run.Decision
	if seen.Gap {
		d.Remark += "; the connection was interrupted, so the result is unknown"
		events, err := l.Client.Events(ctx, seen.Job.Namespace, "involvedObject.uid="+string(seen.Job.UID))
		completed := func(e corev1.Event) bool { return e.Reason == "Completed" }
		if err == nil && slices.ContainsFunc(events, completed) && l.Options.Goal != GoalFailed {
			*d = Decision{Result: ResultReached, Reason: "Completed", Remark: "its Completed event tells; the Job is already cleaned up"}
			run.Verdict.Phase, run.Verdict.Outcome = status.PhaseSucceeded, status.OutcomeSucceeded
			return
		}
	}
	for _, other := range all {
		if other.Job.Name == run.Name && other.Job.UID != run.UID && !other.Deleted {
			d.Reason = "Replaced"
			d.Remark = fmt.Sprintf("it was deleted and replaced by a new run (uid %s), which is not followed", other.Job.UID)
		}
	}
}

// ended is why waiting ended from outside. A time limit that is over while the server does not answer is a lost contact:
// nobody knows that the run is still going.
func (l *waiting) ended(ctx context.Context) error {
	c := l.observer.Contact()
	if c.Err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &cluster.UnreachableError{Host: l.Client.Host, For: l.Client.Local().Sub(c.Since), Err: c.Err}
	}
	return context.Cause(ctx)
}

// contact gives up when the server does not answer for too long, or refuses.
func (l *waiting) contact() error {
	c := l.observer.Contact()
	if c.Err == nil {
		l.lost = false
		return nil
	}
	away := l.Client.Local().Sub(c.Since)
	var access *cluster.AccessError
	switch {
	case cluster.Untrusted(c.Err) && away >= refusedLimit:
		return &cluster.UnreachableError{Host: l.Client.Host, For: away, Err: c.Err}
	case errors.As(c.Err, &access):
		return access
	case apierrors.IsUnauthorized(c.Err) && away >= refusedLimit:
		return &cluster.AccessError{Err: c.Err}
	case away >= l.RetryFor:
		return &cluster.UnreachableError{Host: l.Client.Host, For: away, Err: c.Err}
	case away >= lostNotice && !l.lost:
		l.lost = true
		if l.Lost != nil {
			l.Lost(c.Since, c.Err)
		}
	}
	return nil
}
