package mapping

import (
	"slices"
	"strings"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// serverOwned are the fields of metadata that only the server writes.
var serverOwned = []string{
	"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds",
	"selfLink", "managedFields",
}

// strip leaves out what a Work or Job has because it was read back from a cluster: a new one is refused with it. It
// returns one note for each thing; what is empty anyway goes without one.
func strip(root *value) []string {
	s := &stripper{}
	metadata := root.at("metadata")
	exported := metadata.string("uid") != "" || metadata.string("resourceVersion") != "" || metadata.string("creationTimestamp") != ""
	for _, name := range serverOwned {
		s.drop(metadata, name, "metadata."+name, "the server sets it")
	}
	if m := root.member("status"); m != nil {
		exported = exported || !m.value.empty()
		s.drop(root, "status", "status", "the server sets it")
	}
	if exported {
		s.drop(metadata, "ownerReferences", "metadata.ownerReferences", "they belong to the one this is a copy of")
		s.finalizers(metadata)
	}
	annotations := metadata.at("annotations")
	s.drop(annotations, trackingAnnotation, "metadata.annotations["+trackingAnnotation+"]", "the server sets it")
	s.drop(annotations, work.AnnotationLastApplied, "metadata.annotations["+work.AnnotationLastApplied+"]", "it belongs to kubectl apply")
	s.ours(annotations, "metadata.annotations")
	s.ours(metadata.at("labels"), "metadata.labels")
	spec := root.at("spec")
	s.ours(spec.at("template", "metadata", "labels"), "spec.template.metadata.labels")
	if manual := spec.at("manualSelector"); manual != nil && manual.text == "true" {
		return s.notes // then selector and labels are the user's own
	}
	selector := spec.at("selector", "matchLabels")
	if slices.ContainsFunc(generatedLabels(), func(l string) bool { return selector.member(l) != nil }) {
		s.drop(spec, "selector", "spec.selector", "the server makes one for each Job")
		s.drop(spec, "manualSelector", "spec.manualSelector", "the server sets it")
	}
	s.generated(metadata.at("labels"), "metadata.labels")
	s.generated(spec.at("template", "metadata", "labels"), "spec.template.metadata.labels")
	return s.notes
}

type stripper struct{ notes []string }

func (s *stripper) drop(v *value, key, path, why string) {
	m := v.member(key)
	if m == nil || m.dropped {
		return
	}
	m.dropped = true
	if !m.value.empty() {
		s.notes = append(s.notes, path+" is left out: "+why)
	}
}

// generated leaves out the labels by which the server ties Pods to one Job.
func (s *stripper) generated(labels *value, path string) {
	s.dropAll(labels, path, "the server makes them for each Job", func(key string) bool {
		return slices.Contains(generatedLabels(), key)
	})
}

// ours leaves out the keys by which one run of a Work is known.
func (s *stripper) ours(v *value, path string) {
	s.dropAll(v, path, "they belong to the run this is a copy of", func(key string) bool {
		return strings.HasPrefix(key, work.Group+"/") && key != work.AnnotationConverted // that is of the document
	})
}

func (s *stripper) dropAll(v *value, path, why string, is func(key string) bool) {
	if v == nil {
		return
	}
	var keys []string
	for _, m := range v.members {
		if is(m.key) && !m.dropped {
			m.dropped = true
			keys = append(keys, m.key)
		}
	}
	if len(keys) > 0 {
		s.notes = append(s.notes, path+": left out "+strings.Join(keys, ", ")+": "+why)
	}
}

// finalizers leaves out those that a delete put there.
func (s *stripper) finalizers(metadata *value) {
	list := metadata.at("finalizers")
	if list == nil {
		return
	}
	before := len(list.items)
	list.items = slices.DeleteFunc(list.items, func(v *value) bool {
		return v.text == "foregroundDeletion" || v.text == "orphan"
	})
	if len(list.items) < before {
		s.notes = append(s.notes, "metadata.finalizers: left out what a delete put there")
	}
}
