package cluster

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Scope says which Jobs an Observer follows.
type Scope struct {
	Namespace string       // "" for all
	Name      string       // one Job, "" for several
	Selector  string       // label selector, for several
	Seed      *batchv1.Job // the Job of Name as it was just read: nothing that happens after it is missed

	Trim    func(object any)    // takes off each Job and Pod what nobody will look at; nil keeps everything
	Changed func(run types.UID) // a Job, or a Pod that it controls, changed; it must not block. nil is fine
}

// Observed is one Job and its Pods as last seen. The objects are shared: nobody may change them.
type Observed struct {
	Job     *batchv1.Job
	Deleted bool // gone; Job is its last state as the watch delivered it
	Gap     bool // gone, but the watch was interrupted: Job may not be its last state
	Pods    []*corev1.Pod
}

// Contact says whether the server answers.
type Contact struct {
	Since time.Time // of the first failure in a row, zero when all is well
	Err   error     // the newest failure
}

// Observer follows Jobs and their Pods. It keeps the last state of each and tells that something changed; it does not
// keep every step in between, but it never misses how a Job ended: a deletion keeps the state that came with it.
type Observer struct {
	client *Client
	scope  Scope
	done   sync.WaitGroup

	mu         sync.Mutex
	changed    []chan struct{} // one a subscriber
	jobs       map[types.UID]*Observed
	pods       map[types.UID]*corev1.Pod
	owned      map[types.UID]map[types.UID]*corev1.Pod // pods by the Job that controls them
	jobsSynced time.Time                               // zero until they are
	podsSynced bool
	podsHidden bool
	podsWatch  bool // the Pod watch was started
	contacts   map[string]Contact
	cancel     context.CancelFunc
}

// Observe starts to follow a scope until ctx ends. Wait joins its goroutines.
func (c *Client) Observe(ctx context.Context, scope Scope) *Observer {
	o := &Observer{
		client: c, scope: scope,
		jobs: map[types.UID]*Observed{}, pods: map[types.UID]*corev1.Pod{}, owned: map[types.UID]map[types.UID]*corev1.Pod{}, contacts: map[string]Contact{},
	}
	o.spawn(func() { o.watchJobs(ctx, scope.Seed) })
	if scope.Seed != nil {
		o.seed(ctx, scope.Seed)
	} else if scope.Name == "" {
		o.startPods(ctx, "")
	}
	o.spawn(func() { o.lookAgain(ctx) })
	return o
}

// Wait returns when everything that Observe started has ended; the context must have ended.
func (o *Observer) Wait() { o.done.Wait() }

// patience is how long a verdict waits for Pods once the Jobs are known: conditions decide, Pods only explain.
const patience = 3 * time.Second

// Synced tells whether the Jobs, and the Pods where they may be seen and come soon, were read once.
func (o *Observer) Synced() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return !o.jobsSynced.IsZero() && (o.podsSynced || o.podsHidden || !o.podsWatch || o.client.options.Now().Sub(o.jobsSynced) > patience)
}

// PodsHidden tells whether the caller may not list Pods.
func (o *Observer) PodsHidden() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.podsHidden
}

// Contact is the longest failure in a row that still lasts.
func (o *Observer) Contact() Contact {
	o.mu.Lock()
	defer o.mu.Unlock()
	var worst Contact
	for _, c := range o.contacts {
		if c.Err != nil && (worst.Err == nil || c.Since.Before(worst.Since)) {
			worst = c
		}
	}
	return worst
}

// Runs returns every Job seen so far, in order of name and then age.
func (o *Observer) Runs() []Observed {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []Observed
	for uid := range o.jobs {
		all = append(all, o.run(uid))
	}
	slices.SortFunc(all, func(a, b Observed) int {
		if c := strings.Compare(a.Job.Name, b.Job.Name); c != 0 {
			return c
		}
		return a.Job.CreationTimestamp.Compare(b.Job.CreationTimestamp.Time)
	})
	return all
}

// Run returns one Job as last seen; false when it was never seen, or is forgotten.
func (o *Observer) Run(uid types.UID) (Observed, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.jobs[uid] == nil {
		return Observed{}, false
	}
	return o.run(uid), true
}

