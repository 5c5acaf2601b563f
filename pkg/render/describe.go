package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// maxEvents bounds the events that describe lists, newest last; those of the Job itself are all listed.
const maxEvents = 20

// Describe writes everything about one run: the verdict first.
func Describe(w io.Writer, s status.Snapshot, v status.Verdict) error {
	d := &description{s: s, v: v, pods: status.Owned(s)}
	d.printf("%s\n\n", Verdict(s.Job.Name, v))
	d.head()
	d.conditions()
	d.findings()
	d.timeline()
	d.owners()
	d.podTable()
	d.usage()
	d.tasks()
	d.eventTable()
	d.output()
	if d.err != nil {
		return d.err
	}
	_, err := w.Write(d.out.Bytes())
	return err
}

type description struct {
	s    status.Snapshot
	v    status.Verdict
	pods []*corev1.Pod
	out  bytes.Buffer
	err  error
}

func (d *description) printf(format string, args ...any) { fmt.Fprintf(&d.out, format, args...) }

// field prints one labelled line; the value passes Line.
func (d *description) field(label, format string, args ...any) {
	d.printf("%-13s%s\n", label+":", Line(fmt.Sprintf(format, args...)))
}

func (d *description) head() {
	job := d.s.Job
	d.field("Name", "%s", job.Name)
	d.field("Namespace", "%s", job.Namespace)
	if mapping.Ours(job) {
		by := job.Annotations[work.AnnotationSubmittedBy]
		if by != "" {
			by = ", submitted by " + by
		}
		d.field("Work", "%s, run %d%s", mapping.WorkName(job), mapping.RunNumber(job), by)
	}
	d.field("Phase", "%s%s", d.v.Phase, d.ago(d.v.Since, " for "))
	d.field("Progress", "%s", Progress(d.v.Progress))
	d.indexes()
	if text := retries(job); text != "" {
		d.field("Retries", "%s", text)
	}
	d.field("Created", "%s%s", job.CreationTimestamp.UTC().Format(time.RFC3339), d.ago(job.CreationTimestamp.Time, ", age "))
	if t := job.Status.StartTime; t != nil {
		text := t.UTC().Format(time.RFC3339)
		if end := ended(d.v, job); !end.IsZero() {
			text += ", ran " + Age(t.Time, end)
		}
		d.field("Started", "%s", text)
	}
	if s := job.Spec.ActiveDeadlineSeconds; s != nil {
		d.field("Deadline", "%s", deadline(job, d.v, *s, d.s.At))
	}
	d.figures()
}

// deadline says how much of activeDeadlineSeconds is left; Kubernetes counts from startTime, which a pause resets.
func deadline(job *batchv1.Job, v status.Verdict, seconds int64, at time.Time) string {
	text := fmt.Sprintf("%ds of activity", seconds)
	if recorded, err := work.ParseStatus(job.Annotations[work.AnnotationStatus]); err == nil && recorded.ResumedBudget > seconds && seconds > 0 {
		text += fmt.Sprintf(" (of %ds; the rest had passed before a pause)", recorded.ResumedBudget)
	}
	if job.Status.StartTime == nil || v.Phase.Finished() || v.Outcome != status.OutcomeNone {
		return text
	}
	left := time.Duration(seconds)*time.Second - at.Sub(job.Status.StartTime.Time)
	return text + fmt.Sprintf(", %ds left", int(max(left, 0).Seconds()))
}

func (d *description) ago(t time.Time, prefix string) string {
	if t.IsZero() {
		return ""
	}
	return prefix + Age(t, d.s.At)
}

// ended is when a finished run ended; completionTime is set on success only.
func ended(v status.Verdict, job *batchv1.Job) time.Time {
	if t := job.Status.CompletionTime; t != nil {
		return t.Time
	}
	if v.Phase == status.PhaseFailed {
		return v.Since
	}
	return time.Time{}
}

