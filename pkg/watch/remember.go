package watch

import (
	"context"
	"fmt"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

// Remembered are the ended runs of a Work that its anchor keeps; nil when it has none, or they may not be read.
func Remembered(ctx context.Context, c *cluster.Client, namespace, workName string) (mapping.Memory, error) {
	config, err := c.ConfigMap(ctx, namespace, AnchorPrefix+workName)
	switch {
	case cluster.NotFound(err), cluster.Denied(err):
		return nil, nil
	case err != nil:
		return nil, err
	case config.Labels[work.LabelAnchor] != mapping.LabelValue(workName):
		return nil, nil
	}
	return mapping.ParseMemory(config.Data[mapping.MemoryKey])
}

// memories are the runs that anchors are known to keep, or never will: each is looked at once.
type memories struct {
	mu    sync.Mutex
	known map[types.UID]bool
}

func (m *memories) has(run types.UID) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.known[run]
}

func (m *memories) add(run types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.known == nil {
		m.known = map[types.UID]bool{}
	}
	m.known[run] = true
}

func (m *memories) forget(run types.UID) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, run)
}

// remember lets the anchor of a run keep it. The copy of the loop lacks the document: the run is read once more.
func (l *Loop) remember(ctx context.Context, job *batchv1.Job) (what string, err error) {
	defer func() {
		if err == nil || cluster.Denied(err) {
			l.state.memories.add(job.UID)
		}
	}()
	name := mapping.WorkName(job)
	config, err := l.Client.ConfigMap(ctx, job.Namespace, AnchorPrefix+name)
	if cluster.NotFound(err) || err == nil && config.Labels[work.LabelAnchor] != mapping.LabelValue(name) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	memory, err := mapping.ParseMemory(config.Data[mapping.MemoryKey])
	if err != nil { // nobody can read it: a new one is better
		memory = nil
	}
	if memory.Has(job) {
		return "", nil
	}
	whole, err := l.Client.Job(ctx, job.Namespace, job.Name)
	if cluster.NotFound(err) || err == nil && whole.UID != job.UID {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	text, err := memory.With(whole, historyLimit(job))
	if err != nil {
		return "", err
	}
	kept := config.DeepCopy()
	if kept.Data == nil {
		kept.Data = map[string]string{}
	}
	kept.Data[mapping.MemoryKey] = text
	return fmt.Sprintf("is remembered by %s", config.Name), l.Client.UpdateConfigMap(ctx, kept)
}

func historyLimit(job *batchv1.Job) int {
	w, _, err := mapping.DecodeSpec(job)
	if err != nil || w.Spec.CleanupPolicy == nil || w.Spec.CleanupPolicy.HistoryLimit == nil {
		return v1beta2.DefaultHistoryLimit
	}
	return int(*w.Spec.CleanupPolicy.HistoryLimit)
}
