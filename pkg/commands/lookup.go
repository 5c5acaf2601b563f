package commands

import (
	"context"
	"sync"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

// manyDocuments is from how many documents on the runs of a namespace are listed once, not for each Work.
const manyDocuments = 8

// lookup holds the runs of namespaces, each listed once. It is safe for concurrent use.
type lookup struct {
	client *cluster.Client
	mu     sync.Mutex
	runs   map[string]*namespaceRuns
}

// namespaceRuns are the Jobs of one namespace that carry our label, by its value.
type namespaceRuns struct {
	once   sync.Once
	byWork map[string][]batchv1.Job
	err    error
}

func (l *lookup) of(ctx context.Context, namespace string) *namespaceRuns {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.runs[namespace] == nil {
		l.runs[namespace] = &namespaceRuns{}
	}
	found := l.runs[namespace]
	found.once.Do(func() {
		jobs, err := l.client.Jobs(ctx, namespace, work.LabelWork)
		found.err, found.byWork = err, map[string][]batchv1.Job{}
		for _, job := range jobs {
			label := job.Labels[work.LabelWork]
			found.byWork[label] = append(found.byWork[label], job)
		}
	})
	return found
}

// runsOf are the runs that the Work of a Job may have.
func (s *submission) runsOf(ctx context.Context, job *batchv1.Job) ([]batchv1.Job, error) {
	label := mapping.LabelValue(mapping.WorkName(job))
	if s.lookup == nil {
		return s.client.Jobs(ctx, job.Namespace, work.LabelWork+"="+label)
	}
	found := s.lookup.of(ctx, job.Namespace)
	return found.byWork[label], found.err
}
