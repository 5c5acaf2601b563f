package status

import (
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

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
