package v1beta2

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
	}
	if p := out.Spec.CleanupPolicy; p != nil {
		p.TTLSecondsAfterFinished = clone(p.TTLSecondsAfterFinished)
	}
	return out
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}
