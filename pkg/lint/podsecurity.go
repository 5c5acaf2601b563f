package lint

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// podSecurityRule is asked for with a level, so it is not among those of Check.
func podSecurityRule() Rule {
	return Rule{"pod-security", "With --pod-security=LEVEL: a namespace that enforces this Pod Security level refuses the Pods, and the Job waits without any."}
}

// PodSecurityLevels are the levels of Pod Security, the loosest first.
func PodSecurityLevels() []string {
	return []string{string(api.LevelPrivileged), string(api.LevelBaseline), string(api.LevelRestricted)}
}

// PodSecurity returns what a namespace that enforces a level would refuse the Pods for, in the server's own words and each
// at its place. The checks are those of the API server of the pinned version.
func PodSecurity(w *v1beta2.Work, level string) []Remark {
	pod := &w.Spec.Template
	base, pieces := split(&pod.Spec)
	var all []Remark
	for _, c := range podChecks(api.Level(level)) {
		check := c.Versions[len(c.Versions)-1].CheckPod
		found := func(path string, r policy.CheckResult) {
			text := r.ForbiddenReason
			if r.ForbiddenDetail != "" {
				text += " (" + r.ForbiddenDetail + ")"
			}
			all = append(all, Remark{Rule: podSecurityRule().ID, Path: path, Message: fmt.Sprintf("violates PodSecurity %q: %s", level+":latest", text)})
		}
		whole := check(&pod.ObjectMeta, base)
		if !whole.Allowed {
			found(template+fieldOf(c.ID), whole)
		}
		for _, p := range pieces {
			r := check(&pod.ObjectMeta, p.spec)
			if r.Allowed || !whole.Allowed && r.ForbiddenDetail == whole.ForbiddenDetail { // then the piece adds nothing
				continue
			}
			path := p.path
			if p.container {
				path += fieldOf(c.ID)
			}
			found(path, r)
		}
	}
	return all
}

// podChecks are the newest checks of a level. One of the restricted level may stand for a looser one.
func podChecks(level api.Level) []policy.Check {
	if level == api.LevelPrivileged {
		return nil
	}
	var checks []policy.Check
	replaced := map[policy.CheckID]bool{}
	for _, c := range policy.DefaultChecks() {
		if c.Level == api.LevelRestricted && level != api.LevelRestricted {
			continue
		}
		checks = append(checks, c)
		for _, id := range c.Versions[len(c.Versions)-1].OverrideCheckIDs {
			replaced[id] = true
		}
	}
	var kept []policy.Check
	for _, c := range checks {
		if !replaced[c.ID] {
			kept = append(kept, c)
		}
	}
	return kept
}

// piece is a Pod with one of the things that a check may be about, and that thing's place.
type piece struct {
	path      string
	container bool
	spec      *corev1.PodSpec
}

// split takes a Pod apart: what is set for all of it, and that with one container, volume or namespace of the host each.
func split(spec *corev1.PodSpec) (base *corev1.PodSpec, pieces []piece) {
	base = spec.DeepCopy()
	base.InitContainers, base.Containers, base.Volumes = nil, nil, nil
	base.HostNetwork, base.HostPID, base.HostIPC = false, false, false
	add := func(path string, container bool, set func(s *corev1.PodSpec)) {
		with := base.DeepCopy()
		set(with)
		pieces = append(pieces, piece{path: template + path, container: container, spec: with})
	}
	for i, c := range spec.InitContainers {
		add(fmt.Sprintf(".initContainers[%d]", i), true, func(s *corev1.PodSpec) { s.InitContainers = []corev1.Container{c} })
	}
	for i, c := range spec.Containers {
		add(fmt.Sprintf(".containers[%d]", i), true, func(s *corev1.PodSpec) { s.Containers = []corev1.Container{c} })
	}
	for i, v := range spec.Volumes {
		add(fmt.Sprintf(".volumes[%d]", i), false, func(s *corev1.PodSpec) { s.Volumes = []corev1.Volume{v} })
	}
	if spec.HostNetwork {
		add(".hostNetwork", false, func(s *corev1.PodSpec) { s.HostNetwork = true })
	}
	if spec.HostPID {
		add(".hostPID", false, func(s *corev1.PodSpec) { s.HostPID = true })
	}
	if spec.HostIPC {
		add(".hostIPC", false, func(s *corev1.PodSpec) { s.HostIPC = true })
	}
	return base, pieces
}

// fieldOf is the field of a Pod, or of a container, that a check looks at; "" where it is several.
func fieldOf(id policy.CheckID) string {
	return map[policy.CheckID]string{
		"allowPrivilegeEscalation":  ".securityContext.allowPrivilegeEscalation",
		"appArmorProfile":           ".securityContext.appArmorProfile",
		"capabilities_baseline":     ".securityContext.capabilities",
		"capabilities_restricted":   ".securityContext.capabilities",
		"hostPorts":                 ".ports",
		"privileged":                ".securityContext.privileged",
		"procMount":                 ".securityContext.procMount",
		"procMount_restricted":      ".securityContext.procMount",
		"runAsNonRoot":              ".securityContext.runAsNonRoot",
		"runAsUser":                 ".securityContext.runAsUser",
		"seLinuxOptions":            ".securityContext.seLinuxOptions",
		"seccompProfile_baseline":   ".securityContext.seccompProfile",
		"seccompProfile_restricted": ".securityContext.seccompProfile",
		"sysctls":                   ".securityContext.sysctls",
		"windowsHostProcess":        ".securityContext.windowsOptions.hostProcess",
	}[id]
}
