package cluster

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// jobStore takes what the Reflector of Jobs delivers. It implements cache.ReflectorStore.
type jobStore struct {
	o   *Observer
	ctx context.Context //nolint:containedctx // the Reflector's callbacks have none, and the Pod watch needs one
}

// Add implements cache.ReflectorStore.
func (s *jobStore) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore.
func (s *jobStore) Update(obj any) error {
	if job, ok := obj.(*batchv1.Job); ok {
		s.set(job, false)
	}
	return nil
}

// Delete implements cache.ReflectorStore: the object is the last state that the server had.
func (s *jobStore) Delete(obj any) error {
	if job, ok := obj.(*batchv1.Job); ok {
		s.set(job, true)
	}
	return nil
}

func (s *jobStore) set(job *batchv1.Job, deleted bool) {
	o := s.o
	o.trim(job)
	o.mu.Lock()
	o.jobs[job.UID] = &Observed{Job: job, Deleted: deleted}
	o.notify()
	o.mu.Unlock()
	o.tell(job.UID)
	if o.scope.Name != "" {
		o.startPodsOf(s.ctx, job)
	}
}

// trim takes off an object what nobody will look at.
func (o *Observer) trim(object any) {
	if o.scope.Trim != nil {
		o.scope.Trim(object)
	}
}

// trimming is what a Reflector does with each object as it comes in, so that a first list is never whole in memory.
func (o *Observer) trimming() cache.TransformFunc {
	return func(object any) (any, error) {
		o.trim(object)
		return object, nil
	}
}

// Transformer implements cache.TransformingStore.
func (s *jobStore) Transformer() cache.TransformFunc { return s.o.trimming() }

// Transformer implements cache.TransformingStore.
func (s *podStore) Transformer() cache.TransformFunc { return s.o.trimming() }

// Replace implements cache.ReflectorStore: a list after the start, or after the watch was broken. A Job that is missing
// in it was deleted meanwhile.
func (s *jobStore) Replace(list []any, _ string) error {
	o := s.o
	there := map[types.UID]bool{}
	for _, obj := range list {
		if job, ok := obj.(*batchv1.Job); ok {
			there[job.UID] = true
			s.set(job, false)
		}
	}
	o.mu.Lock()
	var gone []types.UID
	for uid, seen := range o.jobs {
		if !there[uid] && !seen.Deleted {
			o.jobs[uid] = &Observed{Job: seen.Job, Deleted: true, Gap: true}
			gone = append(gone, uid)
		}
	}
	if o.jobsSynced.IsZero() {
		o.jobsSynced = o.client.options.Now()
	}
	o.notify()
	o.mu.Unlock()
	for _, uid := range gone {
		o.tell(uid)
	}
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *jobStore) Resync() error { return nil }

// podStore takes what the Reflector of Pods delivers. Pods that are gone are kept while their Job is: they tell how it
// ended. It implements cache.ReflectorStore.
type podStore struct{ o *Observer }

// Add implements cache.ReflectorStore.
func (s *podStore) Add(obj any) error { return s.Update(obj) }

// Update implements cache.ReflectorStore.
func (s *podStore) Update(obj any) error {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil
	}
	pod.ManagedFields = nil
	s.o.trim(pod)
	s.o.tell(s.set(pod))
	return nil
}

// set keeps the Pods of Jobs: most Pods of a namespace may be those of other things. It returns the Job whose Pods changed.
func (s *podStore) set(pod *corev1.Pod) (run types.UID) {
	s.o.mu.Lock()
	defer s.o.mu.Unlock()
	switch before := s.o.pods[pod.UID]; {
	case ofJob(pod):
		s.o.pods[pod.UID] = pod
		run = s.o.index(pod, false)
	case before != nil: // orphaned: it is nobody's any more
		delete(s.o.pods, pod.UID)
		run = s.o.index(before, true)
	default:
		return ""
	}
	s.o.notify()
	return run
}

// ofJob tells whether a Job controls a Pod.
func ofJob(pod *corev1.Pod) bool {
	ref := metav1.GetControllerOf(pod)
	return ref != nil && ref.Kind == "Job"
}

// Delete implements cache.ReflectorStore.
func (s *podStore) Delete(obj any) error {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil
	}
	s.o.mu.Lock()
	run := types.UID("")
	if pod.Status.Phase != corev1.PodFailed {
		delete(s.o.pods, pod.UID)
		run = s.o.index(pod, true)
	}
	s.o.notify()
	s.o.mu.Unlock()
	s.o.tell(run)
	return nil
}

// Replace implements cache.ReflectorStore.
func (s *podStore) Replace(list []any, _ string) error {
	o := s.o
	o.mu.Lock()
	fresh := map[types.UID]*corev1.Pod{}
	for _, obj := range list {
		if pod, ok := obj.(*corev1.Pod); ok && ofJob(pod) {
			pod.ManagedFields = nil
			o.trim(pod)
			fresh[pod.UID] = pod
		}
	}
	for uid, pod := range o.pods {
		if fresh[uid] == nil && pod.Status.Phase == corev1.PodFailed {
			fresh[uid] = pod
		}
	}
	touched := map[types.UID]bool{}
	for run := range o.owned {
		touched[run] = true
	}
	o.pods, o.owned = fresh, map[types.UID]map[types.UID]*corev1.Pod{}
	for _, pod := range fresh {
		touched[o.index(pod, false)] = true
	}
	o.podsSynced = true
	o.notify()
	o.mu.Unlock()
	for run := range touched {
		o.tell(run)
	}
	return nil
}

// Resync implements cache.ReflectorStore.
func (s *podStore) Resync() error { return nil }
