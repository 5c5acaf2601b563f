package status

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// unscheduled is a Pod's PodScheduled condition while it says no, nil otherwise.
func unscheduled(pod *corev1.Pod) *corev1.PodCondition {
	if c := podCondition(pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		return c
	}
	return nil
}

// unschedulable tells whether the scheduler looked for a node and found none. Bare Pending says nothing.
func unschedulable(pod *corev1.Pod) bool {
	c := unscheduled(pod)
	return c != nil && c.Reason != corev1.PodReasonSchedulingGated
}

// The scheduler's words about volume claims (pkg/scheduler/framework/plugins/volumebinding in kubernetes/kubernetes).
const (
	claimMissingText  = `persistentvolumeclaim "([^"]+)" not found`
	claimDeletingText = `persistentvolumeclaim "([^"]+)" is being deleted`
	claimUnboundText  = `unbound immediate PersistentVolumeClaims`
)

func waitsForClaim(pod *corev1.Pod) bool {
	c := unscheduled(pod)
	return c != nil && (strings.Contains(c.Message, claimUnboundText) || match(claimMissingText, c.Message) != nil || match(claimDeletingText, c.Message) != nil)
}

// claimsOf are the names of the claims that a Pod mounts.
func claimsOf(pod *corev1.Pod) []string {
	var names []string
	for _, volume := range pod.Spec.Volumes {
		if c := volume.PersistentVolumeClaim; c != nil {
			names = append(names, c.ClaimName)
		}
	}
	return names
}

// findGated: somebody set scheduling gates on the Pods, and takes them away when it is time
// (https://kubernetes.io/docs/concepts/scheduling-eviction/pod-scheduling-readiness).
func findGated(v view, p Phase) []Finding {
	if !starting(p) {
		return nil
	}
	for _, pod := range v.live() {
		c := unscheduled(pod)
		if c == nil || c.Reason != corev1.PodReasonSchedulingGated {
			continue
		}
		var names []string
		for _, g := range pod.Spec.SchedulingGates {
			names = append(names, g.Name)
		}
		return []Finding{{
			Severity: SeverityWarning, Reason: c.Reason, Since: pod.CreationTimestamp.Time, Field: "spec.template.spec.schedulingGates",
			Message:  fmt.Sprintf("pod %s is held by scheduling gates: %s", pod.Name, strings.Join(names, ", ")),
			Evidence: []Evidence{{Object: "pod/" + pod.Name, Path: ".spec.schedulingGates", Value: strings.Join(names, ", ")}},
			Next:     "whoever set the gates removes them",
		}}
	}
	return nil
}

// findClaim: a Pod waits for a volume claim that is not there or not bound.
func findClaim(v view, p Phase) []Finding {
	if !starting(p) {
		return nil
	}
	for _, pod := range v.live() {
		if !waitsForClaim(pod) {
			continue
		}
		c := unscheduled(pod)
		f := Finding{
			Severity: SeverityError, Class: ClassConfig, Reason: "ClaimNotBound", Since: c.LastTransitionTime.Time,
			Evidence: []Evidence{scheduledEvidence(pod, c)}, Next: "it is scheduled by itself once the claim is there and bound",
		}
		name := ""
		if m := match(claimMissingText, c.Message); m != nil {
			name, f.Reason = m[1], "ClaimMissing"
			f.Message = fmt.Sprintf("pod %s wants volume claim %s, which does not exist", pod.Name, name)
		} else if m := match(claimDeletingText, c.Message); m != nil {
			name, f.Reason = m[1], "ClaimDeleting"
			f.Message = fmt.Sprintf("pod %s wants volume claim %s, which is being deleted", pod.Name, name)
		} else {
			f.Message = fmt.Sprintf("pod %s wants a volume claim that is not bound: %s", pod.Name, strings.Join(claimsOf(pod), ", "))
			f.Details = pendingClaims(v, claimsOf(pod))
		}
		f.Field = claimField(pod, name)
		f.Advice = []Advice{{Command: "kubectl describe pvc " + strings.Join(claimsOf(pod), " "), Risk: RiskInspect, Why: "why no volume is bound to it"}}
		return []Finding{f}
	}
	return nil
}

// pendingClaims says what is known of claims that are not bound.
func pendingClaims(v view, names []string) []string {
	var lines []string
	for _, claim := range v.Claims {
		if !slices.Contains(names, claim.Name) || claim.Status.Phase == corev1.ClaimBound {
			continue
		}
		class := "the default storage class"
		if claim.Spec.StorageClassName != nil {
			class = fmt.Sprintf("storage class %q", *claim.Spec.StorageClassName)
		}
		text := fmt.Sprintf("claim %s is %s; it wants %s", claim.Name, claim.Status.Phase, class)
		lines = append(lines, join(text, claimWarning(v, claim.Name)))
	}
	return lines
}

// claimWarning is what a warning event says about a claim, "" without one.
func claimWarning(v view, name string) string {
	for i := range v.Events {
		e := &v.Events[i]
		if e.InvolvedObject.Kind == "PersistentVolumeClaim" && e.InvolvedObject.Name == name && e.Type == corev1.EventTypeWarning {
			return e.Message
		}
	}
	return ""
}

func claimField(pod *corev1.Pod, name string) string {
	for i, volume := range pod.Spec.Volumes {
		if c := volume.PersistentVolumeClaim; c != nil && (name == "" || c.ClaimName == name) {
			return fmt.Sprintf("spec.template.spec.volumes[%d].persistentVolumeClaim.claimName", i)
		}
	}
	return ""
}

