package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/resource"
	scheduling "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

// maxNodeLines bounds the nodes that a finding compares with.
const maxNodeLines = 8

// nodeLines compares a Pod with each node in sight: what it lacks there. Nil without nodes.
func nodeLines(v view, pod *corev1.Pod) []string {
	var lines []string
	for i, node := range v.Nodes {
		if i == maxNodeLines {
			lines = append(lines, fmt.Sprintf("and %d more nodes", len(v.Nodes)-maxNodeLines))
			break
		}
		if lacks := lacking(v, pod, node); len(lacks) > 0 {
			lines = append(lines, fmt.Sprintf("node %s: %s", node.Name, strings.Join(lacks, "; ")))
		}
	}
	return lines
}

// lacking says why a node does not take a Pod, in the order in which the scheduler looks: the node's own state, taints,
// selectors, room.
func lacking(v view, pod *corev1.Pod, node *corev1.Node) []string {
	var lacks []string
	if node.Spec.Unschedulable {
		lacks = append(lacks, "cordoned")
	}
	if ready := nodeCondition(node, corev1.NodeReady); ready == nil || ready.Status != corev1.ConditionTrue {
		lacks = append(lacks, "not ready")
	}
	for _, taint := range node.Spec.Taints {
		if keeps(taint) && !scheduling.TolerationsTolerateTaint(logr.Discard(), pod.Spec.Tolerations, &taint, true) &&
			taint.Key != corev1.TaintNodeUnschedulable && taint.Key != corev1.TaintNodeNotReady && taint.Key != corev1.TaintNodeUnreachable {
			lacks = append(lacks, fmt.Sprintf("taint %s is not tolerated", taint.ToString()))
		}
	}
	if fits, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node); err != nil || !fits {
		lacks = append(lacks, notMatching(pod, node))
	}
	return append(lacks, shortOf(v, pod, node)...)
}

func keeps(taint corev1.Taint) bool {
	return taint.Effect == corev1.TaintEffectNoSchedule || taint.Effect == corev1.TaintEffectNoExecute
}

// notMatching names the labels that a Pod's nodeSelector wants and a node has not.
func notMatching(pod *corev1.Pod, node *corev1.Node) string {
	var wrong []string
	for key, want := range pod.Spec.NodeSelector {
		has, there := node.Labels[key]
		switch {
		case !there:
			wrong = append(wrong, fmt.Sprintf("no label %s (wanted: %s)", key, want))
		case has != want:
			wrong = append(wrong, fmt.Sprintf("label %s=%s (wanted: %s)", key, has, want))
		}
	}
	slices.Sort(wrong)
	if len(wrong) == 0 {
		return "its node affinity does not match"
	}
	return strings.Join(wrong, ", ")
}

// shortOf compares what a Pod asks for with what is free on a node.
func shortOf(v view, pod *corev1.Pod, node *corev1.Node) []string {
	used := corev1.ResourceList{}
	pods := 0
	for _, other := range v.NodePods {
		if other.Spec.NodeName != node.Name || Terminal(other) {
			continue
		}
		pods++
		for name, q := range resource.PodRequests(other, resource.PodResourcesOptions{}) {
			sum := used[name]
			sum.Add(q)
			used[name] = sum
		}
	}
	var lacks []string
	for name, asked := range resource.PodRequests(pod, resource.PodResourcesOptions{}) {
		allocatable := node.Status.Allocatable[name]
		free := allocatable.DeepCopy()
		free.Sub(used[name])
		if asked.Cmp(free) <= 0 {
			continue
		}
		has := fmt.Sprintf("%s of %s free", free.String(), allocatable.String())
		if v.NodePods == nil {
			has = allocatable.String() + " in all"
		}
		lacks = append(lacks, fmt.Sprintf("%s: asks %s, %s", name, asked.String(), has))
	}
	slices.Sort(lacks)
	if limit, ok := node.Status.Allocatable[corev1.ResourcePods]; ok && v.NodePods != nil && int64(pods) >= limit.Value() {
		lacks = append(lacks, fmt.Sprintf("pods: %d of %s used", pods, limit.String()))
	}
	return lacks
}

func nodeCondition(node *corev1.Node, t corev1.NodeConditionType) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == t {
			return c
		}
	}
	return nil
}

// requests says what a Pod asks for and where it wants to run: `cpu 1k, node label tier=gpu`.
func requests(pod *corev1.Pod) string {
	var parts []string
	for name, q := range resource.PodRequests(pod, resource.PodResourcesOptions{}) {
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
