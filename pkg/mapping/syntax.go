package mapping

import (
	"errors"
	"io"
	"sort"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
)

// parse reads the YAML documents of one chunk. A chunk holds one, or several that "..." ends.
func parse(text string) ([]*yamlv3.Node, error) {
	var nodes []*yamlv3.Node
	decoder := yamlv3.NewDecoder(strings.NewReader(text))
	for {
		var n yamlv3.Node
		err := decoder.Decode(&n)
		if errors.Is(err, io.EOF) {
			return nodes, nil
		}
		if err != nil {
			return nodes, err
		}
		nodes = append(nodes, &n)
	}
}

// maxSearched bounds the text that is parsed again and again to find the line of an error.
const maxSearched = 1 << 20

// syntaxProblem says where and what is wrong with text that does not parse.
//
// The parser gives nothing but words, and the line in them is often the one where the enclosing block begins. The line
// where it stumbles is the shortest beginning of the text that gives the same words.
func syntaxProblem(c chunk, err error) Problem {
	lines := strings.SplitAfter(c.text, "\n")
	found := 1
	if len(c.text) <= maxSearched {
		found = 1 + sort.Search(len(lines)-1, func(i int) bool {
			_, again := parse(strings.Join(lines[:i+1], ""))
			return again != nil && again.Error() == err.Error()
		})
	}
	line := lines[found-1]
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	p := Problem{Line: c.line + found, Column: len(indent) + 1}
	if strings.Contains(indent, "\t") {
		p.Column = strings.IndexByte(indent, '\t') + 1
		p.Message, p.Fix = "tab used for indentation", "use spaces"
		return p
	}
	words := err.Error()
	for _, known := range syntaxWords {
		if strings.Contains(words, known.parser) {
			p.Message, p.Fix = known.message, known.fix
			return p
		}
	}
	words = strings.TrimPrefix(words, "yaml: ")
	if rest, ok := strings.CutPrefix(words, "line "); ok {
		_, words, _ = strings.Cut(rest, ": ")
	}
	p.Message = "not valid YAML: " + words
	return p
}

// syntaxWords puts the parser's words into those of someone who writes a file. Its errors have no other form.
var syntaxWords = []struct{ parser, message, fix string }{
	{"mapping values are not allowed", `": " is not possible here`, "check the indentation, and put text that holds \": \" in quotes"},
	{"did not find expected key", "this line fits neither the block before it nor the one around", "check its indentation, and that brackets and quotes are closed"},
	{"did not find expected '-' indicator", "a list goes on with something that is no item", "begin the line with - or check its indentation"},
	{"could not find expected ':'", "a key without \": \"", "write key: value, or indent the text further"},
	{"did not find expected ',' or ']'", "a list in [ ] is not closed or lacks a comma", ""},
	{"did not find expected ',' or '}'", "a mapping in { } is not closed or lacks a comma", ""},
	{"cannot start any token", "a value cannot begin with this character", "put the text in quotes"},
	{"did not find expected alphabetic or numeric", "* and & begin an alias or anchor, whose name is missing", "put the text in quotes"},
	{"unexpected end of stream", "a quote that is opened here is never closed", ""},
	{"unknown escape character", "an unknown escape in double quotes", `write \\ for a backslash, or use single quotes`},
	{"unknown anchor", "an alias (*name) of an anchor (&name) that is not there", "put text that begins with * in quotes"},
	{"block sequence entries are not allowed", "a list cannot begin here", "begin it on a line of its own"},
	{"did not find expected <document start>", "text after the end of the document", "begin another document with a line ---"},
	{"did not find expected node content", "a value is missing, or a bracket is not closed", ""},
}
