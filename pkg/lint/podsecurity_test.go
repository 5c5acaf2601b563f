package lint_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
	"github.com/kubectl-work/kubectl-work/pkg/lint"
)

// locked is a Work that the restricted level takes.
func locked() *v1beta2.Work {
	w := sound()
	w.Spec.Template.Spec.SecurityContext = &corev1.PodSecurityContext{
		RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	w.Spec.Template.Spec.InitContainers = []corev1.Container{{Name: "first", Image: "app:1", SecurityContext: lockedContainer()}}
	main(w).SecurityContext = lockedContainer()
	return w
}

func lockedContainer() *corev1.SecurityContext {
	return &corev1.SecurityContext{AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}}}
}

// Each violation is told once, at its place, and only where it is one; and there is one exactly where the server's own
// evaluation says so.
func TestPodSecurity(t *testing.T) {
	t.Parallel()
	const pod, first = "spec.template.spec", "spec.template.spec.containers[0]"
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	for name, c := range map[string]struct {
		change               func(w *v1beta2.Work)
		baseline, restricted []string
	}{
		"nothing wrong": {change: func(*v1beta2.Work) {}},
		"privileged": {
			func(w *v1beta2.Work) {
				main(w).SecurityContext.Privileged, main(w).SecurityContext.AllowPrivilegeEscalation = new(true), nil
			},
			[]string{first + ".securityContext.privileged"},
			[]string{first + ".securityContext.allowPrivilegeEscalation", first + ".securityContext.privileged"},
		},
		"one of two containers": {
			func(w *v1beta2.Work) { w.Spec.Template.Spec.InitContainers[0].SecurityContext.Capabilities = nil }, nil,
			[]string{pod + ".initContainers[0].securityContext.capabilities"},
		},
		"the whole Pod": {
			func(w *v1beta2.Work) { w.Spec.Template.Spec.SecurityContext.RunAsNonRoot = new(false) }, nil,
			[]string{pod + ".securityContext.runAsNonRoot"},
		},
		"the Pod and a container": {
			func(w *v1beta2.Work) {
				w.Spec.Template.Spec.SecurityContext.RunAsUser, main(w).SecurityContext.RunAsUser = new(int64(0)), new(int64(0))
			}, nil,
			[]string{pod + ".securityContext.runAsUser", first + ".securityContext.runAsUser"},
		},
		"volumes": {
			func(w *v1beta2.Work) {
				w.Spec.Template.Spec.Volumes = []corev1.Volume{
					{Name: "a", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
					{Name: "b", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}},
				}
			},
			[]string{pod + ".volumes[1]"},
			[]string{pod + ".volumes[1]"},
		},
		"the host": {
			func(w *v1beta2.Work) {
				w.Spec.Template.Spec.HostNetwork, w.Spec.Template.Spec.HostIPC = true, true
				main(w).Ports = []corev1.ContainerPort{{ContainerPort: 80, HostPort: 80}}
			},
			[]string{pod + ".hostNetwork", pod + ".hostIPC", first + ".ports"},
			[]string{pod + ".hostNetwork", pod + ".hostIPC", first + ".ports"},
		},
		"sysctls": {
			func(w *v1beta2.Work) {
				w.Spec.Template.Spec.SecurityContext.Sysctls = []corev1.Sysctl{{Name: "kernel.msgmax", Value: "1"}}
			},
			[]string{pod + ".securityContext.sysctls"},
			[]string{pod + ".securityContext.sysctls"},
		},
	} {
		w := locked()
		c.change(w)
		require.Empty(t, lint.PodSecurity(w, "privileged"), name)
		for level, want := range map[string][]string{"baseline": c.baseline, "restricted": c.restricted} {
			var got []string
			for _, r := range lint.PodSecurity(w, level) {
				require.Equal(t, "pod-security", r.Rule)
				require.Contains(t, r.Message, `violates PodSecurity "`+level+`:latest": `)
				got = append(got, r.Path)
			}
			require.ElementsMatch(t, want, got, "%s at %s", name, level)
			results := evaluator.EvaluatePod(api.LevelVersion{Level: api.Level(level), Version: api.LatestVersion()}, &w.Spec.Template.ObjectMeta, &w.Spec.Template.Spec)
			require.Equal(t, policy.AggregateCheckResults(results).Allowed, len(got) == 0, "%s at %s", name, level)
		}
	}
}

// What says nothing of security is refused at the restricted level for each thing that it would have to say.
func TestPodSecurityOfAPlainWork(t *testing.T) {
	t.Parallel()
	var got []string
	for _, r := range lint.PodSecurity(sound(), "restricted") {
		got = append(got, r.Path+": "+r.Message)
	}
	require.ElementsMatch(t, []string{
		`spec.template.spec.containers[0].securityContext.allowPrivilegeEscalation: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "main" must set securityContext.allowPrivilegeEscalation=false)`,
		`spec.template.spec.containers[0].securityContext.capabilities: violates PodSecurity "restricted:latest": unrestricted capabilities (container "main" must set securityContext.capabilities.drop=["ALL"])`,
		`spec.template.spec.containers[0].securityContext.runAsNonRoot: violates PodSecurity "restricted:latest": runAsNonRoot != true (pod or container "main" must set securityContext.runAsNonRoot=true)`,
		`spec.template.spec.containers[0].securityContext.seccompProfile: violates PodSecurity "restricted:latest": seccompProfile (pod or container "main" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")`,
	}, got)
	require.Empty(t, lint.PodSecurity(sound(), "baseline"))
}
