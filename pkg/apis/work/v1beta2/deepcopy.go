package v1beta2

import corev1 "k8s.io/api/core/v1"

// DeepCopy returns a copy that shares nothing with w.
func (w *Work) DeepCopy() *Work {
	if w == nil {
		return nil
	}
	out := &Work{TypeMeta: w.TypeMeta, ObjectMeta: *w.ObjectMeta.DeepCopy()}
	out.Spec = WorkSpec{
		JobSpec:       *w.Spec.JobSpec.DeepCopy(),
		MaxRetries:    clone(w.Spec.MaxRetries),
		RetryFactor:   w.Spec.RetryFactor,
		CleanupPolicy: clone(w.Spec.CleanupPolicy),
		Coordination:  w.Spec.Coordination.deepCopy(),
		Profile:       w.Spec.Profile,
		Tenant:        w.Spec.Tenant,
		Debug:         clone(w.Spec.Debug),
	}
	out.Spec.SchedulingPolicy = w.Spec.SchedulingPolicy.deepCopy()
	if p := out.Spec.CleanupPolicy; p != nil {
		p.TTLSecondsAfterFinished, p.HistoryLimit = clone(p.TTLSecondsAfterFinished), clone(p.HistoryLimit)
	}
	return out
}

func (p *SchedulingPolicy) deepCopy() *SchedulingPolicy {
	if p == nil {
		return nil
	}
	// The template has the same fields, and copies them.
	spec := (&corev1.PodSpec{
		NodeSelector: p.NodeSelector, Affinity: p.Affinity, Tolerations: p.Tolerations, TopologySpreadConstraints: p.TopologySpreadConstraints,
	}).DeepCopy()
	return &SchedulingPolicy{
		Priority: clone(p.Priority), QueueName: p.QueueName, PriorityClassName: p.PriorityClassName,
		NodeSelector: spec.NodeSelector, Affinity: spec.Affinity, Tolerations: spec.Tolerations, TopologySpreadConstraints: spec.TopologySpreadConstraints,
	}
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
