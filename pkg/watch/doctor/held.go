package doctor

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// findStuck looks at each held run by itself, then at the lines of groups, then for circles. A run has one trouble at most:
// the first that is found.
func findStuck(v view) []Trouble {
	var found []Trouble
	add := func(t *Trouble) {
		if t != nil && !slices.ContainsFunc(found, func(other Trouble) bool { return other.Namespace == t.Namespace && other.Object == t.Object }) {
			found = append(found, *t)
		}
	}
	for _, job := range v.Jobs {
		add(v.unreadable(job))
	}
	for _, circle := range v.circles() {
		add(circle)
	}
	for _, job := range v.Jobs {
		if !watch.Moves(job) {
			continue
		}
		holds, err := work.ParseHolds(job.Annotations[work.AnnotationHolds])
		if err != nil { // Moves has read them
			continue
		}
		for _, h := range holds {
			add(v.stands(job, h))
		}
	}
	for _, t := range v.lines() {
		add(t)
	}
	return found
}

// unreadable takes up what the judge says.
func (v view) unreadable(job *batchv1.Job) *Trouble {
	for _, f := range v.verdicts[job.UID].Findings {
		if f.Reason == "HoldsUnreadable" && !watch.Restored(job) {
			f.Severity, f.Next = status.SeverityError, "no client acts on what it cannot read"
			f.Advice = []status.Advice{changes(job.Namespace, "kubectl work resume "+job.Name+" --force", "drops the annotation and starts its Pods")}
			t := aboutJob(job, f)
			return &t
		}
	}
	return nil
}

// stands says whether one hold could have been taken off for a while, or never can be.
func (v view) stands(job *batchv1.Job, h work.Hold) *Trouble {
	switch {
	case h.Type == work.HoldWaiting && h.On != nil:
		return v.dependency(job, h)
	case h.Type == work.HoldPaused && h.Until != nil && h.Until.After != nil && v.old(h.Until.After.Time, patience):
		return nobodyMoves(job, h.Until.After.Time, "its pause is over since "+stamp(h.Until.After.Time))
	}
	return nil
}

func (v view) dependency(job *batchv1.Job, h work.Hold) *Trouble {
	if h.On.UID == "" {
		next := v.nextRun(job, *h.On)
		if next == nil || !v.old(next.CreationTimestamp.Time, patience) {
			return nil
		}
		return nobodyMoves(job, next.CreationTimestamp.Time, fmt.Sprintf("the run that it waits for is there: job/%s, since %s", next.Name, stamp(next.CreationTimestamp.Time)))
	}
	run := v.byUID[h.On.UID]
	switch {
	case run == nil && v.old(h.Since.Time, settled):
		t := aboutJob(job, status.Finding{
			Severity: status.SeverityError, Reason: "DependencyGone", Since: h.Since.Time, Evidence: evidence(job),
			Message: fmt.Sprintf("it waits for job/%s to end %s, and that run is gone", h.On.Job, h.On.Outcome),
			Next:    "kubectl work watch ends it as DependencyLost, while it runs, unless events still tell of a success",
			Advice: []status.Advice{
				changes(job.Namespace, "kubectl work wait "+job.Name, "does what watch would do"),
				changes(job.Namespace, "kubectl work resume "+job.Name+" --force", "starts it all the same"),
				changes(job.Namespace, "kubectl work stop "+job.Name, "ends it"),
			},
		})
		return &t
	case run == nil || !status.Ended(run):
		return nil
	}
	verdict := v.verdicts[run.UID]
	if !v.old(verdict.Since, patience) {
		return nil
	}
	return nobodyMoves(job, verdict.Since, fmt.Sprintf("job/%s, which it waits for to end %s, is %s since %s", run.Name, h.On.Outcome, verdict.Phase, stamp(verdict.Since)))
}

// nextRun is the first run of a Work that came after another one waited for it.
func (v view) nextRun(job *batchv1.Job, d work.Dependency) *batchv1.Job {
	var next *batchv1.Job
	for _, run := range v.Jobs {
		ours := run.Namespace == job.Namespace && run.UID != job.UID && run.Labels[work.LabelTenant] == job.Labels[work.LabelTenant] &&
			mapping.WorkName(run) == d.Work && (mapping.Ours(run) || run.Name == d.Work)
		if n := mapping.RunNumber(run); ours && n > d.After && (next == nil || n < mapping.RunNumber(next)) {
			next = run
		}
	}
	return next
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func nobodyMoves(job *batchv1.Job, since time.Time, message string) *Trouble {
	t := aboutJob(job, status.Finding{
		Severity: status.SeverityError, Reason: "NobodyMoves", Since: since, Evidence: evidence(job),
		Message: message + ", and nobody moves it: run kubectl work watch",
		Next:    "it stays held until some client looks at it",
		Advice: []status.Advice{
			changes(job.Namespace, "kubectl work wait "+job.Name+" --for=released", "does once, for this run, what watch does all the time"),
			changes(job.Namespace, "kubectl work resume "+job.Name+" --force", "starts it, whatever it waits for"),
		},
	})
	return &t
}

func evidence(job *batchv1.Job) []status.Evidence {
	return []status.Evidence{{Object: "job/" + job.Name, Path: fmt.Sprintf(".metadata.annotations[%q]", work.AnnotationHolds), Value: job.Annotations[work.AnnotationHolds]}}
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
