package mapping

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxProblems bounds what Decode returns, so that a wrong file of megabytes does not become a wrong answer of
// gigabytes. A person fixes the first ones and runs again.
const maxProblems = 1000

// maxKept is where we stop to count.
const maxKept = 10 * maxProblems

// Problem is one thing wrong with the input: where, what, what to do.
type Problem struct {
	File         string
	Document     int // counts the documents that hold something, from 1; 0: the file as a whole
	Line, Column int // from 1; 0: no position
	Path         string
	Message, Fix string

	several bool // the file has several documents, so the number says something
}

// String is one line in the form compilers use: file:line:column: path: message; fix.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
		if p.Column > 0 {
			fmt.Fprintf(&b, ":%d", p.Column)
		}
	}
	if b.Len() > 0 {
		b.WriteString(": ")
	}
	if p.several && p.Document > 0 {
		fmt.Fprintf(&b, "document %d: ", p.Document)
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	if p.Fix != "" {
		b.WriteString("; " + p.Fix)
	}
	return b.String()
}

// Problems is everything wrong, in the order of the file. It is an error; none is an empty slice, not a nil error:
// use Err to return it as one.
type Problems []Problem

// Error is one line a problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Err is nil when there is no problem.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// sorted puts ps in the order of the file and drops what is said twice of one place (a block that aliases repeat).
func (ps Problems) sorted() Problems {
	type key struct {
		file         string
		line, column int
		message, fix string
	}
	seen := make(map[key]bool, len(ps))
	var kept Problems
	for _, p := range ps {
		k := key{p.File, p.Line, p.Column, p.Message, p.Fix}
		if p.Line == 0 || !seen[k] {
			kept = append(kept, p)
		}
		seen[k] = true
	}
	slices.SortStableFunc(kept, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return kept
}

// capped keeps the first maxProblems and counts the rest.
func (ps Problems) capped() Problems {
	if len(ps) <= maxProblems {
		return ps
	}
	rest := len(ps) - maxProblems
	last := ps[maxProblems-1]
	return append(ps[:maxProblems:maxProblems], Problem{
		File: last.File, Line: last.Line,
		Message: fmt.Sprintf("%d more problems after this line are not shown", rest),
	})
}
