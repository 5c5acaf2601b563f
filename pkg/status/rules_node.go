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
