package mapping

import (
	"reflect"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// unknown reports a field that the object around it does not have, with the nearest idea of what was meant.
func (c *checker) unknown(m *member, at *trail) {
	if c.bad.full() {
		return
	}
	self := c.outer[len(c.outer)-1]
	c.bad.add(at.String())
	if len(c.bad.at) > maxProblems { // it will not be shown, and the search takes time
		c.report(m.line, m.column, at.String(), "unknown field", "")
		return
	}
	fix := ""
	home, found := c.home(m.key)
	near, distance := c.similar(self.typ, m.key)
	switch {
	case near != "" && (distance == 0 || !found || !home.near):
		fix = "did you mean " + near + "?"
		c.bad.add(self.at.field(near).String())
	case found:
		fix = "it belongs under " + home.said
		c.bad.add(home.path)
	case c.work != nil && self.typ == reflect.TypeFor[batchv1.JobSpec]():
		if _, ok := c.schema.lookup(c.work, m.key); ok {
			fix = "a Work has it: write apiVersion: " + v1beta2.GroupVersion.String() + " and kind: " + v1beta2.Kind
		}
	}
	c.report(m.line, m.column, at.String(), "unknown field", fix)
}

// home is where a misplaced field belongs.
type home struct {
	said string // in words, from the object it is in, or from the document
	path string // where it would be
	near bool   // right below, or in an object around: more likely than a slip of the pen
}

// home looks for key in the objects around the innermost one and in what they contain. The nearest place wins; of two
// as near, the one further out.
func (c *checker) home(key string) (best home, found bool) {
	if len(key) < 3 || key == "kind" || key == "name" { // those are everywhere
		return home{}, false
	}
	const furthest = 4
	distance := furthest + 1
	for up, f := range slices.Backward(c.outer) {
		up = len(c.outer) - 1 - up
		if up >= distance || f.typ.Kind() != reflect.Struct {
			continue
		}
		if _, ok := c.schema.lookup(f.typ, key); ok && up > 0 {
			where := f.at.String()
			if where == "" {
				where = "the document itself, not indented"
			}
			return home{said: where, path: join(f.at.String(), key), near: true}, true
		}
		below, depth := c.below(f.typ, key, furthest-up)
		if depth == 0 || up+depth > distance {
			continue
		}
		distance, found = up+depth, true
		best = home{said: below, path: target(f.at, below, key), near: up+depth == 1}
		if up > 0 {
			best.said = join(f.at.String(), below)
		}
	}
	return best, found
}

// target is the path of key under below, as far as it has one: lists have many items.
func target(at *trail, below, key string) string {
	path := at.String()
	for step := range strings.SplitSeq(below, ".") {
		if name, ok := strings.CutSuffix(step, "[]"); ok {
			path = join(path, name) + "[0]"
			continue
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

// maxBreadth bounds the types looked at in the search for the place a field belongs to.
const maxBreadth = 400

// below looks for key in what t contains, at most levels down, and says how far down it is, 0 for nowhere.
// Containers come before their rarer kin.
func (c *checker) below(t reflect.Type, key string, levels int) (path string, depth int) {
	type place struct {
		typ  reflect.Type
		path string
	}
	level, seen := []place{{t, ""}}, map[reflect.Type]bool{t: true}
	for depth := 1; depth <= levels; depth++ {
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
			return found, depth
		}
		level = slices.DeleteFunc(next, func(p place) bool {
			known := seen[p.typ]
			seen[p.typ] = true
			return known
		})
	}
	return "", 0
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
