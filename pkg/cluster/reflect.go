package cluster

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/flowcontrol"
)

// listWatch is what client-go's Reflector needs. plain asks for a list before the watch instead of a streamed one.
type listWatch struct {
	*cache.ListWatch
	plain bool
}

// newListWatch bounds how often a Reflector asks: some answers (an expired version inside a streamed list) make it ask
// again at once, without end. A burst is normal after a restart of the server.
func newListWatch(plain bool, list cache.ListWithContextFunc, watches cache.WatchFuncWithContext) listWatch {
	const perSecond, burst = 1, 8
	pace := flowcontrol.NewTokenBucketRateLimiter(perSecond, burst)
	return listWatch{plain: plain, ListWatch: &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if err := pace.Wait(ctx); err != nil {
				return nil, err
			}
			return list(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			if err := pace.Wait(ctx); err != nil {
				return nil, err
			}
			return watches(ctx, o)
		},
	}}
}

// IsWatchListSemanticsUnSupported is asked by the Reflector (k8s.io/client-go/util/watchlist).
func (l listWatch) IsWatchListSemanticsUnSupported() bool { return l.plain }

// reflect runs one Reflector until ctx ends. It restarts broken watches, lists again after a 410, and pauses at most 5 s
// between tries.
func reflect(ctx context.Context, l listWatch, kind runtime.Object, store cache.ReflectorStore) {
	quiet := logr.Discard()
	cache.NewReflectorWithOptions(l, kind, store, cache.ReflectorOptions{
		Logger:  &quiet,
		Backoff: &wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 6, Cap: 5 * time.Second},
	}).RunWithContext(ctx)
}

// watchJobs follows the Jobs of the scope. The first list is the seed, where there is one: the watch then starts exactly
// where the seed was read.
func (o *Observer) watchJobs(ctx context.Context, seed *batchv1.Job) {
	jobs := o.client.batch.Jobs(o.scope.Namespace)
	narrow := func(options metav1.ListOptions) metav1.ListOptions {
		options.LabelSelector = o.scope.Selector
		if o.scope.Name != "" {
			options.FieldSelector = fields.OneTermEqualSelector("metadata.name", o.scope.Name).String()
		}
		return options
	}
	l := newListWatch(seed != nil,
		func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			if first := seed; first != nil {
				seed = nil
				return &batchv1.JobList{ListMeta: metav1.ListMeta{ResourceVersion: first.ResourceVersion}, Items: []batchv1.Job{*first}}, nil
			}
			list, err := jobs.List(ctx, narrow(options))
			o.report("jobs", o.denied(ctx, "list", err))
			return list, err
		},
		func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			w, err := jobs.Watch(ctx, narrow(options))
			if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) { // the Reflector lists again by itself
				o.report("jobs", o.denied(ctx, "watch", err))
			}
			return w, err
		})
	for ctx.Err() == nil {
		watching, cancel := context.WithCancel(ctx)
		o.mu.Lock()
		o.cancel = cancel
		o.mu.Unlock()
		reflect(watching, l, &batchv1.Job{}, &jobStore{o: o, ctx: ctx})
		cancel()
	}
}

// denied turns a 403 into an *AccessError when the caller lacks the right on Jobs.
func (o *Observer) denied(ctx context.Context, verb string, err error) error {
	if !apierrors.IsForbidden(err) {
		return err
	}
	return o.client.classify(ctx, request{verb: verb, resource: "jobs", namespace: o.scope.Namespace}, err)
}

func (o *Observer) watchPods(ctx context.Context, selector string) {
	pods := o.client.core.Pods(o.scope.Namespace)
	narrow := func(options metav1.ListOptions) metav1.ListOptions {
		options.LabelSelector = selector
		return options
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	judge := func(err error) {
		if apierrors.IsForbidden(err) && o.client.mayNot(ctx, request{verb: "list", resource: "pods", namespace: o.scope.Namespace}) {
			o.hidePods()
			cancel()
			return
		}
		if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) {
			o.report("pods", err)
		}
	}
	l := newListWatch(false,
		func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := pods.List(ctx, narrow(options))
			judge(err)
			return list, err
		},
		func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			w, err := pods.Watch(ctx, narrow(options))
			judge(err)
			return w, err
		})
	reflect(watching, l, &corev1.Pod{}, &podStore{o: o})
}

func (o *Observer) hidePods() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.podsHidden = true
	delete(o.contacts, "pods")
	o.notify()
}
