package mapping

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// kind is what a value is in JSON, the only thing the API knows.
type kind int

const (
	nullKind kind = iota
	boolKind
	numberKind
	stringKind
	listKind
	objectKind
)

// String says the kind in the words of messages.
func (k kind) String() string {
	switch k {
	case nullKind:
		return "empty"
	case boolKind:
		return "a boolean"
	case numberKind:
		return "a number"
	case stringKind:
		return "a string"
	case listKind:
		return "a list"
	case objectKind:
		return "a mapping"
	}
	return "something else"
}

// value is a node of the input as the API understands it, with its place in the file.
type value struct {
	kind         kind
	text         string // content of a string, JSON text of a number or boolean
	raw          string // an unquoted scalar as written, else ""
	line, column int
	members      []*member // objectKind, in the order of the file
	items        []*value  // listKind
}

// member is a key of an object and what it holds.
type member struct {
	key          string
	line, column int
	value        *value
	dropped      bool // stripped, or wrong: it keeps its position but is not converted
}

func (v *value) member(key string) *member {
	if v == nil {
		return nil
	}
	for _, m := range v.members {
		if m.key == key {
			return m
		}
	}
	return nil
}

// at follows keys through objects and returns nil when one is missing or dropped.
func (v *value) at(keys ...string) *value {
	for _, key := range keys {
		m := v.member(key)
		if m == nil || m.dropped {
			return nil
		}
		v = m.value
	}
	return v
}

// string is the text of the string under keys, "" when there is none.
func (v *value) string(keys ...string) string {
	if s := v.at(keys...); s != nil && s.kind == stringKind {
		return s.text
	}
	return ""
}

// empty says that v holds nothing: null, {} or [].
func (v *value) empty() bool {
	return v.kind == nullKind || (v.kind == objectKind && len(v.members) == 0) || (v.kind == listKind && len(v.items) == 0)
}

// encode writes v as JSON without the dropped members.
func (v *value) encode(b *bytes.Buffer) {
	switch v.kind {
	case nullKind:
		b.WriteString("null")
	case boolKind, numberKind:
		b.WriteString(v.text)
	case stringKind:
		encodeString(b, v.text)
	case listKind:
		b.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.encode(b)
		}
		b.WriteByte(']')
	case objectKind:
		b.WriteByte('{')
		first := true
		for _, m := range v.members {
			if m.dropped {
				continue
			}
			if !first {
				b.WriteByte(',')
			}
			first = false
			encodeString(b, m.key)
			b.WriteByte(':')
			m.value.encode(b)
		}
		b.WriteByte('}')
	}
}

func encodeString(b *bytes.Buffer, text string) {
	data, err := json.Marshal(text)
	if err != nil { // a string always marshals
		data = []byte(`""`)
	}
	b.Write(data)
}

// trail is a path under construction: cheap to extend, spelt out only when something is wrong.
type trail struct {
	parent *trail
	name   string
	index  int
	form   trailForm
}

type trailForm int

const (
	fieldStep trailForm = iota
	indexStep
	keyStep
)

func (t *trail) field(name string) *trail { return &trail{parent: t, name: name, form: fieldStep} }
func (t *trail) item(i int) *trail        { return &trail{parent: t, index: i, form: indexStep} }
func (t *trail) key(name string) *trail   { return &trail{parent: t, name: name, form: keyStep} }

// String is the path as a person writes it: spec.template.spec.containers[0].env[1].value.
func (t *trail) String() string {
	var steps []*trail
	for s := t; s != nil; s = s.parent {
		steps = append(steps, s)
	}
	var b strings.Builder
	for _, s := range slices.Backward(steps) {
		switch s.form {
		case indexStep:
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		case keyStep:
			b.WriteString("[" + s.name + "]")
		case fieldStep:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		}
	}
	return b.String()
}
