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

// findUnschedulable: no node takes the Pod. The condition is current, the event may be old.
func findUnschedulable(v view, p Phase) []Finding {
	if !starting(p) {
		return nil
	}
	for _, pod := range v.live() {
		i := slices.IndexFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse
		})
		if i < 0 {
			continue
		}
		c := pod.Status.Conditions[i]
		f := Finding{
			Severity: SeverityWarning, Class: ClassUnschedulable, Reason: c.Reason, Since: c.LastTransitionTime.Time,
			Field:    "spec.template.spec",
			Message:  fmt.Sprintf("pod %s fits no node: %s", pod.Name, c.Message),
			Evidence: []Evidence{{Object: "pod/" + pod.Name, Path: `.status.conditions[?(@.type=="PodScheduled")].message`, Value: c.Message}},
			Next:     "the scheduler tries again when nodes or Pods change",
			Advice:   []Advice{{Command: "kubectl get nodes --show-labels", Risk: RiskInspect, Why: "what the nodes offer"}},
		}
		if c.Reason == corev1.PodReasonSchedulingGated {
			f.Message = fmt.Sprintf("pod %s is held by scheduling gates: %s", pod.Name, gates(pod))
			f.Next = "whoever set the gates removes them"
		} else if asked := requests(pod); asked != "" {
			f.Message += "; it asks for " + asked
		}
		return []Finding{f}
	}
	return nil
}

func gates(pod *corev1.Pod) string {
	var names []string
	for _, g := range pod.Spec.SchedulingGates {
		names = append(names, g.Name)
	}
	return strings.Join(names, ", ")
}

// requests says what a Pod's containers ask for and where they want to run: `cpu 1000, node label tier=gpu`.
func requests(pod *corev1.Pod) string {
	total := corev1.ResourceList{}
	for _, c := range pod.Spec.Containers {
		for name, q := range c.Resources.Requests {
			sum := total[name]
			sum.Add(q)
			total[name] = sum
		}
	}
	var parts []string
	for name, q := range total {
		parts = append(parts, fmt.Sprintf("%s %s", name, q.String()))
	}
	slices.Sort(parts)
	var labels []string
	for key, value := range pod.Spec.NodeSelector {
		labels = append(labels, fmt.Sprintf("node label %s=%s", key, value))
	}
	slices.Sort(labels)
	return strings.Join(append(parts, labels...), ", ")
}

// findImage: a container's image cannot be had. ErrImagePull and ImagePullBackOff take turns and are one cause
// (kubernetes/kubernetes#66756).
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
		return f, true
	})
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

// findConfigMissing: a Secret, ConfigMap or key that a container wants is not there (kubernetes/kubernetes#80466).
func findConfigMissing(v view, p Phase) []Finding {
	if !starting(p) {
		return nil
	}
	return waitingFinding(v, func(c container, w *corev1.ContainerStateWaiting) (Finding, bool) {
		if w.Reason != "CreateContainerConfigError" {
			return Finding{}, false
		}
		return Finding{
			Severity: SeverityError, Class: ClassConfig, Reason: w.Reason, Field: c.field,
			Message: fmt.Sprintf("%s for %s %s", w.Message, c.kind(), c.spec.Name),
			Next:    "it starts by itself once that exists",
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
