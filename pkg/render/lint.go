package render

import (
	"fmt"
	"strings"

	"github.com/kubectl-work/kubectl-work/pkg/lint"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

// LintOutput is the answer of lint in JSON.
type LintOutput struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Code       int        `json:"code"`
	Error      string     `json:"error,omitempty"`
	Items      []LintItem `json:"items"`
}

// LintItem is one remark, or one thing wrong, at its place.
type LintItem struct {
	File     string `json:"file"`
	Document int    `json:"document,omitempty"` // in the file, from 1
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Rule     string `json:"rule"` // "invalid" for what the API or we refuse
	Path     string `json:"path,omitempty"`
	Message  string `json:"message"`
	Fix      string `json:"fix,omitempty"`

	Details []string `json:"details,omitempty"` // the parts of a cause that has several
}

// LintItemOf is a problem in its place; rule says who found it.
func LintItemOf(rule string, p mapping.Problem) LintItem {
	return LintItem{File: p.File, Document: p.Document, Line: p.Line, Column: p.Column, Rule: rule, Path: p.Path, Message: p.Message, Fix: p.Fix}
}

// LintLine is one line in the form compilers use: file:line:column: rule: message; fix.
func LintLine(i LintItem) string {
	text := i.File
	if i.Line > 0 {
		text += fmt.Sprintf(":%d:%d", i.Line, i.Column)
	}
	text += fmt.Sprintf(": %s: %s", i.Rule, i.Message)
	if i.Fix != "" {
		text += "; " + i.Fix
	}
	return Line(text)
}

// LintRules is the list of all rules, as text.
func LintRules(rules []lint.Rule) string {
	var out strings.Builder
	for _, r := range rules {
		fmt.Fprintf(&out, "%s\n  %s\n", r.ID, r.About)
	}
	return out.String()
}

// LintTable is the same as Markdown.
func LintTable(rules []lint.Rule) string {
	var out strings.Builder
	out.WriteString("| rule | what may go wrong |\n|---|---|\n")
	for _, r := range rules {
		fmt.Fprintf(&out, "| `%s` | %s |\n", r.ID, r.About)
	}
	return out.String()
}
