package mapping

import (
	"encoding/json"
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// MemoryKey is where an anchor keeps the ended runs of its Work.
const MemoryKey = "runs.json"

// maxMemoryBytes bounds what an anchor keeps: a ConfigMap has 1 MiB.
const maxMemoryBytes = 512 << 10

// Memory are ended runs, the oldest first, each as the part of its Job that tells what it was and how it ended.
type Memory []*batchv1.Job

// ParseMemory reads what an anchor keeps. An empty text is no run.
func ParseMemory(text string) (Memory, error) {
	var m Memory
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return nil, fmt.Errorf("%s is unreadable: %w", MemoryKey, err)
	}
	return slices.DeleteFunc(m, func(job *batchv1.Job) bool { return job == nil }), nil
}

// Has tells whether a run is among them.
func (m Memory) Has(job *batchv1.Job) bool {
	return slices.ContainsFunc(m, func(other *batchv1.Job) bool { return other.UID == job.UID })
}

// With adds a run, and leaves out the oldest beyond limit, and beyond what a ConfigMap has room for. text is the stored form.
func (m Memory) With(job *batchv1.Job, limit int) (text string, err error) {
	all := append(slices.Clone(m), remembered(job))
	slices.SortStableFunc(all, func(a, b *batchv1.Job) int { return RunNumber(a) - RunNumber(b) })
	if len(all) > limit {
		all = all[len(all)-limit:]
	}
	for {
		data, err := json.Marshal(all)
		if err != nil {
			return "", fmt.Errorf("encode the memory of Work %s: %w", WorkName(job), err)
		}
		if len(data) <= maxMemoryBytes || len(all) == 0 {
			return string(data), nil
		}
		all = all[1:]
	}
}

// remembered is what is kept of a Job.
func remembered(job *batchv1.Job) *batchv1.Job {
	kept := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: job.Name, Namespace: job.Namespace, UID: job.UID, CreationTimestamp: job.CreationTimestamp,
			Labels: map[string]string{}, Annotations: map[string]string{},
		},
		Spec: batchv1.JobSpec{Completions: job.Spec.Completions, Parallelism: job.Spec.Parallelism, BackoffLimit: job.Spec.BackoffLimit, CompletionMode: job.Spec.CompletionMode},
		Status: batchv1.JobStatus{
			StartTime: job.Status.StartTime, CompletionTime: job.Status.CompletionTime, Conditions: job.Status.Conditions,
			Succeeded: job.Status.Succeeded, Failed: job.Status.Failed, CompletedIndexes: job.Status.CompletedIndexes, FailedIndexes: job.Status.FailedIndexes,
		},
	}
	for _, key := range []string{work.LabelWork, work.LabelRun, work.LabelTenant} {
		if value := job.Labels[key]; value != "" {
			kept.Labels[key] = value
		}
	}
	for _, key := range []string{work.AnnotationName, work.AnnotationSpec, work.AnnotationSpecHash, work.AnnotationStatus, work.AnnotationSubmitID} {
		if value := job.Annotations[key]; value != "" {
			kept.Annotations[key] = value
		}
	}
	return kept
}
