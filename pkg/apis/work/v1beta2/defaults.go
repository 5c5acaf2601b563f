package v1beta2

import corev1 "k8s.io/api/core/v1"

// SetDefaults fills in what the user left out. It changes w in place; the spec hash is taken before.
func SetDefaults(w *Work) {
	w.APIVersion, w.Kind = GroupVersion.String(), Kind
	if w.Spec.MaxRetries != nil && w.Spec.RetryFactor == "" {
		w.Spec.RetryFactor = DefaultRetryFactor
	}
	if d := w.Spec.Debug; d != nil && d.Path == "" {
		d.Path = DefaultDebugPath
	}
	if w.Spec.Template.Spec.RestartPolicy == "" {
		w.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever
	}
}
