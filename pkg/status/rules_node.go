package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// leaseAge is how old a kubelet's heartbeat may be before its node counts as silent: the default of the node controller's
// --node-monitor-grace-period (https://kubernetes.io/docs/reference/node/node-status/#heartbeats).
const leaseAge = 50 * time.Second

// findNodeLost: a Pod is on a node whose kubelet does not answer. It may still run there, so nothing replaces it until the
// node is back or is deleted (https://kubernetes.io/docs/concepts/architecture/nodes/#node-controller).
func findNodeLost(v view, p Phase) []Finding {
	if p.Finished() {
		return nil
	}
	for _, pod := range v.live() {
		node := v.node(pod.Spec.NodeName)
		gone := node == nil && slices.Contains(missingNodes(v), pod.Spec.NodeName)
		silent, since, evidence := silentSince(v, node)
		if pod.Spec.NodeName == "" || !gone && !silent {
			continue
		}
		f := Finding{
			Severity: SeverityError, Class: ClassNode, Reason: "NodeLost", Since: since, Evidence: []Evidence{evidence},
			Message: fmt.Sprintf("pod %s is on node %s, which has not been ready since %s", pod.Name, pod.Spec.NodeName, since.UTC().Format(timeFormat)),
			Next:    "when the node comes back the Pod goes on, or ends; until then it may still be running there",
			Advice: []Advice{
				{Command: "kubectl describe node " + pod.Spec.NodeName, Risk: RiskInspect, Why: "whether it comes back"},
				{
					Command: "kubectl delete pod " + pod.Name + " --force", Risk: RiskChanges,
					Why: "only when the node is surely off: the Pod may still be running there, and another one beside it",
				},
			},
		}
		if gone {
			f.Since = startedAt(pod)
			f.Message = fmt.Sprintf("pod %s is on node %s, which is gone", pod.Name, pod.Spec.NodeName)
			f.Next = "the control plane removes the Pod within minutes"
			f.Evidence = []Evidence{{Object: "pod/" + pod.Name, Path: ".spec.nodeName", Value: pod.Spec.NodeName}}
		}
		if t := pod.DeletionTimestamp; t != nil {
			f.Message += "; it is being deleted since " + deletedAt(pod).UTC().Format(timeFormat)
			if replacementWaits(v.Job) {
				f.Message += "; a replacement waits for it (podReplacementPolicy Failed)"
			}
		}
		return []Finding{f}
	}
	return nil
}

// missingNodes are the nodes that were looked for and not found.
func missingNodes(v view) []string {
	if v.Nodes == nil {
		return nil
	}
	var names []string
	for _, pod := range v.live() {
		if suspicious(pod, v.At) && v.node(pod.Spec.NodeName) == nil {
			names = append(names, pod.Spec.NodeName)
		}
	}
	return names
}

// silentSince tells whether a node's kubelet does not answer, since when, and where that is written.
func silentSince(v view, node *corev1.Node) (silent bool, since time.Time, e Evidence) {
	if node == nil {
		return false, time.Time{}, Evidence{}
	}
	if c := nodeCondition(node, corev1.NodeReady); c != nil && c.Status != corev1.ConditionTrue {
		return true, c.LastTransitionTime.Time, Evidence{
			Object: "node/" + node.Name, Path: `.status.conditions[?(@.type=="Ready")]`, Value: fmt.Sprintf("%s: %s", c.Reason, c.Message),
		}
	}
	for _, lease := range v.Leases {
		if lease.Name == node.Name && lease.Spec.RenewTime != nil && v.At.Sub(lease.Spec.RenewTime.Time) > leaseAge {
			return true, lease.Spec.RenewTime.Time, Evidence{
				Object: "lease/" + lease.Name, Path: ".spec.renewTime", Value: lease.Spec.RenewTime.UTC().Format(timeFormat),
			}
		}
	}
	return false, time.Time{}, Evidence{}
}

// deletedAt is when a Pod's deletion began; deletionTimestamp is when its grace is over.
func deletedAt(pod *corev1.Pod) time.Time {
	var grace time.Duration
	if s := pod.DeletionGracePeriodSeconds; s != nil {
		grace = time.Duration(*s) * time.Second
	}
	return pod.DeletionTimestamp.Add(-grace)
}

func replacementWaits(job *batchv1.Job) bool {
	return job.Spec.PodReplacementPolicy != nil && *job.Spec.PodReplacementPolicy == batchv1.Failed && len(job.Status.Conditions) == 0
}

