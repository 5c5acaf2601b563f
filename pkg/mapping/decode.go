package mapping

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1alpha1"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// DecodeOptions says how to read input.
type DecodeOptions struct {
	SkipOtherKinds bool // documents that are neither Work nor Job are passed over instead of refused
}

// Decode reads every Work and Job of a file: YAML or JSON, one or more documents, Lists unpacked. It reports everything
// wrong at once. Documents with problems are among those returned, as far as they could be read, so that Validate can
// say what else is wrong with them: who gets Problems must not go on to create anything.
func Decode(file string, data []byte, o DecodeOptions) ([]*Document, Problems) {
	documents, problems := decode(file, data, o)
	return documents, problems.sorted().capped()
}

// Read is Decode and Validate of everything; the documents are sound when there are no problems.
func Read(file string, data []byte, o DecodeOptions) ([]*Document, Problems) {
	documents, problems := decode(file, data, o)
	for _, d := range documents {
		problems = append(problems, Validate(d)...)
	}
	return documents, problems.sorted().capped()
}

func decode(file string, data []byte, o DecodeOptions) ([]*Document, Problems) {
	text, problem := clean(data)
	if problem != nil {
		problem.File = file
		return nil, Problems{*problem}
	}
	d := &decoder{
		file: file, options: o,
		scalars: newScalars(),
		schema:  &schema{fields: map[reflect.Type][]field{}},
	}
	chunks := split(text)
	if len(chunks) > maxDocuments {
		return nil, Problems{{File: file, Message: fmt.Sprintf("the file has more than %d documents", maxDocuments), Fix: "split it"}}
	}
	for _, c := range chunks {
		d.chunk(c)
	}
	if len(d.documents) == 0 && len(d.problems) == 0 {
		message := "no documents: the file is empty"
		if d.number > 0 {
			message = "no Work or Job in it, only other kinds"
		} else if strings.TrimSpace(text) != "" {
			message = "no documents: nothing but comments and separators"
		}
		d.problems = append(d.problems, Problem{File: file, Message: message})
	}
	for _, doc := range d.documents {
		doc.several = d.number > 1
	}
	for i := range d.problems {
		d.problems[i].several = d.number > 1
	}
	return d.documents, d.problems
}

type decoder struct {
	file      string
	options   DecodeOptions
	scalars   *scalars
	schema    *schema
	number    int // documents so far that hold something
	documents []*Document
	problems  Problems
}

// report is a problem of the document being read.
func (d *decoder) report(line, column int, path, message, fix string) {
	if len(d.problems) < maxKept {
		d.problems = append(d.problems, Problem{
			File: d.file, Document: d.number, Line: line, Column: column, Path: path, Message: message, Fix: fix,
		})
	}
}

func (d *decoder) chunk(c chunk) {
	nodes, err := parse(c.text)
	for _, n := range nodes {
		if n.Kind != yamlv3.DocumentNode || len(n.Content) == 0 || isNothing(n.Content[0]) {
			continue
		}
		d.number++
		converter := newConverter(d.report, d.scalars, c.line, c.column)
		root := converter.convert(n, nil, 0)
		if !converter.refused {
			d.root(root)
		}
	}
	if err != nil {
		d.number++
		p := syntaxProblem(c, err)
		d.report(p.Line, p.Column, "", p.Message, p.Fix)
	}
}

func isNothing(n *yamlv3.Node) bool {
	return n.Kind == yamlv3.ScalarNode && n.Tag == "!!null"
}

// root takes one document of the file.
func (d *decoder) root(v *value) {
	if v.kind != objectKind {
		d.report(v.line, v.column, "", v.is()+", a document of the form key: value is wanted", "begin it with apiVersion and kind")
		return
	}
	d.object(v, "", 0, "", "")
}

