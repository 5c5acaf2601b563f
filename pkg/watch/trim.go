package watch

import (
	"unique"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

// trim takes off a Job or a Pod what the loop never looks at: most of their bytes. Of the document only what orders runs and
// what happens after the end is kept; whoever wants all of it reads the Job.
func trim(object any) {
	switch o := object.(type) {
	case *batchv1.Job:
		trimJob(o)
	case *corev1.Pod:
		trimPod(o)
	}
}

func trimJob(job *batchv1.Job) {
	job.ManagedFields = nil
	delete(job.Annotations, work.AnnotationLastApplied)
	if text := job.Annotations[work.AnnotationSpec]; len(text) > 0 && mapping.Ours(job) {
		if w, newer, err := mapping.DecodeSpec(job); err == nil && !newer {
			w.Labels, w.Annotations, w.Spec.Template = nil, nil, corev1.PodTemplateSpec{}
			w.Spec.SchedulingPolicy = nil
			if kept, err := mapping.EncodeSpec(w); err == nil {
				job.Annotations[work.AnnotationSpec] = kept
			}
		}
	}
	spec := &job.Spec.Template.Spec
	job.Spec.Template = corev1.PodTemplateSpec{Spec: corev1.PodSpec{RestartPolicy: spec.RestartPolicy, ActiveDeadlineSeconds: spec.ActiveDeadlineSeconds}}
	if manual := job.Spec.ManualSelector; manual == nil || !*manual {
		job.Spec.Selector = nil
	}
	job.Labels, job.Annotations = shared(job.Labels), shared(job.Annotations)
	delete(job.Annotations, work.AnnotationSubmitID)
}

func trimPod(pod *corev1.Pod) {
	pod.ManagedFields = nil
	index := pod.Annotations[batchv1.JobCompletionIndexAnnotation]
	pod.Annotations, pod.Labels = nil, nil
	if index != "" {
		pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: index}
	}
	spec := &pod.Spec
	pod.Spec = corev1.PodSpec{
		NodeName: spec.NodeName, RestartPolicy: spec.RestartPolicy, TerminationGracePeriodSeconds: spec.TerminationGracePeriodSeconds,
		InitContainers: trimContainers(spec.InitContainers), Containers: trimContainers(spec.Containers), Priority: spec.Priority,
		SchedulingGates: spec.SchedulingGates, ServiceAccountName: spec.ServiceAccountName,
	}
}

// shared is the same map with keys that all objects share: the decoder makes each its own.
func shared(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for key, value := range m {
		out[unique.Make(key).Value()] = value
	}
	return out
}

// trimContainers keeps what findings speak of.
func trimContainers(all []corev1.Container) []corev1.Container {
	var out []corev1.Container
	for i := range all {
		c := &all[i]
		out = append(out, corev1.Container{
			Name: c.Name, Image: c.Image, RestartPolicy: c.RestartPolicy, RestartPolicyRules: c.RestartPolicyRules, Resources: c.Resources,
		})
	}
	return out
}