// run is one Job with its Pods; o.mu must be held.
func (o *Observer) run(uid types.UID) Observed {
	run := *o.jobs[uid]
	for _, pod := range o.owned[uid] {
		run.Pods = append(run.Pods, pod)
	}
	slices.SortFunc(run.Pods, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return run
}

// Forget drops a Job that is gone, and its Pods.
func (o *Observer) Forget(uid types.UID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if seen := o.jobs[uid]; seen == nil || !seen.Deleted {
		return
	}
	delete(o.jobs, uid)
	for pod := range o.owned[uid] {
		delete(o.pods, pod)
	}
	delete(o.owned, uid)
}

// index notes which Job controls a Pod, or that the Pod is gone; o.mu must be held. It returns the Job.
func (o *Observer) index(pod *corev1.Pod, gone bool) types.UID {
	ref := metav1.GetControllerOf(pod)
	if ref == nil {
		return ""
	}
	if gone {
		delete(o.owned[ref.UID], pod.UID)
		return ref.UID
	}
	if o.owned[ref.UID] == nil {
		o.owned[ref.UID] = map[types.UID]*corev1.Pod{}
	}
	o.owned[ref.UID][pod.UID] = pod
	return ref.UID
}

// tell says that a run changed. o.mu must not be held.
func (o *Observer) tell(run types.UID) {
	if o.scope.Changed != nil && run != "" {
		o.scope.Changed(run)
	}
}

// Subscribe returns a channel that holds one token after any number of changes, and one at first. Each subscriber has its
// own.
func (o *Observer) Subscribe() <-chan struct{} {
	changed := make(chan struct{}, 1)
	changed <- struct{}{}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changed = append(o.changed, changed)
	return changed
}

// notify tells all subscribers; o.mu must be held.
func (o *Observer) notify() {
	for _, c := range o.changed {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// spawn runs f in a goroutine that Wait joins.
func (o *Observer) spawn(f func()) {
	o.done.Go(func() {
		defer o.client.caught()
		f()
	})
}

func (o *Observer) seed(ctx context.Context, job *batchv1.Job) {
	o.mu.Lock()
	o.jobs[job.UID] = &Observed{Job: job}
	o.mu.Unlock()
	o.startPodsOf(ctx, job)
}

// startPodsOf starts the Pod watch of a single Job with that Job's own selector.
func (o *Observer) startPodsOf(ctx context.Context, job *batchv1.Job) {
	selector, err := podSelector(job)
	if err != nil || job.Spec.Selector == nil {
		selector = ""
	}
	o.startPods(ctx, selector)
}

func (o *Observer) startPods(ctx context.Context, selector string) {
	o.mu.Lock()
	started := o.podsWatch
	o.podsWatch = true
	o.mu.Unlock()
	if !started {
		o.spawn(func() { o.watchPods(ctx, selector) })
	}
}

// report notes how a request of one of the watches went.
func (o *Observer) report(what string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	last := o.contacts[what]
	switch {
	case err == nil:
		last = Contact{}
	case last.Err == nil:
		last = Contact{Since: o.client.options.Now(), Err: err}
	default:
		last.Err = err
	}
	o.contacts[what] = last
	if err != nil {
		o.notify()
	}
}

// lookInterval is how often a Job is read beside its watch: a connection can fall silent without an error
// (kubernetes/kubernetes#95981).
const lookInterval = 30 * time.Second

// lookAgain reads a Job that goes on now and then, another one each time; when it is newer than what the watch delivered
// and stays so, the watch is dead and starts anew.
func (o *Observer) lookAgain(ctx context.Context) {
	for turn := 0; sleep(ctx, lookInterval); turn++ {
		before := o.goingOn(turn)
		if before == nil {
			continue
		}
		job, err := o.client.batch.Jobs(before.Namespace).Get(ctx, before.Name, metav1.GetOptions{})
		if ctx.Err() != nil {
			return
		}
		if !NotFound(err) {
			o.report("get", err)
		}
		const settle = 2 * time.Second // the watch may be just about to deliver it
		if err != nil || job.ResourceVersion == before.ResourceVersion || !sleep(ctx, settle) || o.versionOf(before.UID) != before.ResourceVersion {
			continue
		}
		o.restart()
	}
}

// goingOn is one of the Jobs that are there and not finished, in turns; nil without any.
func (o *Observer) goingOn(turn int) *batchv1.Job {
	var open []*batchv1.Job
	for _, run := range o.Runs() {
		if !run.Deleted && !finished(run.Job) {
			open = append(open, run.Job)
		}
	}
	if len(open) == 0 {
		return nil
	}
	return open[turn%len(open)]
}

func finished(job *batchv1.Job) bool {
	return slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue
	})
}

func (o *Observer) versionOf(uid types.UID) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if seen := o.jobs[uid]; seen != nil {
		return seen.Job.ResourceVersion
	}
	return ""
}

// restart ends the running Job watch; watchJobs begins another.
func (o *Observer) restart() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.cancel != nil {
		o.cancel()
	}
}