// overdue is how long a Pod may outlast its grace before that is worth a warning.
const overdue = 15 * time.Second

// findPodsEnding says what holds Pods that are being deleted: their grace, finalizers, or a node that does not answer.
func findPodsEnding(v view, p Phase) []Finding {
	var lines []string
	f := Finding{Severity: SeverityInfo, Reason: "PodsEnding"}
	for _, pod := range v.pods {
		if pod.DeletionTimestamp == nil {
			continue
		}
		late := v.At.Sub(pod.DeletionTimestamp.Time)
		switch {
		case !Terminal(pod) && late <= overdue:
			lines = append(lines, fmt.Sprintf("pod %s is ending: it has until %s (%s)", pod.Name, pod.DeletionTimestamp.UTC().Format(timeFormat), about(-late)))
		case len(heldBy(v, pod)) > 0:
			lines = append(lines, fmt.Sprintf("pod %s is held by finalizer %s since %s", pod.Name, strings.Join(heldBy(v, pod), ", "), deletedAt(pod).UTC().Format(timeFormat)))
			f.Severity, f.Reason = SeverityWarning, "PodsHeld"
		case !Terminal(pod):
			lines = append(lines, fmt.Sprintf("pod %s should have been gone %s ago; its node %s has not confirmed that it ended", pod.Name, short(late), pod.Spec.NodeName))
			f.Severity, f.Reason = SeverityWarning, "PodsOverdue"
		default:
			continue
		}
		if f.Since.IsZero() || deletedAt(pod).Before(f.Since) {
			f.Since = deletedAt(pod)
		}
		if len(f.Evidence) < 3 {
			f.Evidence = append(f.Evidence, Evidence{Object: "pod/" + pod.Name, Path: ".metadata.deletionTimestamp", Value: pod.DeletionTimestamp.UTC().Format(timeFormat)})
		}
	}
	if len(lines) == 0 {
		return nil
	}
	f.Message = lines[0]
	if len(lines) > 1 {
		f.Message, f.Details = fmt.Sprintf("%d Pods are ending", len(lines)), cutLines(lines, 10)
	}
	if !p.Finished() && replacementWaits(v.Job) {
		f.Next = "a replacement is made when it has ended (podReplacementPolicy Failed)"
	}
	return []Finding{f}
}

// heldBy are the finalizers that keep an ended Pod. The Job controller's own goes by itself while the Job is there.
func heldBy(v view, pod *corev1.Pod) []string {
	return slices.DeleteFunc(slices.Clone(pod.Finalizers), func(name string) bool { return name == batchv1.JobTrackingFinalizer && !v.Deleted })
}

func cutLines(lines []string, most int) []string {
	if len(lines) <= most {
		return lines
	}
	return append(slices.Clone(lines[:most]), fmt.Sprintf("and %d more", len(lines)-most))
}

// findDisrupted: Pods were ended from outside: preemption, eviction, a taint, the node's own pressure
// (https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions).
func findDisrupted(v view, p Phase) []Finding {
	var found []Finding
	for _, pod := range v.pods {
		c := podCondition(pod, corev1.DisruptionTarget)
		if c == nil || c.Status != corev1.ConditionTrue || p.Finished() && pod.Status.Phase != corev1.PodFailed {
			continue
		}
		f := Finding{
			Severity: SeverityWarning, Reason: c.Reason, Since: c.LastTransitionTime.Time,
			Message:  fmt.Sprintf("pod %s was %s: %s", pod.Name, disruption(c.Reason), c.Message),
			Evidence: []Evidence{{Object: "pod/" + pod.Name, Path: `.status.conditions[?(@.type=="DisruptionTarget")]`, Value: c.Reason + ": " + c.Message}},
		}
		if rule := matchedRule(v.Job, pod); rule >= 0 {
			f.Message += "; " + describeRule(v.Job, rule)
			if v.Job.Spec.PodFailurePolicy.Rules[rule].Action == batchv1.PodFailurePolicyActionIgnore {
				f.Message += ": ignored (disruption), it does not count as a failure"
			}
		}
		if len(found) < maxDisrupted {
			found = append(found, f)
		}
	}
	return found
}

const maxDisrupted = 5

func disruption(reason string) string {
	words := map[string]string{
		corev1.PodReasonPreemptionByScheduler: "preempted by a Pod of higher priority", "DeletionByTaintManager": "evicted because of its node's taint",
		"EvictionByEvictionAPI": "evicted", "DeletionByPodGC": "removed because its node is gone", corev1.PodReasonTerminationByKubelet: "ended by its node",
	}
	if w := words[reason]; w != "" {
		return w
	}
	return "disrupted (" + reason + ")"
}

