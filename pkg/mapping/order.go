package mapping

import (
	"fmt"
	"slices"
	"strings"
)

// Order puts documents of one call so that each comes after those it depends on, and otherwise as they were: the result are
// their places in documents. Documents that wait for each other in a circle could never start; each is a problem.
func Order(documents []*Document) ([]int, Problems) {
	o := &ordering{documents: documents, at: map[identity]int{}, state: make([]visit, len(documents))}
	for i, d := range documents {
		if d.Work.Name != "" {
			o.at[identity{d.Work.Namespace, d.Work.Name}] = i
		}
	}
	for i := range documents {
		o.walk(i, nil)
	}
	return o.order, o.problems.sorted()
}

// identity is which Work a document is.
type identity struct{ namespace, name string }

type visit int

const (
	unvisited visit = iota
	visiting
	visited
)

type ordering struct {
	documents []*Document
	at        map[identity]int
	state     []visit
	order     []int
	problems  Problems
}

func (o *ordering) walk(i int, above []int) {
	if o.state[i] != unvisited {
		return
	}
	o.state[i] = visiting
	above = append(above, i)
	d := o.documents[i]
	for _, dependency := range d.Work.Spec.DependsOn {
		next, here := o.at[identity{d.Work.Namespace, dependency.Work}]
		if !here || dependency.Run != nil { // a run that is there, or a later one
			continue
		}
		if o.state[next] == visiting {
			o.circle(above[slices.Index(above, next):])
			continue
		}
		o.walk(next, above)
	}
	o.state[i] = visited
	o.order = append(o.order, i)
}

// circle reports every member of a circle.
func (o *ordering) circle(members []int) {
	var names []string
	for _, i := range members {
		names = append(names, o.documents[i].Work.Name)
	}
	text := strings.Join(append(names, names[0]), " -> ")
	for _, i := range members {
		o.problems = append(o.problems, o.documents[i].Problem("spec.dependsOn", "it waits for itself: "+text, "take one dependency out"))
	}
}

// SameCall tells which of the other documents of a call each dependency of documents[i] means, -1 for none.
func SameCall(documents []*Document, i int) []int {
	d := documents[i]
	out := make([]int, len(d.Work.Spec.DependsOn))
	for j, dependency := range d.Work.Spec.DependsOn {
		out[j] = -1
		if dependency.Run == nil {
			out[j] = slices.IndexFunc(documents, func(other *Document) bool {
				return other != d && other.Work.Name == dependency.Work && other.Work.Namespace == d.Work.Namespace
			})
		}
	}
	return out
}

// GroupConflicts reports documents of one call whose group has runs of the other policy: whoever waits in line cannot stand
// beside those who replace each other.
func GroupConflicts(documents []*Document) Problems {
	first := map[identity]*Document{}
	var problems Problems
	for _, d := range documents {
		if !d.Work.Spec.Exclusive() {
			continue
		}
		key := identity{d.Work.Namespace, d.Work.Spec.Tenant + "/" + GroupOf(d.Work)}
		before := first[key]
		switch {
		case before == nil:
			first[key] = d
		case before.Work.Spec.ConcurrencyPolicy != d.Work.Spec.ConcurrencyPolicy:
			problems = append(problems, d.Problem("spec.concurrencyPolicy", fmt.Sprintf("%s here, but Work %s of the same group (%s) has %s",
				d.Work.Spec.ConcurrencyPolicy, or(before.Work.Name, before.Work.GenerateName), GroupOf(d.Work), before.Work.Spec.ConcurrencyPolicy),
				"use one policy in a group, or another spec.concurrencyGroup"))
		}
	}
	return problems.sorted()
}
