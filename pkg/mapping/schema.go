package mapping

import (
	"encoding/json"
	"reflect"
	"strings"
)

// schema knows the fields of API types by the names the API gives them.
type schema struct {
	fields map[reflect.Type][]field
}

// field is a field of an API type.
type field struct {
	name string
	typ  reflect.Type
}

// of lists the fields of a struct type, embedded ones included, in the order they are declared.
func (s *schema) of(t reflect.Type) []field {
	if known, ok := s.fields[t]; ok {
		return known
	}
	var fields []field
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || (!f.IsExported() && !f.Anonymous):
		case f.Anonymous && name == "", strings.Contains(options, "inline"):
			fields = append(fields, s.of(bare(f.Type))...)
		case name != "":
			fields = append(fields, field{name: name, typ: f.Type})
		}
	}
	s.fields[t] = fields
	return fields
}

// lookup finds the field of a struct type by its exact name.
func (s *schema) lookup(t reflect.Type, name string) (reflect.Type, bool) {
	for _, f := range s.of(t) {
		if f.name == name {
			return f.typ, true
		}
	}
	return nil, false
}

// bare is t without pointers.
func bare(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

// isLeaf says that t reads its JSON itself (quantities, times, "number or string").
func isLeaf(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(unmarshaler)
}

// inside is the type a misplaced field may belong to: of a struct, the struct; of a list, its items.
func inside(t reflect.Type) (inner reflect.Type, isList, ok bool) {
	t = bare(t)
	if t.Kind() == reflect.Slice {
		t, isList = bare(t.Elem()), true
	}
	return t, isList, t.Kind() == reflect.Struct && !isLeaf(t)
}