// object takes one object: a Work, a Job, or a List of them. apiVersion and kind are the defaults a typed list gives.
func (d *decoder) object(v *value, prefix string, item int, apiVersion, kind string) {
	const apiVersionKey, kindKey = "apiVersion", "kind"
	given := func(key, otherwise string) string {
		if m := v.member(key); m != nil && m.value.kind != nullKind {
			return m.value.text
		}
		return otherwise
	}
	apiVersion, kind = given(apiVersionKey, apiVersion), given(kindKey, kind)
	switch what, fix := classify(apiVersion, kind); what {
	case isWork, isAlpha, isJob:
		d.document(v, prefix, item, what)
	case isList:
		d.list(v, prefix, "", "")
	case isJobList:
		d.list(v, prefix, batchv1.SchemeGroupVersion.String(), "Job")
	case isOther:
		if d.options.SkipOtherKinds {
			return
		}
		d.kindProblem(v, prefix, fmt.Sprintf("kind %s of %s is neither a Work nor a Job", kind, apiVersion), fix)
	case isWrong:
		message := "apiVersion " + quoted(apiVersion) + " with kind " + quoted(kind) + " is not read"
		switch {
		case apiVersion == "" && kind == "":
			message = "apiVersion and kind are missing"
		case apiVersion == "":
			message = "apiVersion is missing"
		case kind == "":
			message = "kind is missing"
		case strings.HasPrefix(fix, "use "):
			message = "apiVersion " + apiVersion + " is not read by this version"
		}
		d.kindProblem(v, prefix, message, fix)
	}
}

// kindProblem points at the line of kind, or of apiVersion, or at the object.
func (d *decoder) kindProblem(v *value, prefix, message, fix string) {
	line, column := v.line, v.column
	for _, key := range []string{"apiVersion", "kind"} {
		if m := v.member(key); m != nil {
			line, column = m.line, m.column
			break
		}
	}
	d.report(line, column, prefix, message, fix)
}

// maxLists bounds Lists in Lists.
const maxLists = 8

func (d *decoder) list(v *value, prefix, apiVersion, kind string) {
	if strings.Count(prefix, "items[") >= maxLists {
		d.report(v.line, v.column, prefix, "too many Lists inside each other", "")
		return
	}
	for _, m := range v.members {
		switch m.key {
		case "apiVersion", "kind", "metadata":
			continue
		case "items":
		default:
			d.report(m.line, m.column, join(prefix, m.key), "unknown field", "a List has items")
			continue
		}
		if m.value.kind != listKind && m.value.kind != nullKind {
			d.report(m.value.line, m.value.column, join(prefix, m.key), m.value.is()+", a list is wanted", "begin each item with -")
		}
		for i, item := range m.value.items {
			path := join(prefix, "items") + "[" + strconv.Itoa(i) + "]"
			if item.kind != objectKind {
				d.report(item.line, item.column, path, item.is()+", a Work or Job is wanted", "")
				continue
			}
			d.object(item, path, i+1, apiVersion, kind)
		}
	}
}

// document converts one Work or Job.
func (d *decoder) document(v *value, prefix string, item int, what class) {
	doc := &Document{File: d.file, Number: d.number, Item: item, Imported: what == isJob, root: v, prefix: prefix}
	doc.Notes = strip(v)
	check := &checker{schema: d.schema, report: func(line, column int, path, message, fix string) {
		if prefix != "" {
			path = join(prefix, path)
		}
		d.report(line, column, path, message, fix)
	}}
	switch what { //nolint:exhaustive // nothing else comes here
	case isJob:
		check.work = reflect.TypeFor[v1beta2.WorkSpec]()
		check.check(v, reflect.TypeFor[batchv1.Job](), nil)
	case isAlpha:
		check.check(v, reflect.TypeFor[v1alpha1.Work](), nil)
	default:
		if v.at("spec", "ttlSecondsAfterFinished") != nil {
			doc.Notes = append(doc.Notes, "spec.ttlSecondsAfterFinished is deprecated in a Work: use spec.cleanupPolicy.ttlSecondsAfterFinished")
		}
		check.check(v, reflect.TypeFor[v1beta2.Work](), nil)
	}
	doc.bad = check.bad
	if err := doc.convert(v, what); err != nil {
		d.report(v.line, v.column, prefix, "this document cannot be read, and why is not known", "please report it")
		return
	}
	d.documents = append(d.documents, doc)
}
