package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// starting tells whether causes that keep Pods from starting make sense in a phase.
func starting(p Phase) bool {
	return p == PhasePending || p == PhaseInitializing || p == PhaseRunning
}

// findImage: a container's image cannot be had. ErrImagePull and ImagePullBackOff take turns and are one cause
// (kubernetes/kubernetes#66756). The reasons are those of pkg/kubelet/images in kubernetes/kubernetes.
func findImage(v view, p Phase) []Finding {
	if !starting(p) {
		return nil
	}
	return waitingFinding(v, func(c container, w *corev1.ContainerStateWaiting) (Finding, bool) {
		class, reason := ClassImage, w.Reason
		next := "the kubelet tries again, with pauses of up to 5 minutes"
		switch w.Reason {
		case "ErrImagePull", "ImagePullBackOff":
			reason = "ImagePullBackOff"
		case "RegistryUnavailable", "ImageInspectError", "SignatureValidationFailed":
		case "InvalidImageName", "ErrImageNeverPull":
			class, next = ClassNever, ""
		default:
			return Finding{}, false
		}
		f := Finding{
			Severity: SeverityError, Class: class, Reason: reason, Next: next, Field: c.field + ".image",
			Message: fmt.Sprintf("image %s of %s %s cannot be pulled: %s", c.spec.Image, c.kind(), c.spec.Name, pullError(c, w)),
			Advice:  []Advice{{Command: "kubectl work delete " + v.Job.Name, Risk: RiskChanges, Why: "then submit it with the right image; backoffLimit does not end this, only activeDeadlineSeconds does"}},
		}
		f.Details = pullSecrets(v, c.pod)
		return f, true
	})
}

// pullSecrets names the imagePullSecrets of a Pod that the kubelet did not find.
func pullSecrets(v view, pod *corev1.Pod) []string {
	for i := range v.Events {
		e := &v.Events[i]
		if e.InvolvedObject.UID == pod.UID && e.Reason == "FailedToRetrieveImagePullSecret" {
			return []string{e.Message}
		}
	}
	return nil
}

// pullError is what the registry or kubelet said, without the image name that they repeat several times.
func pullError(c container, w *corev1.ContainerStateWaiting) string {
	switch w.Reason {
	case "ErrImageNeverPull":
		return "it is not on the node and imagePullPolicy is Never"
	case "InvalidImageName":
		return "the name is not a valid image reference"
	}
	text := w.Message
	if _, after, found := strings.Cut(text, "ErrImagePull: "); found { // Back-off pulling image "…": ErrImagePull: rpc error …
		text = after
	}
	if i := strings.LastIndex(text, c.spec.Image+": "); i >= 0 {
		text = text[i+len(c.spec.Image)+2:]
	}
	if text == "" {
		return "the runtime gave no reason"
	}
	return text
}

// The kubelet's words for what a container's environment misses (pkg/kubelet/kubelet_pods.go in kubernetes/kubernetes).
const (
	missingObjectText = `^(secret|configmap) "([^"]+)" not found`
	missingKeyText    = `couldn't find key (\S+) in (Secret|ConfigMap) [^/]+/(\S+)`
	runAsRootText     = `container has runAsNonRoot and image (.+?) \(pod: `
)

