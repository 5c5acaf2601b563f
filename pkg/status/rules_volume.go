package status

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The kubelet's words about volumes and sandboxes; events are the only place where it says them.
const (
	mountText      = `^MountVolume\.SetUp failed for volume "([^"]+)" : (.+)$`
	attachText     = `^AttachVolume\.Attach failed for volume "([^"]+)" : (.+)$`
	volumeGoneText = `^(secret|configmap) "([^"]+)" not found$`
	volumeKeyText  = `^(?:references non-existent secret key|configmap references non-existent config key): (\S+)$`
	sandboxText    = `^Failed to create pod sandbox: (?:rpc error: code = \w+ desc = )?(.+)$`
)

// findVolume: a volume of a Pod cannot be mounted, most often because its Secret, ConfigMap or key is not there.
func findVolume(v view, p Phase) []Finding {
	if !starting(p) {
		return nil
	}
	for _, pod := range v.live() {
		e := newestPodEvent(v, pod, "FailedMount", "FailedAttachVolume")
		if e == nil || !notCreated(pod) || settling(v, e) {
			continue
		}
		f := Finding{
			Severity: SeverityError, Class: ClassConfig, Reason: e.Reason, Since: startedAt(pod), Field: "spec.template.spec.volumes",
			Message:  fmt.Sprintf("a volume of pod %s cannot be mounted: %s", pod.Name, e.Message),
			Evidence: []Evidence{eventEvidence(e)}, Next: "the kubelet tries again, with pauses of up to about 2 minutes",
		}
		m := match(mountText, e.Message)
		if m == nil {
			m = match(attachText, e.Message)
		}
		if m != nil {
			f.Field = volumeField(pod, m[1])
			f.Message = fmt.Sprintf("volume %s of pod %s cannot be mounted: %s", m[1], pod.Name, volumeError(pod, m[1], m[2]))
			if match(volumeGoneText, m[2]) != nil || match(volumeKeyText, m[2]) != nil {
				f.Next = "it starts by itself once that exists"
			}
		}
		return []Finding{f}
	}
	return nil
}

// settling tells of an error that a kubelet meets when it has just heard of a Pod, and mends by itself.
func settling(v view, e *corev1.Event) bool {
	const passing = 2 * 60
	return strings.Contains(e.Message, "failed to sync") && v.At.Sub(EventTime(e)).Seconds() < passing && EventCount(e) < 3
}

// volumeError names the object that misses a key, which the kubelet does not.
func volumeError(pod *corev1.Pod, volume, text string) string {
	m := match(volumeKeyText, text)
	if m == nil {
		return text
	}
	for _, vol := range pod.Spec.Volumes {
		switch {
		case vol.Name != volume:
		case vol.ConfigMap != nil:
			return fmt.Sprintf("configmap %q has no key %q", vol.ConfigMap.Name, m[1])
		case vol.Secret != nil:
			return fmt.Sprintf("secret %q has no key %q", vol.Secret.SecretName, m[1])
		}
	}
	return text
}

func volumeField(pod *corev1.Pod, name string) string {
	for i, volume := range pod.Spec.Volumes {
		if volume.Name == name {
			return fmt.Sprintf("spec.template.spec.volumes[%d]", i)
		}
	}
	return "spec.template.spec.volumes"
}

// findSandbox: the node cannot make the Pod's sandbox: its runtime class, its network, its resources.
func findSandbox(v view, p Phase) []Finding {
	if !starting(p) {
		return nil
	}
	for _, pod := range v.live() {
		e := newestPodEvent(v, pod, "FailedCreatePodSandBox")
		if e == nil || !notCreated(pod) {
			continue
		}
		text := e.Message
		if m := match(sandboxText, text); m != nil {
			text = m[1]
		}
		f := Finding{
			Severity: SeverityError, Class: ClassNode, Reason: e.Reason, Since: startedAt(pod),
			Message:  fmt.Sprintf("node %s cannot make pod %s: %s", pod.Spec.NodeName, pod.Name, text),
			Evidence: []Evidence{eventEvidence(e)}, Next: "the kubelet tries again",
		}
		if pod.Spec.RuntimeClassName != nil && strings.Contains(text, "runtime") {
			f.Field = "spec.template.spec.runtimeClassName"
		}
		return []Finding{f}
	}
	return nil
}

// newestPodEvent is the newest event of a Pod with one of the reasons.
func newestPodEvent(v view, pod *corev1.Pod, reasons ...string) *corev1.Event {
	var newest *corev1.Event
	for i := range v.Events {
		e := &v.Events[i]
		if e.InvolvedObject.UID != pod.UID {
			continue
		}
		for _, r := range reasons {
			if e.Reason == r && (newest == nil || EventTime(e).After(EventTime(newest))) {
				newest = e
			}
		}
	}
	return newest
}

func eventEvidence(e *corev1.Event) Evidence {
	return Evidence{Object: "event/" + e.Name, Path: ".message", Value: e.Message}
}