const (
	createdText = `^Created pod: (\S+)`
	deletedText = `^Deleted pod: (\S+)`
)

// podNames are the names of all Pods that the Job controller made, as its events tell, those still there included.
func podNames(v view) (made, removed []string) {
	for i := range v.Events {
		e := &v.Events[i]
		if e.InvolvedObject.UID != v.Job.UID {
			continue
		}
		if m := match(createdText, strings.TrimPrefix(e.Message, combinedPrefix)); e.Reason == "SuccessfulCreate" && m != nil {
			made = append(made, m[1])
		}
		if m := match(deletedText, strings.TrimPrefix(e.Message, combinedPrefix)); e.Reason == "SuccessfulDelete" && m != nil {
			removed = append(removed, m[1])
		}
	}
	return made, removed
}

// findPodsGone: Pods that the Job controller made and did not remove are not there any more. Their events are the only
// witnesses.
func findPodsGone(v view, p Phase) []Finding {
	if v.PodsHidden || v.EventsHidden || p == PhasePaused || p == PhaseQueued || p == PhaseWaiting || v.Job.DeletionTimestamp != nil || v.Deleted {
		return nil
	}
	made, removed := podNames(v)
	var lines []string
	f := Finding{Severity: SeverityWarning, Reason: "PodsGone"}
	for _, name := range made {
		if slices.Contains(removed, name) || slices.ContainsFunc(v.pods, func(pod *corev1.Pod) bool { return pod.Name == name }) {
			continue
		}
		text := fmt.Sprintf("pod %s is gone: deleted or evicted by someone", name)
		if e := lastWord(v, name); e != nil {
			text = fmt.Sprintf("pod %s is gone: %s: %s", name, e.Reason, e.Message)
			f.Reason, f.Since = goneReason(e), EventTime(e)
			f.Evidence = append(f.Evidence, eventEvidence(e))
		}
		lines = append(lines, text)
	}
	switch {
	case len(lines) == 0:
		return nil
	case p.Finished():
		f.Severity, f.Reason = SeverityInfo, "PodsRemoved"
		f.Message = fmt.Sprintf("%d Pods have ended and were removed, and their output with them", len(lines))
		if len(lines) == 1 {
			f.Message = "1 Pod has ended and was removed, and its output with it"
		}
		f.Details, f.Evidence = nil, nil
	case len(lines) == 1:
		f.Message = lines[0]
	default:
		f.Message, f.Details = fmt.Sprintf("%d Pods are gone", len(lines)), cutLines(lines, 10)
	}
	return []Finding{f}
}

// lastWord is the newest event that tells why a Pod that is gone had to go.
func lastWord(v view, pod string) *corev1.Event {
	var newest *corev1.Event
	for i := range v.Events {
		e := &v.Events[i]
		if e.InvolvedObject.Kind == "Pod" && e.InvolvedObject.Name == pod && goneReason(e) != "PodsGone" &&
			(newest == nil || EventTime(e).After(EventTime(newest))) {
			newest = e
		}
	}
	return newest
}

func goneReason(e *corev1.Event) string {
	switch e.Reason {
	case "Preempted":
		return "PodPreempted"
	case "TaintManagerEviction":
		return "PodEvictedByTaint"
	case "Evicted", "Eviction":
		return "PodEvicted"
	}
	return "PodsGone"
}

// findOverlap: the Job picks its selector itself, and Pods of others match it.
func findOverlap(v view, _ Phase) []Finding {
	if v.Job.Spec.ManualSelector == nil || !*v.Job.Spec.ManualSelector {
		return nil
	}
	var names []string
	for _, pod := range v.Pods {
		if !slices.Contains(v.pods, pod) {
			names = append(names, pod.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	return []Finding{{
		Severity: SeverityWarning, Reason: "SelectorOverlap", Field: "spec.selector", Details: cutLines(names, 10),
		Message:  fmt.Sprintf("%s of others match its selector (manualSelector: true): two Jobs of one selector count and delete each other's Pods", count(int32(len(names)), "Pod", "Pods")), //nolint:gosec // few
		Evidence: []Evidence{{Object: "job/" + v.Job.Name, Path: ".spec.manualSelector", Value: "true"}},
		Advice:   []Advice{{Command: "kubectl work export " + v.Job.Name, Risk: RiskInspect, Why: "submit it without selector and manualSelector; the server makes a unique one"}},
	}}
}
