package mapping

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// GroupOf is the concurrency group of a Work as the value of a label, "" when its runs exclude nobody.
func GroupOf(w *v1beta2.Work) string {
	if !w.Spec.Exclusive() {
		return ""
	}
	return LabelValue(or(w.Spec.ConcurrencyGroup, or(w.Name, trimStem(w.GenerateName))))
}

// trimStem takes off what a generateName ends in: the group of etl- is etl.
func trimStem(stem string) string {
	for len(stem) > 1 && (stem[len(stem)-1] == '-' || stem[len(stem)-1] == '.') {
		stem = stem[:len(stem)-1]
	}
	return stem
}

// Dependencies are what the Waiting holds of a new run say. Which run is meant is for the caller to fill in.
func Dependencies(w *v1beta2.Work) []work.Dependency {
	var out []work.Dependency
	for _, d := range w.Spec.DependsOn {
		one := work.Dependency{Work: d.Work, Outcome: string(or(d.Outcome, v1beta2.DependencySucceeded))}
		for name, input := range d.Inputs {
			if one.Inputs == nil {
				one.Inputs = map[string]string{}
			}
			one.Inputs[name] = input.From
		}
		out = append(out, one)
	}
	return out
}

// hold suspends a new run for what its document asks for: a pause from the start, other runs, its place in line. A queue of
// Kueue must not see the run before all of them are gone.
func hold(job *batchv1.Job, doc *v1beta2.Work, in Injection) error {
	var holds work.Holds
	since := metav1.NewTime(in.Now)
	queue := ""
	if p := doc.Spec.SchedulingPolicy; p != nil {
		queue = p.QueueName
	}
	byQueue := job.Labels[work.LabelKueueQueue] != "" && queue == "" // the label alone: suspend is Kueue's from the start
	if s := job.Spec.Suspend; s != nil && *s && !byQueue {
		holds = holds.With(work.Hold{Type: work.HoldPaused, By: in.SubmittedBy, Reason: "submitted with spec.suspend: true", Since: since})
	}
	waiting := in.Waiting
	if waiting == nil {
		waiting = Dependencies(doc)
	}
	for _, d := range waiting {
		holds = holds.With(work.Hold{Type: work.HoldWaiting, Since: since, On: &d})
	}
	if group := doc.Spec.ConcurrencyGroup; group != "" {
		queued := work.Hold{Type: work.HoldQueued, Since: since, Group: group, Policy: string(doc.Spec.ConcurrencyPolicy)}
		if p := doc.Spec.SchedulingPolicy; p != nil && p.Priority != nil {
			queued.Priority = *p.Priority
		}
		holds = holds.With(queued)
		if job.Spec.PodReplacementPolicy == nil { // no new Pod beside one that is still ending
			job.Spec.PodReplacementPolicy = new(batchv1.Failed)
		}
	}
	if len(holds) == 0 {
		return nil
	}
	text := holds.String()
	if len(text) > work.MaxHoldsBytes {
		return fmt.Errorf("spec.dependsOn: what the run waits for takes %d bytes, %d are the most; let a Work in between gather some of it", len(text), work.MaxHoldsBytes)
	}
	delete(job.Labels, work.LabelKueueQueue)
	job.Spec.Suspend = new(true)
	job.Annotations = merged(job.Annotations, map[string]string{work.AnnotationHolds: text})
	return nil
}

// injectInputs lets the containers read what dependencies hand on: annotations of their Pods, which can be written as long
// as the run has not started (https://kubernetes.io/docs/concepts/workloads/controllers/job, mutable scheduling directives).
func injectInputs(job *batchv1.Job, doc *v1beta2.Work) {
	var names []string
	for _, d := range doc.Spec.DependsOn {
		names = append(names, sortedKeys(d.Inputs)...)
	}
	slices.Sort(names)
	spec := &job.Spec.Template.Spec
	for _, name := range slices.Compact(names) {
		from := corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{
			FieldPath: fmt.Sprintf("metadata.annotations['%s%s']", work.AnnotationInput, name),
		}}}
		for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
			for i := range containers {
				addEnv(&containers[i], from)
			}
		}
	}
}

// cleanup maps what happens after the end. The TTL controller of the cluster always deletes in the foreground, so another
// propagation is left to a watch of ours.
func cleanup(job *batchv1.Job, p *v1beta2.CleanupPolicy) {
	if p == nil {
		return
	}
	if p.TTLSecondsAfterFinished != nil {
		job.Spec.TTLSecondsAfterFinished = p.TTLSecondsAfterFinished
	}
	if p.Propagation != "" && p.Propagation != string(metav1.DeletePropagationForeground) {
		job.Spec.TTLSecondsAfterFinished = nil
	}
	if p.Finalizer {
		job.Finalizers = append(slices.Clone(job.Finalizers), work.FinalizerCleanup)
	}
}
