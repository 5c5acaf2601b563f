package watch

import (
	"context"
	"errors"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Loop is the reconcile loop: it keeps status, ownership, lines and dependencies of the runs in its scope true, as long as it
// runs. Several loops may run beside each other: every write is guarded, and Acting lets all but one of them only look.
type Loop struct {
	Client  *cluster.Client
	Scope   cluster.Scope
	Wanted  func(*batchv1.Job) bool // which runs in scope it is about; nil: all
	Workers int                     // passes at the same time
	Acting  func() bool             // nil: always
	Changed func(Changed)           // the verdict of a run changed; one call at a time
	Did     func(Done)              // something was done about a run, or could not be; one call at a time
	Passed  func(Pass)              // a pass was made; nil is fine
	Started func()                  // called once, before the first pass; nil is fine
	Over    func() (bool, error)    // asked ten times a second whether to end; nil: never

	state loopState
}

// Changed is a run whose verdict changed.
type Changed struct {
	Job     *batchv1.Job
	Verdict status.Verdict
	Deleted bool
	At      time.Time
}

// Done is something that the loop did, or failed to do.
type Done struct {
	Job    *batchv1.Job
	Action Action
	What   string // in a few words
	Err    error
	At     time.Time
}

// Pass is how one pass went.
type Pass struct {
	Delay time.Duration // from the change that made it necessary to its start
	Took  time.Duration
	Err   error
}

// key is what one pass is about: a run, or the slot of a group.
type key struct {
	run  types.UID
	slot Slot
}

// The queue's pauses after a failed pass.
const (
	firstPause = 10 * time.Millisecond
	mostPause  = 10 * time.Second
)

// loopState is what a running Loop holds.
type loopState struct {
	observer *cluster.Observer
	queue    workqueue.TypedRateLimitingInterface[key]
	around   surroundings
	memories memories

	mu      sync.Mutex
	asked   map[key]time.Time    // since when a pass is due
	busy    int                  // passes that are being made
	failing map[key]error        // passes that will be tried again
	wrote   map[types.UID]string // resourceVersion of our own last write
	told    map[types.UID]*news  // what Changed was last called with
	calls   sync.Mutex           // around callbacks
}

// Run follows the scope until ctx ends, or Over says so. It returns the cause of ctx, what Over said, an *cluster.AccessError, or
// an *cluster.UnreachableError when the server stays away for retryFor.
func (l *Loop) Run(ctx context.Context, retryFor time.Duration) error {
	watching, stop := context.WithCancel(ctx)
	l.start(watching)
	if l.Started != nil {
		l.Started()
	}
	var workers sync.WaitGroup
	workers.Go(func() {
		if !l.ready(watching) {
			return
		}
		for range max(l.Workers, 1) {
			workers.Go(func() { l.work(watching) })
		}
	})
	err := l.guard(ctx, retryFor)
	stop()
	l.state.queue.ShutDown()
	workers.Wait()
	l.state.observer.Wait()
	return err
}

// ready returns when everything in scope was read and is known to each other: a run that waits for one that is not read yet
// would look lost. False when ctx ended before.
func (l *Loop) ready(ctx context.Context) bool {
	changed := l.state.observer.Subscribe()
	tick := time.NewTicker(guardPause)
	defer tick.Stop()
	for !l.state.observer.Synced() {
		select {
		case <-ctx.Done():
			return false
		case <-changed:
		case <-tick.C:
		}
	}
	for _, seen := range l.state.observer.Runs() {
		l.state.around.note(seen)
	}
	return true
}

func (l *Loop) start(ctx context.Context) {
	l.state.wrote, l.state.told = map[types.UID]string{}, map[types.UID]*news{}
	l.state.asked, l.state.failing = map[key]time.Time{}, map[key]error{}
	l.state.queue = workqueue.NewTypedRateLimitingQueue(workqueue.NewTypedItemExponentialFailureRateLimiter[key](firstPause, mostPause))
	l.state.around.init()
	scope := l.Scope
	scope.Trim = trim
	scope.Changed = func(run types.UID) { l.add(key{run: run}) }
	l.state.observer = l.Client.Observe(ctx, scope)
}

// add asks for a pass.
func (l *Loop) add(k key) {
	l.state.mu.Lock()
	if _, due := l.state.asked[k]; !due {
		l.state.asked[k] = l.Client.Local()
	}
	l.state.mu.Unlock()
	l.state.queue.Add(k)
}

// Again asks for a pass over every run: whoever may act only now has to look at all of them. Before Run it does nothing.
func (l *Loop) Again() {
	if l.state.observer == nil {
		return
	}
	for _, seen := range l.state.observer.Runs() {
		l.add(key{run: seen.Job.UID})
	}
}

// guard returns when ctx ends, Over says so, or contact is lost for good.
func (l *Loop) guard(ctx context.Context, retryFor time.Duration) error {
	tick := time.NewTicker(guardPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-tick.C:
		}
		if l.Over != nil {
			if over, err := l.Over(); over {
				return err
			}
		}
		c := l.state.observer.Contact()
		if c.Err == nil {
			continue
		}
		away := l.Client.Local().Sub(c.Since)
		var access *cluster.AccessError
		switch {
		case errors.As(c.Err, &access):
			return access
		case apierrors.IsUnauthorized(c.Err) && away >= refusedLimit:
			return &cluster.AccessError{Err: c.Err}
		case away >= retryFor:
			return &cluster.UnreachableError{Host: l.Client.Host, For: away, Err: c.Err}
		}
	}
}

const guardPause = 100 * time.Millisecond

// work takes keys until the queue is shut down.
func (l *Loop) work(ctx context.Context) {
	for {
		k, down := l.state.queue.Get()
		if down {
			return
		}
		delay, start := l.begin(k), l.Client.Local()
		again, err := l.pass(ctx, k)
		l.end(k, err)
		l.state.queue.Done(k)
		if ctx.Err() != nil {
			continue
		}
		if l.Passed != nil {
			l.Passed(Pass{Delay: delay, Took: l.Client.Local().Sub(start), Err: err})
		}
		if err != nil {
			l.state.queue.AddRateLimited(k)
			continue
		}
		l.state.queue.Forget(k)
		if again > 0 {
			l.state.queue.AddAfter(k, again)
		}
	}
}

// begin notes that a pass is being made, and returns how long it was due.
func (l *Loop) begin(k key) (delay time.Duration) {
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	l.state.busy++
	if since, due := l.state.asked[k]; due {
		delay = l.Client.Local().Sub(since)
		delete(l.state.asked, k)
	}
	return delay
}

func (l *Loop) end(k key, err error) {
	l.state.mu.Lock()
	defer l.state.mu.Unlock()
	l.state.busy--
	delete(l.state.failing, k)
	if err != nil {
		l.state.failing[k] = err
	}
}

// Lost is since when the API server does not answer, zero when it does.
func (l *Loop) Lost() time.Time {
	if l.state.observer == nil {
		return time.Time{}
	}
	return l.state.observer.Contact().Since
}
