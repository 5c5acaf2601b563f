package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
	"github.com/kubectl-work/kubectl-work/pkg/lint"
)

// sound is a Work that no rule has anything to say about.
func sound() *v1beta2.Work {
	w := &v1beta2.Work{ObjectMeta: metav1.ObjectMeta{Name: "etl"}}
	w.Spec.ActiveDeadlineSeconds = new(int64(3600))
	w.Spec.MaxRetries = new(int32(2))
	w.Spec.PodReplacementPolicy = new(batchv1.Failed)
	w.Spec.CleanupPolicy = &v1beta2.CleanupPolicy{TTLSecondsAfterFinished: new(int32(3600))}
	w.Spec.Template.Spec.Containers = []corev1.Container{{
		Name: "main", Image: "registry.example.com:5000/team/app:1.2", Command: []string{"run"},
		Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
			Limits:   corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("64Mi")},
		},
	}}
	return w
}

func main(w *v1beta2.Work) *corev1.Container { return &w.Spec.Template.Spec.Containers[0] }

func TestASoundWorkHasNoRemarks(t *testing.T) {
	t.Parallel()
	require.Empty(t, lint.Check(sound()))
}

// Each rule, by what brings it about, and the place that it points at.
func TestRules(t *testing.T) {
	t.Parallel()
	const first = "spec.template.spec.containers[0]"
	seen := map[string]bool{"pod-security": true} // TestPodSecurity
	for _, c := range []struct {
		rule, path string
		change     func(w *v1beta2.Work)
	}{
		{"no-deadline", "spec", func(w *v1beta2.Work) { w.Spec.ActiveDeadlineSeconds = nil }},
		{"endless-loop", first + ".command", func(w *v1beta2.Work) { main(w).Command = []string{"sh", "-c", "while true; do work; done"} }},
		{"endless-loop", first + ".args", func(w *v1beta2.Work) { main(w).Args = []string{"sleep", "infinity"} }},
		{"retries-unset", "spec", func(w *v1beta2.Work) { w.Spec.MaxRetries = nil }},
		{"two-pods", "spec", func(w *v1beta2.Work) { w.Spec.PodReplacementPolicy = nil }},
		{"helper-container", "spec.template.spec.containers[1]", func(w *v1beta2.Work) {
			second := *main(w)
			second.Name = "proxy"
			w.Spec.Template.Spec.Containers = append(w.Spec.Template.Spec.Containers, second)
		}},
		{"output-lost", "spec.template.spec.restartPolicy", func(w *v1beta2.Work) { w.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure }},
		{"no-requests", first, func(w *v1beta2.Work) { main(w).Resources.Requests = nil }},
		{"no-memory-limit", first, func(w *v1beta2.Work) {
			main(w).Resources.Requests[corev1.ResourceMemory] = resource.MustParse("1Mi")
			main(w).Resources.Limits = nil
		}},
		{"latest-tag", first + ".image", func(w *v1beta2.Work) { main(w).Image = "registry.example.com:5000/team/app" }},
		{"latest-tag", first + ".image", func(w *v1beta2.Work) { main(w).Image = "app:latest" }},
		{"secret-in-env", first + ".env[0].value", func(w *v1beta2.Work) { main(w).Env = []corev1.EnvVar{{Name: "DB_PASSWORD", Value: "x"}} }},
		{"kept-for-ever", "spec", func(w *v1beta2.Work) { w.Spec.CleanupPolicy = nil }},
		{"run-suffix", "metadata.name", func(w *v1beta2.Work) { w.Name = "etl-r2" }},
	} {
		w := sound()
		c.change(w)
		got := lint.Check(w)
		require.Len(t, got, 1, c.rule)
		require.Equal(t, c.rule, got[0].Rule)
		require.Equal(t, c.path, got[0].Path)
		require.NotEmpty(t, got[0].Message)
		require.NotEmpty(t, got[0].Fix)
		seen[c.rule] = true
	}
	for _, r := range lint.Rules() {
		require.True(t, seen[r.ID], "no case for rule %s", r.ID)
		require.NotEmpty(t, r.About)
	}
}

func TestWhatIsNoFault(t *testing.T) {
	t.Parallel()
	for _, change := range []func(w *v1beta2.Work){
		func(w *v1beta2.Work) { main(w).Image = "app@sha256:0123" },
		func(w *v1beta2.Work) {
			main(w).Command = []string{"sh", "-c", "while read line; do work; done; tail -n 3 log"}
		},
		func(w *v1beta2.Work) {
			main(w).Env = []corev1.EnvVar{{Name: "TOKEN", Value: "$(FROM_SECRET)"}, {Name: "TOKENS", Value: "3"}}
		},
		func(w *v1beta2.Work) { w.Spec.Parallelism, w.Spec.PodReplacementPolicy = new(int32(4)), nil },
		func(w *v1beta2.Work) { w.Name = "etl-r2d2" },
	} {
		w := sound()
		change(w)
		require.Empty(t, lint.Check(w))
	}
}
