package mapping

import (
	"strings"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// Document is one Work of the input, converted to the hub version, not yet defaulted.
type Document struct {
	File     string
	Number   int // of the document in its file, from 1; empty and comment-only documents do not count
	Item     int // of the item in a List, from 1; 0: the document is no List
	Work     *v1beta2.Work
	Imported bool     // it was a plain batch/v1 Job
	Notes    []string // what was left out and why, in the words for the user

	root    *value // the Work in the file, positions and all
	prefix  string // of its paths: "items[0]" in a List
	several bool
	bad     []string // paths Decode has already said something about
}

// Problem is something wrong with d at path, which is the user's own ("spec.maxRetries") or the API server's; the
// position is added.
func (d *Document) Problem(path, message, fix string) Problem {
	line, column := d.Position(path)
	return d.problemAt(line, column, path, message, fix)
}

func (d *Document) problemAt(line, column int, path, message, fix string) Problem {
	if d.prefix != "" && path != "" {
		path = d.prefix + "." + path
	} else if path == "" {
		path = d.prefix
	}
	return Problem{
		File: d.File, Document: d.Number, Line: line, Column: column,
		Path: path, Message: message, Fix: fix, several: d.several,
	}
}

// Position is where path is in the file, else its nearest ancestor that is there. It accepts the paths of the API
// server's field errors (spec.template.spec.containers[0].image, metadata.labels[foo], spec.template.labels).
// 0, 0 when d was not read from a file.
func (d *Document) Position(path string) (line, column int) {
	if d.root == nil {
		return 0, 0
	}
	line, column = d.root.line, d.root.column
	for _, m := range d.root.members { // the first key: in flow style the root's own place is its brace
		line, column = m.line, m.column
		break
	}
	if d.prefix != "" {
		path = strings.TrimPrefix(path, d.prefix+".")
	}
	current := d.root
	for steps := parsePath(path); len(steps) > 0; {
		next, m, used := descend(current, steps)
		if next == nil {
			break
		}
		line, column = next.line, next.column
		scalar := next.kind != listKind && next.kind != objectKind && next.kind != nullKind
		if m != nil && !scalar {
			line, column = m.line, m.column
		}
		current, steps = next, steps[used:]
	}
	return line, column
}

// touched says that Decode reported path, something above it or something below it: what is missing or odd there
// follows from that.
func (d *Document) touched(path string) bool {
	for _, bad := range d.bad {
		if bad == path || under(path, bad) || under(bad, path) {
			return true
		}
	}
	return false
}

func under(path, ancestor string) bool {
	rest, ok := strings.CutPrefix(path, ancestor)
	return ok && rest != "" && (rest[0] == '.' || rest[0] == '[' || ancestor == "")
}
