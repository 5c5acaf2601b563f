package commands

import (
	"context"
	"sync"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// manyDocuments is from how many documents on the runs of a namespace are listed once, not for each Work.
const manyDocuments = 8

// lookup is what a submit has read of the cluster, each thing once. It is safe for concurrent use.
type lookup struct {
	client *cluster.Client
	many   bool // list whole namespaces, not Work by Work

	byWork  memo[string, map[string][]batchv1.Job] // by namespace, then by the label's value
	ofWork  memo[[2]string, []batchv1.Job]         // by namespace and Work
	ofGroup memo[watch.Slot, []batchv1.Job]        // by slot
	leases  memo[string, struct{}]                 // the right to hold them, by namespace
}

// memo remembers answers, errors too.
type memo[K comparable, V any] struct {
	mu      sync.Mutex
	answers map[K]*answer[V]
}

type answer[V any] struct {
	once  sync.Once
	value V
	err   error
}

func (m *memo[K, V]) of(key K, ask func() (V, error)) (V, error) {
	m.mu.Lock()
	if m.answers == nil {
		m.answers = map[K]*answer[V]{}
	}
	if m.answers[key] == nil {
		m.answers[key] = &answer[V]{}
	}
	a := m.answers[key]
	m.mu.Unlock()
	a.once.Do(func() { a.value, a.err = ask() })
	return a.value, a.err
}

// runs are the runs that a Work may have. A Job that somebody else made is not among them.
func (l *lookup) runs(ctx context.Context, namespace, name string) ([]batchv1.Job, error) {
	label := mapping.LabelValue(name)
	if !l.many {
		return l.client.Jobs(ctx, namespace, work.LabelWork+"="+label)
	}
	all, err := l.byWork.of(namespace, func() (map[string][]batchv1.Job, error) {
		jobs, err := l.client.Jobs(ctx, namespace, work.LabelWork)
		found := map[string][]batchv1.Job{}
		for _, job := range jobs {
			label := job.Labels[work.LabelWork]
			found[label] = append(found[label], job)
		}
		return found, err
	})
	return all[label], err
}

// named are the runs of a Work that another one depends on, or the Job of that name that somebody else made.
func (l *lookup) named(ctx context.Context, namespace, name string) ([]batchv1.Job, error) {
	return l.ofWork.of([2]string{namespace, name}, func() ([]batchv1.Job, error) {
		runs, err := l.runs(ctx, namespace, name)
		if err != nil || len(runs) > 0 {
			return runs, err
		}
		job, err := l.client.Job(ctx, namespace, name)
		if cluster.NotFound(err) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		return []batchv1.Job{*job}, nil
	})
}

// group are the runs of a concurrency group.
func (l *lookup) group(ctx context.Context, slot watch.Slot) ([]batchv1.Job, error) {
	return l.ofGroup.of(slot, func() ([]batchv1.Job, error) { return slot.Runs(ctx, l.client) })
}

// mayHold refuses where the caller may not hold Leases, which a group's runs take turns with.
func (l *lookup) mayHold(ctx context.Context, namespace string) error {
	_, err := l.leases.of(namespace, func() (struct{}, error) { return struct{}{}, l.client.MayHoldLeases(ctx, namespace) })
	return err
}
