package render

import (
	"fmt"
	"time"

	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// findingMarks are what stands behind a finding's sentence: its rule, how bad it is, since when, how sure.
func findingMarks(f status.Finding, at time.Time) string {
	text := fmt.Sprintf("%s, %s", f.ID, f.Severity)
	if !f.Since.IsZero() {
		text += ", since " + Age(f.Since, at)
	}
	if f.Confidence != "" {
		text += fmt.Sprintf(", confidence %s", f.Confidence)
	}
	return text
}

// findingLines are the lines below a finding's sentence: its parts, where it was seen, what happens next, what to do.
func findingLines(f status.Finding) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, Line(fmt.Sprintf(format, args...))) }
	for _, detail := range f.Details {
		add("- %s", detail)
	}
	for _, e := range f.Evidence {
		add("seen in  %s %s", e.Object, e.Path)
	}
	if f.Next != "" {
		add("next     %s", f.Next)
	}
	for _, a := range f.Advice {
		add("do       %s   (%s: %s)", a.Command, a.Risk, a.Why)
	}
	return lines
}