// retries shows how backoffLimit came about and what is used of it: both numbers, always.
func retries(job *batchv1.Job) string {
	switch {
	case job.Spec.BackoffLimitPerIndex != nil:
		return fmt.Sprintf("%d Pods failed, backoffLimitPerIndex %d", job.Status.Failed, *job.Spec.BackoffLimitPerIndex)
	case job.Spec.BackoffLimit == nil:
		return ""
	}
	text := fmt.Sprintf("%d failed, backoffLimit %d", job.Status.Failed, *job.Spec.BackoffLimit)
	if w, _, err := mapping.DecodeSpec(job); err == nil && w.Spec.MaxRetries != nil {
		factor := w.Spec.RetryFactor
		if factor == "" {
			factor = v1beta2.DefaultRetryFactor
		}
		text += fmt.Sprintf(" (maxRetries %d × retryFactor %s)", *w.Spec.MaxRetries, factor)
	}
	return text
}

func (d *description) section(title string) { d.printf("\n%s:\n", title) }

// table writes rows, indented under their section.
func (d *description) table(header []string, rows [][]string) {
	var text bytes.Buffer
	if err := Table(&text, header, rows); err != nil {
		d.err = err
		return
	}
	for line := range strings.Lines(text.String()) {
		d.printf("  %s", line)
	}
}

func (d *description) conditions() {
	if len(d.s.Job.Status.Conditions) == 0 {
		return
	}
	d.section("Conditions")
	var rows [][]string
	for _, c := range d.s.Job.Status.Conditions {
		rows = append(rows, []string{string(c.Type), string(c.Status), c.Reason, Age(c.LastTransitionTime.Time, d.s.At), c.Message})
	}
	d.table([]string{"TYPE", "STATUS", "REASON", "AGE", "MESSAGE"}, rows)
}

func (d *description) findings() {
	if len(d.v.Findings)+len(d.s.Unread) == 0 {
		return
	}
	d.section("Findings")
	for _, what := range d.s.Unread {
		d.printf("  not looked at: %s\n", Line(what))
	}
	for _, f := range d.v.Findings {
		message := f.Message
		if message == "" {
			message = f.Reason
		}
		d.printf("  %s (%s)\n", Line(message), findingMarks(f, d.s.At))
		for _, line := range findingLines(f) {
			d.printf("    %s\n", line)
		}
	}
}

func (d *description) eventTable() {
	d.section("Events")
	if d.s.EventsHidden {
		d.printf("  not shown: no right to list events\n")
		return
	}
	groups := status.CollapseEvents(d.s.Job.Name, status.RelatedEvents(d.s))
	if len(groups) == 0 {
		d.printf("  none (the cluster keeps them about an hour)\n")
		return
	}
	groups, cut := cutEvents(groups)
	if cut > 0 {
		d.printf("  %d older ones, not of the Job itself, are not shown\n", cut)
	}
	var rows [][]string
	for i := range groups {
		g := &groups[i]
		e := &g.Newest
		last := Age(status.EventTime(e), d.s.At)
		reason := e.Reason
		if g.Count > 1 {
			reason = fmt.Sprintf("%s (x%d over %s)", reason, g.Count, Age(g.First, d.s.At))
		}
		object := strings.ToLower(e.InvolvedObject.Kind) + "/" + e.InvolvedObject.Name
		if g.Objects > 1 {
			object += fmt.Sprintf(" and %d more", g.Objects-1)
		}
		rows = append(rows, []string{last, e.Type, reason, object, e.Message})
	}
	d.table([]string{"LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"}, rows)
}

// cutEvents leaves out the oldest events beyond maxEvents, but none of the Job itself: kubectl describe shows those too.
func cutEvents(groups []status.EventGroup) (kept []status.EventGroup, cut int) {
	more := len(groups) - maxEvents
	for _, g := range groups {
		if cut < more && g.Newest.InvolvedObject.Kind != "Job" {
			cut++
			continue
		}
		kept = append(kept, g)
	}
	return kept, cut
}

func (d *description) output() {
	for _, tail := range d.s.Logs {
		d.section(fmt.Sprintf("Output of pod %s, container %s (last lines, stdout and stderr mixed)", tail.Pod, tail.Container))
		switch {
		case tail.Error != "":
			d.printf("  not there: %s\n", Line(tail.Error))
		case len(tail.Lines) == 0:
			d.printf("  none\n")
		}
		for _, line := range tail.Lines {
			d.printf("  %s\n", Short(line))
		}
	}
}