func scheduledEvidence(pod *corev1.Pod, c *corev1.PodCondition) Evidence {
	return Evidence{Object: "pod/" + pod.Name, Path: `.status.conditions[?(@.type=="PodScheduled")].message`, Value: c.Message}
}

// findUnschedulable: no node takes the Pod. The condition is current, the event may be old. The scheduler counts nodes by
// cause; with the nodes in sight each is told with what it lacks.
func findUnschedulable(v view, p Phase) []Finding {
	if !starting(p) {
		return nil
	}
	var waiting []*corev1.Pod
	for _, pod := range v.live() {
		if unschedulable(pod) && !waitsForClaim(pod) {
			waiting = append(waiting, pod)
		}
	}
	if len(waiting) == 0 {
		return nil
	}
	pod := waiting[0]
	c := unscheduled(pod)
	f := Finding{
		Severity: SeverityWarning, Class: ClassUnschedulable, Reason: c.Reason, Since: c.LastTransitionTime.Time,
		Message:  fmt.Sprintf("pod %s fits no node: %s", pod.Name, withoutPreemption(c.Message)),
		Evidence: []Evidence{scheduledEvidence(pod, c)},
		Next:     "the scheduler tries again when nodes or Pods change",
		Field:    unschedulableField(pod, c.Message),
		Details:  append(schedulerCauses(c.Message), nodeLines(v, pod)...),
		Advice:   []Advice{{Command: "kubectl describe nodes", Risk: RiskInspect, Why: "their labels and taints, what they offer and what is taken"}},
	}
	if asked := requests(pod); asked != "" {
		f.Message += "; it asks for " + asked
	}
	if more := len(waiting) - 1; more > 0 {
		f.Message += fmt.Sprintf(" (and %s like it)", count(int32(more), "Pod", "Pods")) //nolint:gosec // far below 2³¹
	}
	if node := pod.Status.NominatedNodeName; node != "" {
		f.Class, f.Next = ClassNone, "Pods of lower priority are leaving node "+node+" for it"
	}
	scaling(v, pod, &f)
	return []Finding{f}
}

// scaleUpPatience is how long a triggered scale-up is trusted to bring a node.
const scaleUpPatience = 10 * time.Minute

// scaling adds what a cluster autoscaler said about the Pod
// (https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/FAQ.md, events).
func scaling(v view, pod *corev1.Pod, f *Finding) {
	var newest *corev1.Event
	for i := range v.Events {
		e := &v.Events[i]
		if e.InvolvedObject.UID == pod.UID && (e.Reason == "TriggeredScaleUp" || e.Reason == "NotTriggerScaleUp") &&
			(newest == nil || EventTime(e).After(EventTime(newest))) {
			newest = e
		}
	}
	if newest == nil {
		return
	}
	ago := v.At.Sub(EventTime(newest))
	f.Details = append(f.Details, fmt.Sprintf("autoscaler, %s ago: %s: %s", short(ago), newest.Reason, newest.Message))
	if newest.Reason == "TriggeredScaleUp" && ago < scaleUpPatience {
		f.Class, f.Next = ClassNone, "the autoscaler is adding a node"
	}
}

// The scheduler's sentence (pkg/scheduler/framework/types.go, FitError): 0/3 nodes are available: 1 Insufficient cpu, 2
// node(s) had untolerated taint(s). preemption: 0/3 nodes are available: …
const causesText = `^\d+/\d+ nodes are available: (.+)$`

func withoutPreemption(message string) string {
	before, _, _ := strings.Cut(message, " preemption: ")
	return strings.TrimSuffix(before, ".")
}

// schedulerCauses breaks the scheduler's sentence up, one cause a line; nil when there is just one.
func schedulerCauses(message string) []string {
	m := match(causesText, withoutPreemption(message))
	if m == nil {
		return nil
	}
	counted := regexp.MustCompile(`^\d+ `)
	var causes []string
	for part := range strings.SplitSeq(m[1], ", ") {
		if len(causes) > 0 && !counted.MatchString(part) { // a comma inside a cause
			causes[len(causes)-1] += ", " + part
			continue
		}
		causes = append(causes, part)
	}
	if len(causes) < 2 {
		return nil
	}
	for i, cause := range causes {
		number, text, found := strings.Cut(cause, " ")
		if !found {
			continue
		}
		noun := "nodes"
		if number == "1" {
			noun = "node"
		}
		causes[i] = fmt.Sprintf("%s %s: %s", number, noun, strings.TrimPrefix(text, "node(s) "))
	}
	return causes
}

// unschedulableField is where a person would change what does not fit.
func unschedulableField(pod *corev1.Pod, message string) string {
	const spec = "spec.template.spec"
	switch {
	case strings.Contains(message, "node affinity/selector") && len(pod.Spec.NodeSelector) > 0:
		return spec + ".nodeSelector"
	case strings.Contains(message, "node affinity/selector"):
		return spec + ".affinity"
	case strings.Contains(message, "free ports"):
		for i, c := range pod.Spec.Containers {
			for j, port := range c.Ports {
				if port.HostPort != 0 {
					return fmt.Sprintf("%s.containers[%d].ports[%d].hostPort", spec, i, j)
				}
			}
		}
	}
	if m := match(`Insufficient (\S+?)[,.]?(?: |$)`, message); m != nil {
		for i, c := range pod.Spec.Containers {
			if _, asked := c.Resources.Requests[corev1.ResourceName(m[1])]; asked {
				return fmt.Sprintf("%s.containers[%d].resources.requests.%s", spec, i, m[1])
			}
		}
	}
	return spec
}
