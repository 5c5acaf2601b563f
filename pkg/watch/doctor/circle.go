package doctor

import (
	"cmp"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// circles are runs that wait for each other, each circle told once: of the first of its runs by name.
func (v view) circles() []*Trouble {
	var found []*Trouble
	told := map[types.UID]bool{}
	for _, job := range v.Jobs {
		circle := v.pathBack(job, job, map[types.UID]bool{})
		if circle == nil {
			continue
		}
		start := slices.Index(circle, slices.MinFunc(circle, func(a, b *batchv1.Job) int { return cmp.Compare(a.Name, b.Name) }))
		circle = slices.Concat(circle[start:], circle[:start])
		first := circle[0]
		if told[first.UID] {
			continue
		}
		told[first.UID] = true
		var names []string
		for _, run := range append(circle, first) {
			names = append(names, run.Name)
		}
		t := aboutJob(first, status.Finding{
			Severity: status.SeverityError, Reason: "DependencyCircle", Since: first.CreationTimestamp.Time, Evidence: evidence(first),
			Message: "it waits for itself: " + strings.Join(names, " -> "),
			Next:    "none of them ever starts",
			Advice: []status.Advice{
				changes(first.Namespace, "kubectl work resume "+first.Name+" --force", "starts it, and the others follow"),
				changes(first.Namespace, "kubectl work stop "+first.Name, "ends it, and what waits for its success with it"),
			},
		})
		found = append(found, &t)
	}
	return found
}

// pathBack is a way from a run over what it waits for to another run, nil without one.
func (v view) pathBack(from, to *batchv1.Job, seen map[types.UID]bool) []*batchv1.Job {
	if seen[from.UID] || !watch.Moves(from) {
		return nil
	}
	seen[from.UID] = true
	holds, err := work.ParseHolds(from.Annotations[work.AnnotationHolds])
	if err != nil { // Moves has read them
		return nil
	}
	for _, h := range holds {
		if h.On == nil || v.byUID[h.On.UID] == nil {
			continue
		}
		next := v.byUID[h.On.UID]
		if next.UID == to.UID {
			return []*batchv1.Job{from}
		}
		if rest := v.pathBack(next, to, seen); rest != nil {
			return append([]*batchv1.Job{from}, rest...)
		}
	}
	return nil
}
