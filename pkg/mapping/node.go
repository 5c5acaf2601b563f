package mapping

import (
	"fmt"

	yamlv3 "go.yaml.in/yaml/v3"
)

const (
	// maxDepth of nesting. A Job with everything in it is 20 deep.
	maxDepth = 100
	// maxExpanded values may come out of aliases in one document, so that nine lines cannot become gigabytes.
	maxExpanded = 100_000
)

// reporter takes one problem; the place and path are the file's.
type reporter func(line, column int, path, message, fix string)

// converter makes values of the nodes of one YAML document: aliases are followed, merge keys merged, every scalar
// means what kubectl makes of it.
type converter struct {
	report   reporter
	scalars  *scalars
	line     int // lines of the file before the parsed text
	column   int // characters before it in its first line
	open     map[*yamlv3.Node]bool
	aliases  int          // open aliases
	outer    problemPlace // of the outermost open alias: the one that stands in the file where it is meant
	expanded int
	refused  bool // too deep or too large: the document is given up
}

type problemPlace struct {
	line, column int
	at           *trail
}

// newConverter converts nodes of text that has so many lines of the file, and characters of its line, before it.
func newConverter(report reporter, s *scalars, line, column int) *converter {
	return &converter{report: report, scalars: s, line: line, column: column, open: map[*yamlv3.Node]bool{}}
}

// place is where n is in the file.
func (c *converter) place(n *yamlv3.Node) (line, column int) {
	if n.Line == 1 {
		return 1 + c.line, n.Column + c.column
	}
	return n.Line + c.line, n.Column
}

// refuse gives the document up.
func (c *converter) refuse(n *yamlv3.Node, at *trail, message, fix string) *value {
	where := c.outer
	if c.aliases == 0 {
		where.at = at
		where.line, where.column = c.place(n)
	}
	if !c.refused {
		c.report(where.line, where.column, where.at.String(), message, fix)
	}
	c.refused = true
	return &value{line: where.line, column: where.column}
}

func (c *converter) convert(n *yamlv3.Node, at *trail, depth int) *value {
	v := &value{}
	v.line, v.column = c.place(n)
	if c.refused {
		return v
	}
	if depth > maxDepth {
		return c.refuse(n, at, fmt.Sprintf("nested more than %d levels deep", maxDepth), "")
	}
	if c.aliases > 0 {
		if c.expanded++; c.expanded > maxExpanded {
			return c.refuse(n, at, fmt.Sprintf("the aliases of this document stand for more than %d values", maxExpanded), "write out what is meant")
		}
	}
	switch n.Kind {
	case yamlv3.AliasNode:
		return c.alias(n, at, depth)
	case yamlv3.ScalarNode:
		c.scalar(n, v, at)
	case yamlv3.SequenceNode:
		v.kind = listKind
		for i, item := range n.Content {
			v.items = append(v.items, c.convert(item, at.item(i), depth+1))
		}
	case yamlv3.MappingNode:
		v.kind = objectKind
		c.mapping(n, v, at, depth)
	case yamlv3.DocumentNode:
		return c.convert(n.Content[0], at, depth)
	}
	return v
}

func (c *converter) alias(n *yamlv3.Node, at *trail, depth int) *value {
	if c.open[n.Alias] {
		return c.refuse(n, at, "anchor &"+n.Value+" contains itself", "")
	}
	c.open[n.Alias] = true
	if c.aliases == 0 {
		c.outer.at = at
		c.outer.line, c.outer.column = c.place(n)
	}
	c.aliases++
	v := c.convert(n.Alias, at, depth+1)
	c.aliases--
	delete(c.open, n.Alias)
	return v
}

func (c *converter) scalar(n *yamlv3.Node, v *value, at *trail) {
	m, err := c.scalars.resolve(n)
	if err != nil {
		c.report(v.line, v.column, at.String(), err.Error(), "if text is meant, put it in quotes")
		return
	}
	v.kind, v.text = m.kind, m.text
	if n.Style&(yamlv3.DoubleQuotedStyle|yamlv3.SingleQuotedStyle|yamlv3.LiteralStyle|yamlv3.FoldedStyle) == 0 {
		v.raw = n.Value
	}
}

// mapping fills v with the keys of n; what << merges comes after and never wins over a key of its own.
func (c *converter) mapping(n *yamlv3.Node, v *value, at *trail, depth int) {
	seen := make(map[string]*member, len(n.Content)/2)
	var merges []*yamlv3.Node
	for i := 0; i+1 < len(n.Content) && !c.refused; i += 2 {
		keyNode := n.Content[i]
		if keyNode.Kind == yamlv3.ScalarNode && keyNode.Tag == "!!merge" {
			merges = append(merges, n.Content[i+1])
			continue
		}
		key, ok := c.key(keyNode, at)
		if !ok {
			continue
		}
		m := &member{key: key}
		m.line, m.column = c.place(keyNode)
		if first := seen[key]; first != nil {
			c.report(m.line, m.column, at.field(key).String(),
				fmt.Sprintf("key %s is there twice, first on line %d", quoted(key), first.line), "keep one")
			continue
		}
		m.value = c.convert(n.Content[i+1], at.field(key), depth+1)
		seen[key] = m
		v.members = append(v.members, m)
	}
	for _, merge := range merges {
		c.merge(merge, v, seen, at, depth)
	}
}

// key is the text of a key. One that YAML reads as something else than it looks is a problem.
func (c *converter) key(n *yamlv3.Node, at *trail) (string, bool) {
	if n.Kind == yamlv3.AliasNode {
		n = n.Alias
	}
	line, column := c.place(n)
	if n.Kind != yamlv3.ScalarNode {
		c.report(line, column, at.String(), "a list or mapping stands where a key is wanted", "write key: value; text in {} or [] needs quotes")
		return "", false
	}
	m, err := c.scalars.resolve(n)
	switch {
	case err != nil:
		c.report(line, column, at.String(), err.Error(), "put the key in quotes")
		return "", false
	case m.kind == nullKind:
		c.report(line, column, at.String(), "a key is empty", "")
		return "", false
	case m.changes(n.Value):
		c.report(line, column, at.String(), fmt.Sprintf("key %s is read as %s", n.Value, m), "put it in quotes: "+quoted(n.Value))
		return n.Value, true
	}
	return m.text, true
}

// merge adds the members of what stands behind <<: a mapping, or a list of them of which the first wins.
func (c *converter) merge(n *yamlv3.Node, v *value, seen map[string]*member, at *trail, depth int) {
	merged := c.convert(n, at, depth+1)
	sources := []*value{merged}
	if merged.kind == listKind {
		sources = merged.items
	}
	for _, source := range sources {
		if source.kind != objectKind {
			if !c.refused {
				c.report(source.line, source.column, at.String(), "<< can only merge mappings", "")
			}
			continue
		}
		for _, m := range source.members {
			if seen[m.key] == nil {
				seen[m.key] = m
				v.members = append(v.members, m)
			}
		}
	}
}
