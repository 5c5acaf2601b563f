package mapping

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// meaning is what kubectl makes of a scalar: YAML 1.1, where yes is a boolean and 0123 is 83.
type meaning struct {
	kind kind
	text string
}

// String says m in the words of messages.
func (m meaning) String() string {
	switch m.kind {
	case boolKind:
		return "the boolean " + m.text
	case numberKind:
		return "the number " + m.text
	case stringKind:
		return "the string " + quoted(m.text)
	case nullKind, listKind, objectKind:
	}
	return m.kind.String()
}

// changes says that, as a key, m is another text than raw, the one in the file. Numbers with a point or exponent are
// spelt by float rules.
func (m meaning) changes(raw string) bool {
	return m.kind != stringKind && (m.text != raw || (m.kind == numberKind && strings.ContainsAny(raw, ".eE")))
}

// scalars resolves scalars. The parser that gives us positions follows YAML 1.2, so the words are read again by the
// one kubectl uses.
type scalars struct {
	known map[string]meaning
}

func newScalars() *scalars { return &scalars{known: map[string]meaning{}} }

// resolve is the meaning of a scalar node.
func (s *scalars) resolve(n *yamlv3.Node) (meaning, error) {
	tagged := n.Style&yamlv3.TaggedStyle != 0
	isQuoted := n.Style&(yamlv3.DoubleQuotedStyle|yamlv3.SingleQuotedStyle|yamlv3.LiteralStyle|yamlv3.FoldedStyle) != 0
	switch {
	case tagged && (n.Tag == "!!str" || n.Tag == "!"):
		return meaning{stringKind, n.Value}, nil
	case tagged:
		source, err := json.Marshal(n.Value)
		if err != nil {
			return meaning{}, err
		}
		return s.read(n.Tag + " " + string(source))
	case isQuoted:
		return meaning{stringKind, n.Value}, nil
	case n.Value == "":
		return meaning{kind: nullKind}, nil
	case !mayMeanMore(n.Value):
		return meaning{stringKind, n.Value}, nil
	}
	return s.read(n.Value)
}

// mayMeanMore says that a plain scalar may be something else than a string: the others begin with one of a few
// characters and are one short word.
func mayMeanMore(text string) bool {
	return strings.IndexByte("+-.0123456789yYnNtTfFoO~<=", text[0]) >= 0 && !strings.ContainsAny(text, "\n")
}

func (s *scalars) read(source string) (meaning, error) {
	if m, ok := s.known[source]; ok {
		return m, nil
	}
	data, err := sigsyaml.YAMLToJSON([]byte("v: " + source))
	if err != nil {
		return meaning{}, fmt.Errorf("%s means nothing that JSON can say", quoted(source))
	}
	var doc struct {
		V json.RawMessage `json:"v"`
	}
	if err := json.Unmarshal(data, &doc); err != nil || len(doc.V) == 0 {
		return meaning{}, fmt.Errorf("%s means nothing that JSON can say", quoted(source))
	}
	m := meaning{kind: numberKind, text: string(bytes.TrimSpace(doc.V))}
	switch m.text[0] {
	case '"':
		m.kind = stringKind
		if err := json.Unmarshal(doc.V, &m.text); err != nil {
			return meaning{}, err
		}
	case 't', 'f':
		m.kind = boolKind
	case 'n':
		m.kind, m.text = nullKind, ""
	case '[', '{':
		return meaning{}, fmt.Errorf("%s is not a single value", quoted(source))
	}
	if len(source) < 64 {
		s.known[source] = m
	}
	return m, nil
}
