package status

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Indexes says which completion indexes of an Indexed Job are where, in Kubernetes' own notation: 0-2,4.
type Indexes struct {
	Total     int32  `json:"total"`
	Succeeded string `json:"succeeded,omitempty"`
	Failed    string `json:"failed,omitempty"` // given up by backoffLimitPerIndex
	Active    string `json:"active,omitempty"` // a Pod of it lives
	Left      string `json:"left,omitempty"`   // none of these
}

// span is a range of indexes, both ends included.
type span struct{ from, to int }

// parseIndexes reads Kubernetes' notation of index ranges. What cannot be read is left out.
func parseIndexes(text string) []span {
	var spans []span
	for part := range strings.SplitSeq(text, ",") {
		first, last, ranged := strings.Cut(part, "-")
		from, err := strconv.Atoi(first)
		if err != nil {
			continue
		}
		to := from
		if ranged {
			if to, err = strconv.Atoi(last); err != nil {
				continue
			}
		}
		spans = append(spans, span{from, to})
	}
	return spans
}

func formatIndexes(spans []span) string {
	var parts []string
	for _, s := range spans {
		text := strconv.Itoa(s.from)
		if s.to != s.from {
			text += "-" + strconv.Itoa(s.to)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ",")
}

func countIndexes(spans []span) int {
	n := 0
	for _, s := range spans {
		n += s.to - s.from + 1
	}
	return n
}

// joinIndexes makes ranges of single indexes.
func joinIndexes(indexes []int) []span {
	slices.Sort(indexes)
	var spans []span
	for _, i := range slices.Compact(indexes) {
		if n := len(spans) - 1; n >= 0 && spans[n].to == i-1 {
			spans[n].to = i
			continue
		}
		spans = append(spans, span{i, i})
	}
	return spans
}

// restOf are the indexes below total that no range holds.
func restOf(total int, taken []span) []span {
	slices.SortFunc(taken, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	var rest []span
	next := 0
	for _, s := range taken {
		if s.from > next {
			rest = append(rest, span{next, s.from - 1})
		}
		next = max(next, s.to+1)
	}
	if next < total {
		rest = append(rest, span{next, total - 1})
	}
	return rest
}

// ShortIndexes cuts a long list of ranges: 0-2,4-9,… (214 in all).
func ShortIndexes(text string) string {
	const most = 8
	spans := parseIndexes(text)
	if len(spans) <= most {
		return text
	}
	return fmt.Sprintf("%s,… (%d in all)", formatIndexes(spans[:most]), countIndexes(spans))
}

// indexesOf is nil for a Job without indexes.
func indexesOf(v view) *Indexes {
	mode := v.Job.Spec.CompletionMode
	if mode == nil || *mode != batchv1.IndexedCompletion || v.Job.Spec.Completions == nil {
		return nil
	}
	x := &Indexes{Total: *v.Job.Spec.Completions, Succeeded: v.Job.Status.CompletedIndexes}
	if f := v.Job.Status.FailedIndexes; f != nil {
		x.Failed = *f
	}
	var alive []int
	for _, pod := range v.live() {
		if i, ok := indexOf(pod); ok {
			alive = append(alive, i)
		}
	}
	active := joinIndexes(alive)
	x.Active = formatIndexes(active)
	taken := slices.Concat(parseIndexes(x.Succeeded), parseIndexes(x.Failed), active)
	if !v.PodsHidden {
		x.Left = formatIndexes(restOf(int(x.Total), taken))
	}
	return x
}

// indexOf is the completion index of a Pod, if it has one.
func indexOf(pod *corev1.Pod) (int, bool) {
	i, err := strconv.Atoi(pod.Annotations[batchv1.JobCompletionIndexAnnotation])
	return i, err == nil
}

// findIndexesFailed: some indexes are given up while the others go on. The Job will fail at the end.
func findIndexesFailed(v view, p Phase) []Finding {
	if p != PhaseRunning && p != PhaseInitializing || v.Job.Status.FailedIndexes == nil || *v.Job.Status.FailedIndexes == "" {
		return nil
	}
	failed := *v.Job.Status.FailedIndexes
	f := Finding{
		Severity: SeverityWarning, Reason: "IndexesFailed", Message: failedIndexes(v.Job),
		Evidence: []Evidence{{Object: "job/" + v.Job.Name, Path: ".status.failedIndexes", Value: failed}},
		Next:     "the other indexes go on; the Job fails when they have ended",
	}
	if most := v.Job.Spec.MaxFailedIndexes; most != nil {
		f.Next = fmt.Sprintf("the other indexes go on; the Job fails when they have ended, or when more than %d have failed (maxFailedIndexes)", *most)
	}
	if text := failureOf(v).cause(v); text != "" {
		f.Message += "; the last: " + text
	}
	return []Finding{f}
}

// failedIndexes counts and names the indexes that were given up.
func failedIndexes(job *batchv1.Job) string {
	text := ""
	if f := job.Status.FailedIndexes; f != nil {
		text = *f
	}
	n := countIndexes(parseIndexes(text))
	what := fmt.Sprintf("%d of %d indexes failed: %s", n, completions(job), ShortIndexes(text))
	switch {
	case job.Spec.MaxFailedIndexes != nil && n > int(*job.Spec.MaxFailedIndexes):
		what += fmt.Sprintf(" (maxFailedIndexes %d)", *job.Spec.MaxFailedIndexes)
	case job.Spec.BackoffLimitPerIndex != nil:
		what += fmt.Sprintf(" (backoffLimitPerIndex %d)", *job.Spec.BackoffLimitPerIndex)
	}
	return what
}

// Unfinished are the completion indexes of an Indexed Job that did not succeed, nil for a Job without indexes.
func Unfinished(job *batchv1.Job) []int {
	x := indexesOf(view{Snapshot: Snapshot{Job: job}})
	if x == nil {
		return nil
	}
	var left []int
	for _, s := range restOf(int(x.Total), parseIndexes(x.Succeeded)) {
		for i := s.from; i <= s.to; i++ {
			left = append(left, i)
		}
	}
	return left
}