// findConfigMissing: a Secret, ConfigMap or key that a container wants is not there (kubernetes/kubernetes#80466), or its
// settings contradict its image.
func findConfigMissing(v view, p Phase) []Finding {
	if !starting(p) {
		return nil
	}
	return waitingFinding(v, func(c container, w *corev1.ContainerStateWaiting) (Finding, bool) {
		if w.Reason != "CreateContainerConfigError" {
			return Finding{}, false
		}
		f := Finding{
			Severity: SeverityError, Class: ClassConfig, Reason: w.Reason, Field: c.field,
			Message: fmt.Sprintf("%s for %s %s", w.Message, c.kind(), c.spec.Name),
			Next:    "it starts by itself once that exists",
		}
		switch {
		case match(missingObjectText, w.Message) != nil:
			m := match(missingObjectText, w.Message)
			f.Field = envField(c, m[1], m[2], "")
			f.Advice = []Advice{{Command: fmt.Sprintf("kubectl get %s %s", m[1], m[2]), Risk: RiskInspect, Why: "whether it is there now"}}
		case match(missingKeyText, w.Message) != nil:
			m := match(missingKeyText, w.Message)
			kind := strings.ToLower(m[2])
			f.Message = fmt.Sprintf("%s %q has no key %q, which %s %s wants", kind, m[3], m[1], c.kind(), c.spec.Name)
			f.Field = envField(c, kind, m[3], m[1])
			f.Advice = []Advice{{Command: fmt.Sprintf("kubectl describe %s %s", kind, m[3]), Risk: RiskInspect, Why: "the keys that it has"}}
		case match(runAsRootText, w.Message) != nil:
			f.Class, f.Next, f.Field = ClassNever, "", c.field+".securityContext"
			f.Message = fmt.Sprintf("%s %s has runAsNonRoot, and its image %s", c.kind(), c.spec.Name, match(runAsRootText, w.Message)[1])
			f.Advice = []Advice{{Command: "kubectl work delete " + v.Job.Name, Risk: RiskChanges, Why: "then submit it with runAsUser, or with an image that names a user by number"}}
		}
		return f, true
	})
}

// envField is the entry of a container's env or envFrom that wants an object, or a key of it; the container's own field
// when none is found.
func envField(c container, kind, name, key string) string {
	for i, from := range c.spec.EnvFrom {
		if s := from.SecretRef; s != nil && kind == "secret" && s.Name == name {
			return fmt.Sprintf("%s.envFrom[%d].secretRef.name", c.field, i)
		}
		if m := from.ConfigMapRef; m != nil && kind == "configmap" && m.Name == name {
			return fmt.Sprintf("%s.envFrom[%d].configMapRef.name", c.field, i)
		}
	}
	for i, env := range c.spec.Env {
		if env.ValueFrom == nil {
			continue
		}
		part := "name"
		if key != "" {
			part = "key"
		}
		if s := env.ValueFrom.SecretKeyRef; s != nil && kind == "secret" && s.Name == name && (key == "" || s.Key == key) {
			return fmt.Sprintf("%s.env[%d].valueFrom.secretKeyRef.%s", c.field, i, part)
		}
		if m := env.ValueFrom.ConfigMapKeyRef; m != nil && kind == "configmap" && m.Name == name && (key == "" || m.Key == key) {
			return fmt.Sprintf("%s.env[%d].valueFrom.configMapKeyRef.%s", c.field, i, part)
		}
	}
	return c.field
}

// findNotCreated: the runtime cannot make or start the container, for a reason of its own.
func findNotCreated(v view, p Phase) []Finding {
	if !starting(p) {
		return nil
	}
	return waitingFinding(v, func(c container, w *corev1.ContainerStateWaiting) (Finding, bool) {
		switch w.Reason {
		case "CreateContainerError", "RunContainerError", "PreCreateHookError", "PreStartHookError", "PostStartHookError":
		default:
			return Finding{}, false
		}
		return Finding{
			Severity: SeverityError, Class: ClassConfig, Reason: w.Reason, Field: c.field,
			Message: fmt.Sprintf("%s %s cannot be started: %s", c.kind(), c.spec.Name, startError(w.Message)),
			Next:    "the kubelet tries again",
		}, true
	})
}

// waitingFinding asks judge about every waiting container of every live Pod and completes what it finds. Containers of
// several Pods that wait for the same thing are one finding.
func waitingFinding(v view, judge func(container, *corev1.ContainerStateWaiting) (Finding, bool)) []Finding {
	var found []Finding
	for _, pod := range v.live() {
		for _, c := range containersOf(pod) {
			w := c.status.State.Waiting
			if w == nil {
				continue
			}
			f, ok := judge(c, w)
			if !ok {
				continue
			}
			f.Evidence = []Evidence{c.evidence(".state.waiting", w.Reason+": "+w.Message)}
			f.Since = startedAt(pod)
			if i := slices.IndexFunc(found, func(other Finding) bool { return other.Message == f.Message }); i >= 0 {
				found[i].Evidence = append(found[i].Evidence, f.Evidence...)
				continue
			}
			found = append(found, f)
		}
	}
	return found
}

func startedAt(pod *corev1.Pod) time.Time {
	if pod.Status.StartTime != nil {
		return pod.Status.StartTime.Time
	}
	return pod.CreationTimestamp.Time
}
