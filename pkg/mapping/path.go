package mapping

import (
	"strconv"
	"strings"
)

// pathStep is one step of a path: .name or [name].
type pathStep struct {
	name    string
	bracket bool
}

// parsePath splits a path. A key in brackets may hold dots; what cannot be split is one step.
func parsePath(path string) []pathStep {
	var steps []pathStep
	for path != "" {
		if path[0] == '[' {
			end := strings.IndexByte(path, ']')
			if end < 0 {
				return append(steps, pathStep{name: path[1:], bracket: true})
			}
			steps = append(steps, pathStep{name: path[1:end], bracket: true})
			path = path[end+1:]
			continue
		}
		path = strings.TrimPrefix(path, ".")
		end := strings.IndexAny(path, ".[")
		if end < 0 {
			end = len(path)
		}
		if end > 0 {
			steps = append(steps, pathStep{name: path[:end]})
		}
		if end == 0 && path != "" && path[0] == '.' { // "a..b"
			path = path[1:]
			continue
		}
		path = path[end:]
	}
	return steps
}

// descend goes one step down from v: the value found, the member it is held by (nil in a list) and how many steps
// that took; nil when there is nothing.
func descend(v *value, steps []pathStep) (*value, *member, int) {
	switch v.kind {
	case listKind:
		return listItem(v, steps[0]), nil, 1
	case objectKind:
		if m := v.member(steps[0].name); m != nil {
			return m.value, m, 1
		}
		if m, used := dottedMember(v, steps); m != nil {
			return m.value, m, used
		}
		// The server's own types hold a template's labels without the metadata between.
		if name := steps[0].name; (name == "labels" || name == "annotations") && v.member("spec") != nil {
			if m := v.member("metadata"); m != nil && m.value.member(name) != nil {
				return m.value, m, 0
			} else if m != nil {
				return m.value, m, 1
			}
		}
	case nullKind, boolKind, numberKind, stringKind:
	}
	return nil, nil, 0
}

// dottedMember finds a key that holds dots but was not put in brackets: metadata.labels.app.kubernetes.io/name.
func dottedMember(v *value, steps []pathStep) (*member, int) {
	var name strings.Builder
	name.WriteString(steps[0].name)
	for used := 2; used <= len(steps) && !steps[used-1].bracket; used++ {
		name.WriteString("." + steps[used-1].name)
		if m := v.member(name.String()); m != nil {
			return m, used
		}
	}
	return nil, 0
}

// listItem finds [3], and [main] or [name="main"] by the name of the item.
func listItem(v *value, step pathStep) *value {
	if !step.bracket {
		return nil
	}
	if i, err := strconv.Atoi(step.name); err == nil {
		if i >= 0 && i < len(v.items) {
			return v.items[i]
		}
		return nil
	}
	key, want, ok := strings.Cut(step.name, "=")
	if !ok {
		key, want = "name", step.name
	}
	want = strings.Trim(want, `"`)
	for _, item := range v.items {
		if item.string(key) == want {
			return item
		}
	}
	return nil
}
