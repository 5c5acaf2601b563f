package mapping

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// checker compares a value with the Go type it is to become and reports everything that does not fit. What does not
// fit is dropped, so that the rest can be converted and looked at further.
type checker struct {
	schema *schema
	report reporter
	bad    badPaths // every path reported, and those a fix would bring
	outer  []frame
	work   reflect.Type // the spec of a Work, while a plain Job is checked: for advice
}

// frame is an object around the value being checked.
type frame struct {
	typ  reflect.Type
	at   *trail
	self *value
}

// wrong reports a value of the wrong type.
func (c *checker) wrong(v *value, at *trail, message, fix string) bool {
	if c.bad.full() {
		return false
	}
	path := at.String()
	c.bad.add(path)
	if name := c.variable(); name != "" {
		message = "variable " + name + ": " + message
	}
	c.report(v.line, v.column, path, message, fix)
	return false
}

// variable is the name of the environment variable the innermost object is, "" when it is none.
func (c *checker) variable() string {
	if len(c.outer) == 0 {
		return ""
	}
	if f := c.outer[len(c.outer)-1]; f.typ == reflect.TypeFor[corev1.EnvVar]() {
		return f.self.string("name")
	}
	return ""
}

// check says whether v can become a t.
func (c *checker) check(v *value, t reflect.Type, at *trail) bool {
	t = bare(t)
	if v.kind == nullKind { // in JSON as the API reads it, null is the same as nothing
		return true
	}
	if isLeaf(t) {
		return c.leaf(v, t, at)
	}
	switch t.Kind() {
	case reflect.Struct:
		return c.object(v, t, at)
	case reflect.Map:
		return c.dictionary(v, t, at)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return c.text(v, at)
		}
		return c.list(v, t, at)
	case reflect.String:
		return c.text(v, at)
	case reflect.Bool:
		if v.kind == boolKind {
			return true
		}
		return c.wrong(v, at, v.is()+", true or false is wanted", unquote(v, "true", "false"))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return c.integer(v, t, at)
	}
	return c.other(v, t, at)
}

func (c *checker) object(v *value, t reflect.Type, at *trail) bool {
	if v.kind != objectKind {
		return c.wrong(v, at, v.is()+", a mapping (key: value) is wanted", "")
	}
	c.outer = append(c.outer, frame{t, at, v})
	for _, m := range v.members {
		if m.dropped {
			continue
		}
		typ, ok := c.schema.lookup(t, m.key)
		if !ok {
			m.dropped = true
			c.unknown(m, at.field(m.key))
			continue
		}
		m.dropped = !c.check(m.value, typ, at.field(m.key))
	}
	c.outer = c.outer[:len(c.outer)-1]
	return true
}

func (c *checker) dictionary(v *value, t reflect.Type, at *trail) bool {
	if v.kind != objectKind {
		return c.wrong(v, at, v.is()+", a mapping (key: value) is wanted", "")
	}
	c.outer = append(c.outer, frame{t, at, v})
	for _, m := range v.members {
		m.dropped = m.dropped || !c.check(m.value, t.Elem(), at.key(m.key))
	}
	c.outer = c.outer[:len(c.outer)-1]
	return true
}

func (c *checker) list(v *value, t reflect.Type, at *trail) bool {
	if v.kind != listKind {
		fix := "begin each item with -"
		if v.kind != objectKind {
			fix = "write it as a list: [" + v.shown() + "]"
			if bare(t.Elem()).Kind() == reflect.String {
				fix = "write it as a list: [" + quoted(v.said()) + "]"
				if strings.ContainsAny(v.text, " \n") {
					fix = `write one string an item; for a shell line: ["sh", "-c", "..."]`
				}
			}
		}
		return c.wrong(v, at, v.is()+", a list is wanted", fix)
	}
	for i, item := range v.items {
		if !c.check(item, t.Elem(), at.item(i)) {
			v.items[i] = &value{line: item.line, column: item.column}
		}
	}
	return true
}

func (c *checker) text(v *value, at *trail) bool {
	switch v.kind {
	case stringKind:
		return true
	case boolKind, numberKind:
		message := v.is() + ", a string is wanted"
		if lostZeros(v.raw, v.text) {
			message = v.is() + " (the zero would be lost), a string is wanted"
		}
		return c.wrong(v, at, message, `put it in quotes: "`+v.raw+`"`)
	case nullKind, listKind, objectKind:
	}
	return c.wrong(v, at, v.is()+", a string is wanted", "")
}

// lostZeros says that a decimal fraction has zeros at its end which its number has not: 1.20.
func lostZeros(raw, text string) bool {
	return strings.Contains(raw, ".") && strings.HasSuffix(raw, "0") && !strings.ContainsAny(raw, "eE") && len(text) < len(raw)
}

func (c *checker) integer(v *value, t reflect.Type, at *trail) bool {
	if v.kind != numberKind {
		fix := ""
		if _, err := strconv.ParseInt(v.text, 10, t.Bits()); err == nil && v.kind == stringKind {
			fix = unquote(v, v.text)
		}
		return c.wrong(v, at, v.is()+", a whole number is wanted", fix)
	}
	if _, err := strconv.ParseInt(v.text, 10, t.Bits()); err == nil {
		return true
	}
	if strings.ContainsAny(v.text, ".e") {
		return c.wrong(v, at, v.is()+", a whole number is wanted", "")
	}
	return c.wrong(v, at, v.text+" is out of range", fmt.Sprintf("%d is the most", int64(1)<<(t.Bits()-1)-1))
}

// leaf lets a type that reads its own JSON read v.
func (c *checker) leaf(v *value, t reflect.Type, at *trail) bool {
	wanted, fix := "another form is wanted", ""
	switch t {
	case reflect.TypeFor[resource.Quantity]():
		wanted, fix = "a quantity is wanted", "write a number with a unit the API knows: 500m, 1.5, 128Mi, 2G"
	case reflect.TypeFor[intstr.IntOrString]():
		wanted = "a whole number or a string is wanted"
	case reflect.TypeFor[metav1.Time](), reflect.TypeFor[metav1.MicroTime]():
		wanted, fix = "a time is wanted", "write it as 2026-01-31T15:04:05Z"
	}
	var b bytes.Buffer
	v.encode(&b)
	if err := json.Unmarshal(b.Bytes(), reflect.New(t).Interface()); err != nil {
		return c.wrong(v, at, v.is()+", "+wanted, fix)
	}
	return true
}

// other is for kinds that no type of a Work has today: the decoder of the standard library decides.
func (c *checker) other(v *value, t reflect.Type, at *trail) bool {
	var b bytes.Buffer
	v.encode(&b)
	if err := json.Unmarshal(b.Bytes(), reflect.New(t).Interface()); err != nil {
		return c.wrong(v, at, v.is()+", something else is wanted", "")
	}
	return true
}
