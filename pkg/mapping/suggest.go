package mapping

import (
	"reflect"
	"slices"
	"strings"
)

// unknown reports a field that the object around it does not have, with the nearest idea of what was meant.
func (c *checker) unknown(m *member, at *trail) {
	frames := c.outer
	self := frames[len(frames)-1]
	c.bad = append(c.bad, at.String())
	message, fix := "unknown field", ""
	child, isChild := c.below(self.typ, m.key, 1)
	switch near, distance := c.similar(self.typ, m.key); {
	case distance == 0:
		fix = "did you mean " + near + "?"
		c.bad = append(c.bad, self.at.field(near).String())
	case isChild:
		fix = "it belongs under " + child
		c.bad = append(c.bad, target(self.at, child, m.key))
	default:
		if outer, path, ok := c.above(m.key); ok {
			fix = "it belongs under " + outer
			c.bad = append(c.bad, path)
		} else if near != "" {
			fix = "did you mean " + near + "?"
			c.bad = append(c.bad, self.at.field(near).String())
		} else if deep, ok := c.below(self.typ, m.key, 4); ok {
			fix = "it belongs under " + deep
			c.bad = append(c.bad, target(self.at, deep, m.key))
		}
	}
	c.report(m.line, m.column, at.String(), message, fix)
}

// target is the path of key under below, as far as it has one: lists have many items.
func target(at *trail, below, key string) string {
	path := at.String()
	for step := range strings.SplitSeq(below, ".") {
		if strings.HasSuffix(step, "[]") {
			return join(path, strings.TrimSuffix(step, "[]")) + "[0]." + key
		}
		path = join(path, step)
	}
	return join(path, key)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// above looks for key in the objects around the innermost one, from the inside out.
func (c *checker) above(key string) (said, path string, ok bool) {
	for _, f := range slices.Backward(c.outer[:len(c.outer)-1]) {
		if f.typ.Kind() != reflect.Struct {
			continue
		}
		if _, found := c.schema.lookup(f.typ, key); found {
			where := f.at.String()
			if where == "" {
				where = "the document itself, not indented"
			}
			return where, join(f.at.String(), key), true
		}
	}
	return "", "", false
}

// maxBreadth bounds the types looked at in the search for the place a field belongs to.
const maxBreadth = 400

// below looks for key in what t contains, at most depth levels down, nearest first; containers before their rarer kin.
func (c *checker) below(t reflect.Type, key string, depth int) (string, bool) {
	type place struct {
		typ  reflect.Type
		path string
	}
	if t.Kind() != reflect.Struct || len(key) < 3 || key == "name" || key == "kind" { // those are everywhere
		return "", false
	}
	level, seen := []place{{t, ""}}, map[reflect.Type]bool{t: true}
	for range depth {
		var next []place
		for _, p := range level {
			for _, f := range c.schema.of(p.typ) {
				inner, isList, ok := inside(f.typ)
				if !ok || f.name == "status" || len(next) > maxBreadth {
					continue
				}
				path := join(p.path, f.name)
				if isList {
					path += "[]"
				}
				next = append(next, place{inner, path})
			}
		}
		found := ""
		for _, p := range next {
			if _, ok := c.schema.lookup(p.typ, key); ok && (found == "" || strings.HasSuffix(p.path, ".containers[]") || p.path == "containers[]") {
				found = p.path
			}
		}
		if found != "" {
			return found, true
		}
		level = slices.DeleteFunc(next, func(p place) bool {
			known := seen[p.typ]
			seen[p.typ] = true
			return known
		})
	}
	return "", false
}

// similar is the field of t whose name is nearest to key: distance 0 when only upper and lower case differ, "" when
// none is near.
func (c *checker) similar(t reflect.Type, key string) (near string, distance int) {
	const longest = 64 // no field of the API is near a longer one
	if t.Kind() != reflect.Struct || len(key) > longest {
		return "", longest
	}
	distance = 1 + min(3, max(1, (len(key)+1)/4))
	for _, f := range c.schema.of(t) {
		if strings.EqualFold(f.name, key) {
			return f.name, 0
		}
		if d := editDistance(strings.ToLower(f.name), strings.ToLower(key)); d < distance {
			near, distance = f.name, d
		}
	}
	return near, distance
}

// nearest is the word of words that text may be a slip of, "" when none is near.
func nearest(text string, words []string) string {
	best, distance := "", 1+max(1, len(text)/3)
	for _, word := range words {
		if d := editDistance(word, text); d < distance && len(text) < 100 {
			best, distance = word, d
		}
	}
	return best
}

// editDistance counts the letters to insert, delete, replace or swap with their neighbour to make a of b.
func editDistance(a, b string) int {
	before, last := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
