package render

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Row is one run of a list.
type Row struct {
	Job     *batchv1.Job
	Verdict status.Verdict
	Gone    bool // the Job is not there any more: this is what was remembered of it
}

// ListOptions say how List draws.
type ListOptions struct {
	Namespaces bool // a first column with the namespace
	Wide       bool
	NoHeaders  bool
	Colour     bool
	Width      int       // of the terminal: the last column of a wide list is cut there; 0: never
	At         time.Time // ages are counted to here
}

// List writes runs as a table in kubectl's look.
func List(w io.Writer, rows []Row, o ListOptions) error {
	columns := listColumns(o)
	table := make([][]string, 0, len(rows)+1)
	if !o.NoHeaders {
		var header []string
		for _, c := range columns {
			header = append(header, c.title)
		}
		table = append(table, header)
	}
	for _, row := range rows {
		cells := make([]string, len(columns))
		for i, c := range columns {
			if cells[i] = Line(c.cell(row)); cells[i] == "" {
				cells[i] = nothing
			}
		}
		table = append(table, cells)
	}
	var paint func(column int, cell string) string
	if o.Colour {
		paint = func(column int, cell string) string {
			if columns[column].title == phaseTitle {
				return painted(cell)
			}
			return cell
		}
	}
	limit := 0
	if o.Wide {
		limit = o.Width
	}
	return align(w, table, limit, paint)
}

// RunList is a list for -o json: code and problem tell of names that are not there.
func RunList(rows []Row, code int, problem string) Output {
	out := Output{APIVersion: OutputVersion, Kind: "RunList", Code: code, Error: problem, Items: []Item{}}
	for _, row := range rows {
		item := ItemOf(row.Job)
		item.Verdict = &row.Verdict
		if row.Gone {
			item.Remark = "its Job is gone; the anchor of the Work remembers it"
		}
		out.Items = append(out.Items, item)
	}
	return out
}

// nothing fills an empty cell, so that the columns of a row can be counted.
const nothing = "-"

const phaseTitle = "PHASE"

type column struct {
	title string
	cell  func(Row) string
}

func listColumns(o ListOptions) []column {
	columns := []column{
		{"NAME", func(r Row) string { return r.Job.Name }},
		{"RUN", func(r Row) string {
			if !mapping.Ours(r.Job) {
				return ""
			}
			return strconv.Itoa(mapping.RunNumber(r.Job))
		}},
		{phaseTitle, phaseCell},
		{"PROGRESS", func(r Row) string { return progressCell(r.Verdict.Progress) }},
		{"REASON", func(r Row) string { return reasonCell(r.Verdict) }},
		{"AGE", func(r Row) string { return Age(r.Job.CreationTimestamp.Time, o.At) }},
		{"DURATION", func(r Row) string { return durationCell(r, o.At) }},
	}
	if o.Namespaces {
		columns = append([]column{{"NAMESPACE", func(r Row) string { return r.Job.Namespace }}}, columns...)
	}
	if o.Wide {
		columns = append(columns,
			column{"WORK", func(r Row) string {
				if !mapping.Ours(r.Job) {
					return ""
				}
				return mapping.WorkName(r.Job)
			}},
			column{"SUBMITTED-BY", func(r Row) string { return r.Job.Annotations[work.AnnotationSubmittedBy] }},
			column{"IMAGES", imagesCell},
			column{"MESSAGE", func(r Row) string { return r.Verdict.Message }})
	}
	return columns
}

// phaseCell is the phase. Without Pods in sight a Job that has some may be starting or running: it is not called either.
func phaseCell(r Row) string {
	if r.Verdict.Partial && r.Verdict.Phase == status.PhaseInitializing {
		return "Active (cannot see pods)"
	}
	return string(r.Verdict.Phase)
}

// progressCell is succeeded/wanted, and how many failed. A work queue wants at least one.
func progressCell(p status.Progress) string {
	text := fmt.Sprintf("%d/1+", p.Succeeded)
	if p.Wanted != nil {
		text = fmt.Sprintf("%d/%d", p.Succeeded, *p.Wanted)
	}
	if p.Failed > 0 {
		text += fmt.Sprintf(" (%d failed)", p.Failed)
	}
	return text
}

// imagesCell are the images of the main containers, each once.
func imagesCell(r Row) string {
	var images []string
	for _, c := range r.Job.Spec.Template.Spec.Containers {
		if !slices.Contains(images, c.Image) {
			images = append(images, c.Image)
		}
	}
	return strings.Join(images, ",")
}

// reasonCell is the verdict's reason where it needs attention and says more than the phase.
func reasonCell(v status.Verdict) string {
	if p := v.Place; p != nil && p.Position > 0 {
		return fmt.Sprintf("%s(%d/%d)", v.Reason, p.Position, p.Of)
	}
	if len(v.Findings) == 0 || v.Findings[0].Severity == status.SeverityInfo || v.Reason == string(v.Phase) {
		return ""
	}
	return v.Reason
}

// durationCell is the time from the start to the end, or so far. Both ends are stamps of the server.
func durationCell(r Row, at time.Time) string {
	start := r.Job.Status.StartTime
	if start == nil {
		return ""
	}
	end := ended(r.Verdict, r.Job)
	if end.IsZero() {
		end = at
	}
	return Age(start.Time, end)
}

// align writes rows with three blanks between columns and nothing after the last cell of a row, limit characters a row
// at most when limit is not 0. paint may wrap a cell in colour, which takes no room.
//
// It is not Table: a list can have ten thousand rows, for which tablewriter takes 300 ms (40 ms for a thousand) and this
// less than 20, so that a list is never slower than kubectl's. The cli-runtime printers' tabwriter is as fast but knows
// no colour: it would count an escape sequence as text. The price is that wide characters count as one, as in kubectl;
// only the last columns of a wide list can hold any.
func align(w io.Writer, rows [][]string, limit int, paint func(column int, cell string) string) error {
	const gap = 3
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var out strings.Builder
	for _, row := range rows {
		used := 0
		for i, cell := range row {
			last := i == len(row)-1
			if last && limit > 0 {
				cell = cut(cell, max(limit-used, minLast))
			}
			padding := widths[i] + gap - utf8.RuneCountInString(cell)
			used += widths[i] + gap
			if paint != nil {
				cell = paint(i, cell)
			}
			out.WriteString(cell)
			if !last {
				out.WriteString(strings.Repeat(" ", padding))
			}
		}
		out.WriteByte('\n')
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// minLast is what is left of the last column on a terminal that is too narrow: rows break there rather than say nothing.
const minLast = 40

// cut shortens text to at most limit characters.
func cut(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit-1]) + "…"
}

// painted gives a phase its colour: green and red for the ends, yellow for what waits for someone, cyan for what runs.
func painted(phase string) string {
	colour := ""
	switch status.Phase(phase) {
	case status.PhaseSucceeded:
		colour = "32"
	case status.PhaseFailed:
		colour = "31"
	case status.PhasePaused, status.PhaseQueued, status.PhaseWaiting:
		colour = "33"
	case status.PhaseRunning:
		colour = "36"
	case status.PhasePending, status.PhaseInitializing, status.PhaseTerminating:
	}
	if colour == "" {
		return phase
	}
	return "\x1b[" + colour + "m" + phase + "\x1b[0m"
}
