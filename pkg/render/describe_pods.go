package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Up to maxPods are listed by describe; of more a few, failed and living ones first, and the others are counted by state.
const (
	maxPods = 20
	fewPods = 8
)

func (d *description) podTable() {
	d.section("Pods")
	switch {
	case d.s.PodsHidden:
		d.printf("  not shown: no right to list Pods\n")
		return
	case len(d.pods) == 0:
		d.printf("  none\n")
		return
	}
	shown := d.pods
	if len(shown) > maxPods {
		shown = interesting(shown)
	}
	var rows [][]string
	for _, pod := range shown {
		ran := "-"
		if t, ok := status.RanFor(pod, d.s.At); ok {
			ran = duration.HumanDuration(t)
		}
		rows = append(rows, []string{
			pod.Name, string(pod.Status.Phase), PodState(pod), fmt.Sprint(restarts(pod)), pod.Spec.NodeName, ran, Age(pod.CreationTimestamp.Time, d.s.At),
		})
	}
	d.table([]string{"NAME", "PHASE", "STATE", "RESTARTS", "NODE", "RAN", "AGE"}, rows)
	d.morePods(shown)
}

// morePods counts the Pods that are not shown, by what they are at.
func (d *description) morePods(shown []*corev1.Pod) {
	counts := map[string]int{}
	for _, pod := range d.pods {
		if !slices.Contains(shown, pod) {
			counts[strings.TrimSpace(string(pod.Status.Phase)+" "+PodState(pod))]++
		}
	}
	if len(counts) == 0 {
		return
	}
	states := slices.SortedFunc(maps.Keys(counts), func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	const most = 4
	var parts []string
	for i, state := range states {
		if i == most {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, fmt.Sprintf("%d %s", counts[state], state))
	}
	d.printf("  and %d more: %s\n", len(d.pods)-len(shown), Line(strings.Join(parts, "; ")))
}

// interesting keeps fewPods Pods: failed ones and living ones before those that succeeded.
func interesting(pods []*corev1.Pod) []*corev1.Pod {
	var kept []*corev1.Pod
	for _, succeeded := range []bool{false, true} {
		for _, pod := range pods {
			if (pod.Status.Phase == corev1.PodSucceeded) == succeeded && len(kept) < fewPods {
				kept = append(kept, pod)
			}
		}
	}
	return kept
}
