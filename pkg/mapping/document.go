package mapping

import (
	"bytes"
	"encoding/json"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1alpha1"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// Document is one Work of the input, converted to the hub version, not yet defaulted.
type Document struct {
	File     string
	Number   int // of the document in its file, from 1; empty and comment-only documents do not count
	Item     int // of the item in a List, from 1; 0: the document is no List
	Work     *v1beta2.Work
	Imported bool     // it was a plain batch/v1 Job
	Notes    []string // what the user should know: what was left out and why, what is deprecated

	alpha   *v1alpha1.Work // as it was written, when that is v1alpha1
	root    *value         // the Work in the file, positions and all
	prefix  string         // of its paths: "items[0]" in a List
	several bool
	bad     badPaths // what Decode has already said something about
}

// Problem is something wrong with d at path, which is the user's own ("spec.maxRetries") or the API server's; the
// position is added.
func (d *Document) Problem(path, message, fix string) Problem {
	path = d.written(path)
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

// badPaths are the paths that something was said about, and all that is above them.
type badPaths struct {
	at, above map[string]bool
}

func (b *badPaths) add(path string) {
	if b.at == nil {
		b.at, b.above = map[string]bool{}, map[string]bool{}
	}
	b.at[path] = true
	for path = parent(path); path != "" && !b.above[path]; path = parent(path) {
		b.above[path] = true
	}
}

// full says that enough was said for anyone.
func (b *badPaths) full() bool { return len(b.at) >= maxKept }

// touch says that something was said about path, something above it or something below it: what is missing or odd
// there follows from that.
func (b *badPaths) touch(path string) bool {
	if b.above[path] {
		return true
	}
	for ; path != ""; path = parent(path) {
		if b.at[path] {
			return true
		}
	}
	return b.at[""]
}

// parent cuts the last step off path. A key in brackets may hold dots.
func parent(path string) string {
	if strings.HasSuffix(path, "]") {
		return path[:max(0, strings.LastIndexByte(path, '['))]
	}
	return path[:max(0, strings.LastIndexByte(path, '.'))]
}

// convert makes the hub version of what is left in v.
func (d *Document) convert(v *value, what class) error {
	var b bytes.Buffer
	v.encode(&b)
	d.Work = &v1beta2.Work{}
	switch what { //nolint:exhaustive // nothing else comes here
	case isJob:
		var job batchv1.Job
		if err := json.Unmarshal(b.Bytes(), &job); err != nil {
			return err
		}
		d.Work.ObjectMeta, d.Work.Spec.JobSpec = job.ObjectMeta, job.Spec
	case isAlpha:
		d.alpha = &v1alpha1.Work{}
		if err := json.Unmarshal(b.Bytes(), d.alpha); err != nil {
			return err
		}
		var ignored bool
		var err error
		if d.Work, ignored, err = FromV1alpha1(d.alpha); err != nil {
			return err
		}
		d.staleOriginal(ignored)
		return nil
	default:
		if err := json.Unmarshal(b.Bytes(), d.Work); err != nil {
			return err
		}
	}
	d.Work.APIVersion, d.Work.Kind = v1beta2.GroupVersion.String(), v1beta2.Kind
	return nil
}

// staleOriginal notes that what rode along with the document was not used.
func (d *Document) staleOriginal(ignored bool) {
	if ignored {
		d.Notes = append(d.Notes, "annotation "+work.AnnotationConverted+" is ignored: the document was edited since it was converted")
	}
}

// written is where a path of the hub version is in a document of another one.
func (d *Document) written(path string) string {
	if d.alpha == nil {
		return path
	}
	moved := [][2]string{
		{"spec.cleanupPolicy.ttlSecondsAfterFinished", "spec.ttlSecondsAfterFinished"},
		{"spec.schedulingPolicy.priority", "spec.priority"},
	}
	if d.alpha.Spec.RetryStrategy != nil {
		moved = append(moved, [2]string{"spec.maxRetries", "spec.retryStrategy.limit"}, [2]string{"spec.podFailurePolicy", "spec.retryStrategy.onExitCodes"})
	}
	for _, m := range moved {
		if path == m[0] || strings.HasPrefix(path, m[0]+".") || strings.HasPrefix(path, m[0]+"[") {
			return m[1]
		}
	}
	return path
}
