package watch

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Filter narrows runs to those that are to go. All that is set must hold; the zero value lets every run pass.
type Filter struct {
	Finished  bool           // Succeeded or Failed for good
	Outcome   status.Outcome // that one, decided or recorded; "" is any
	OlderThan time.Duration  // since the end of a finished run, since the creation of others
	Keep      *int           // of what the others leave, so many of the newest runs of each Work stay
}

// Given tells whether the filter narrows anything.
func (f Filter) Given() bool {
	return f.Finished || f.Outcome != status.OutcomeNone || f.OlderThan != 0 || f.Keep != nil
}

// String says what passes, to follow "is".
func (f Filter) String() string {
	var parts []string
	if f.Finished {
		parts = append(parts, "finished")
	}
	if f.Outcome != status.OutcomeNone {
		parts = append(parts, strings.ToLower(string(f.Outcome)))
	}
	if f.OlderThan != 0 {
		parts = append(parts, "older than "+duration.HumanDuration(f.OlderThan))
	}
	if f.Keep != nil {
		parts = append(parts, fmt.Sprintf("beyond the newest %d of its Work", *f.Keep))
	}
	return strings.Join(parts, " and ")
}

// Left is a run that a Filter does not let pass.
type Left struct {
	Run *batchv1.Job
	Why string // "it is Running, not finished"
}

// Split sorts runs into those that pass, in their order, and those that are left.
func (f Filter) Split(runs []*batchv1.Job, at time.Time) (pass []*batchv1.Job, left []Left) {
	for _, run := range runs {
		if why := f.lacks(judge(run, at), run, at); why != "" {
			left = append(left, Left{Run: run, Why: why})
			continue
		}
		pass = append(pass, run)
	}
	if f.Keep == nil {
		return pass, left
	}
	kept := newest(pass, *f.Keep)
	pass = slices.DeleteFunc(pass, func(run *batchv1.Job) bool {
		if kept[run.UID] {
			left = append(left, Left{Run: run, Why: fmt.Sprintf("it is among the newest %d of its Work", *f.Keep)})
		}
		return kept[run.UID]
	})
	return pass, left
}

// lacks says why a run does not pass, Keep aside; "" when it does.
func (f Filter) lacks(v status.Verdict, run *batchv1.Job, at time.Time) string {
	since, what := run.CreationTimestamp.Time, "was created"
	if v.Phase.Finished() && !v.Since.IsZero() {
		since, what = v.Since, "ended"
	}
	age := max(at.Sub(since), 0)
	switch {
	case f.Finished && !v.Phase.Finished():
		return fmt.Sprintf("it is %s, not finished", v.Phase)
	case f.Outcome != status.OutcomeNone && v.Outcome != f.Outcome:
		return fmt.Sprintf("it is %s, not %s", v.Phase, strings.ToLower(string(f.Outcome)))
	case f.OlderThan != 0 && age <= f.OlderThan:
		return fmt.Sprintf("it %s %s ago", what, duration.HumanDuration(age))
	}
	return ""
}

// newest are the n newest runs of each Work: by number, then age. Jobs of no Work count together when a CronJob made them; any
// other stands for itself.
func newest(runs []*batchv1.Job, n int) map[types.UID]bool {
	ordered := slices.Clone(runs)
	slices.SortStableFunc(ordered, func(a, b *batchv1.Job) int {
		return cmp.Or(cmp.Compare(number(b), number(a)), b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(b.Name, a.Name))
	})
	kept, count := map[types.UID]bool{}, map[string]int{}
	for _, run := range ordered {
		if key := series(run); count[key] < n {
			count[key]++
			kept[run.UID] = true
		}
	}
	return kept
}

func number(run *batchv1.Job) int {
	if !mapping.Ours(run) { // the label of a clone tells of another Job
		return 0
	}
	return mapping.RunNumber(run)
}

// series is what the runs of one Work, or of one CronJob, have in common.
func series(run *batchv1.Job) string {
	if mapping.Ours(run) {
		return run.Namespace + "/work/" + mapping.WorkName(run)
	}
	if owner := metav1.GetControllerOf(run); owner != nil && owner.Kind == "CronJob" {
		return run.Namespace + "/cronjob/" + string(owner.UID)
	}
	return run.Namespace + "/job/" + string(run.UID)
}
