package render

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// indexes shows which completion indexes are where, in compact ranges.
func (d *description) indexes() {
	x := d.v.Progress.Indexes
	if x == nil {
		return
	}
	var parts []string
	for _, part := range []struct{ what, ranges string }{
		{"succeeded", x.Succeeded}, {"failed", x.Failed}, {"active", x.Active}, {"left", x.Left},
	} {
		if part.ranges != "" {
			parts = append(parts, part.what+" "+status.ShortIndexes(part.ranges))
		}
	}
	d.field("Indexes", "%s", strings.Join(parts, "; "))
}

// figures shows the three figures of /debug, derived here because no watcher measured them.
func (d *description) figures() {
	f := status.FiguresOf(d.s)
	var parts []string
	if f.SyncDelay != nil {
		text := "first Pod after " + took(*f.SyncDelay)
		if *f.SyncDelay > status.SlowSync {
			text += " (slow)"
		}
		parts = append(parts, text)
	}
	if f.SuccessRate != nil && *f.SuccessRate < 1 {
		parts = append(parts, fmt.Sprintf("%.0f %% of the last %d attempts to make a Pod worked", *f.SuccessRate*100, f.Creates))
	}
	if !f.LastRetry.IsZero() {
		parts = append(parts, "last refused "+Age(f.LastRetry, d.s.At)+" ago")
	}
	if len(parts) > 0 {
		d.field("Controller", "%s (derived)", strings.Join(parts, ", "))
	}
}

// took is a duration of a person's size: 0s, 340ms, 12s, 3m20s.
func took(t time.Duration) string {
	if t > 0 && t < time.Second {
		return t.Round(time.Millisecond).String()
	}
	return duration.HumanDuration(max(t, 0))
}

// timeline shows the life of the run: when each step came, and how long after the one before.
func (d *description) timeline() {
	steps := status.Timeline(d.s)
	if len(steps) < 2 {
		return
	}
	d.section("Timeline")
	var rows [][]string
	for i, s := range steps {
		after := ""
		if i > 0 {
			after = "+" + took(s.Took)
		}
		note := strings.TrimSpace(s.Object + " " + s.Note)
		rows = append(rows, []string{s.At.UTC().Format(time.RFC3339), after, s.Name, note})
	}
	d.table([]string{"AT", "AFTER", "STEP", "OBJECT"}, rows)
}

// owners draws what the Job belongs to; its Pods are in their own table.
func (d *description) owners() {
	refs := d.s.Job.OwnerReferences
	if len(refs) == 0 {
		return
	}
	d.section("Owners")
	for _, ref := range refs {
		how := ""
		if ref.Controller != nil && *ref.Controller {
			how = " (controller)"
		}
		d.printf("  %s\n", Line(strings.ToLower(ref.Kind)+"/"+ref.Name+how))
	}
	d.printf("  └─ job/%s\n", Line(d.s.Job.Name))
	for i, pod := range d.pods {
		if i == maxPods {
			d.printf("     └─ and %d more Pods\n", len(d.pods)-maxPods)
			break
		}
		d.printf("     └─ pod/%s\n", Line(pod.Name))
	}
}

// usage sets what containers use against what they ask for.
func (d *description) usage() {
	if len(d.s.Usage) == 0 {
		return
	}
	d.section("Usage")
	var rows [][]string
	for _, u := range d.s.Usage {
		asked, limits := d.resources(u.Pod, u.Container)
		rows = append(rows, []string{
			u.Pod, u.Container,
			resource.NewMilliQuantity(u.CPU, resource.DecimalSI).String(), quantity(asked, corev1.ResourceCPU), quantity(limits, corev1.ResourceCPU),
			mebibytes(u.Memory), quantity(asked, corev1.ResourceMemory), quantity(limits, corev1.ResourceMemory),
		})
	}
	d.table([]string{"POD", "CONTAINER", "CPU", "REQUEST", "LIMIT", "MEMORY", "REQUEST", "LIMIT"}, rows)
}

func (d *description) resources(pod, container string) (requests, limits corev1.ResourceList) {
	for _, p := range d.pods {
		if p.Name != pod {
			continue
		}
		for _, c := range append(p.Spec.InitContainers, p.Spec.Containers...) {
			if c.Name == container {
				return c.Resources.Requests, c.Resources.Limits
			}
		}
	}
	return nil, nil
}

func quantity(list corev1.ResourceList, name corev1.ResourceName) string {
	if q, ok := list[name]; ok {
		return q.String()
	}
	return "-"
}

func mebibytes(n int64) string { return fmt.Sprintf("%dMi", n>>20) }

// tasks shows what tasks serve about themselves.
func (d *description) tasks() {
	for _, task := range d.s.Tasks {
		d.section(fmt.Sprintf("Status that pod %s serves at %s", Line(task.Pod), Line(task.From)))
		if task.Error != "" {
			d.printf("  not there: %s\n", Line(task.Error))
		}
		for line := range strings.Lines(task.Text) {
			d.printf("  %s\n", Line(line))
		}
	}
}
