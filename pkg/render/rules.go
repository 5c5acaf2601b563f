package render

import (
	"bytes"
	"fmt"
	"io"

	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Rule explains one rule of the judge: what it looks for, and each of its reasons with how it is known.
func Rule(w io.Writer, r status.Rule) error {
	var rows [][]string
	for _, reason := range r.Reasons {
		rows = append(rows, []string{reason.Name, string(reason.Proof), reason.About})
	}
	var table bytes.Buffer
	if err := Table(&table, []string{"REASON", "KNOWN", "MEANING"}, rows); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s\n\n%s\n\n%s\n", r.ID, r.About, table.String())
	return err
}

// RuleTable is the page of all rules, as Markdown.
func RuleTable(rules []status.Rule) string {
	var out bytes.Buffer
	for _, r := range rules {
		fmt.Fprintf(&out, "## %s\n\n%s\n\n| reason | known | meaning |\n|---|---|---|\n", r.ID, r.About)
		for _, reason := range r.Reasons {
			fmt.Fprintf(&out, "| `%s` | %s | %s |\n", reason.Name, reason.Proof, reason.About)
		}
		fmt.Fprintln(&out)
	}
	return out.String()
}
