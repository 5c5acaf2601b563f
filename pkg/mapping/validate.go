package mapping

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Paths in a Work that several rules speak of.
const (
	specPath     = "spec"
	templatePath = "spec.template"
	podPath      = "spec.template.spec"
	restartPath  = podPath + ".restartPolicy"
)

// Validate checks offline what the API server would refuse, and what only a Work has: everything at once, in the user's
// own paths. d is not defaulted. What Decode has reported is not reported again. It is no substitute for the server's
// opinion, which knows more rules and the cluster.
func Validate(d *Document) Problems {
	v := &validator{Document: d}
	v.metadata()
	v.retries()
	v.strategy()
	v.cleanup()
	v.scheduling()
	v.extras()
	v.coordination()
	v.jobSpec()
	v.indexes()
	v.podFailurePolicy()
	v.successPolicy()
	v.pod()
	return v.problems.sorted()
}

// Duplicates reports Works of one call that have the same name in the same namespace: the second would look like a
// change of the first.
func Duplicates(documents []*Document) Problems {
	first := map[identity]*Document{}
	var problems Problems
	for _, d := range documents {
		k := identity{d.Work.Namespace, d.Work.Name}
		before := first[k]
		switch {
		case k.name == "":
		case before == nil:
			first[k] = d
		default:
			line, _ := before.Position("metadata.name")
			problems = append(problems, d.Problem("metadata.name",
				fmt.Sprintf("%s is the name of another document too (%s:%d)", k.name, before.File, line), "give each a name of its own"))
		}
	}
	return problems.sorted()
}

type validator struct {
	*Document
	problems Problems
}

// add reports a problem unless Decode has already spoken about path.
func (v *validator) add(path, message, fix string) {
	if len(v.problems) < maxKept && !v.bad.touch(path) {
		v.problems = append(v.problems, v.Problem(path, message, fix))
	}
}

// oneOf reports a word that is not one of the allowed ones. Nothing is allowed too.
func (v *validator) oneOf(path, word string, allowed ...string) {
	if word == "" || slices.Contains(allowed, word) {
		return
	}
	fix := "use one of " + strings.Join(allowed, ", ")
	for _, a := range allowed {
		if strings.EqualFold(a, word) {
			fix = "did you mean " + a + "?"
		}
	}
	if near := nearest(word, allowed); near != "" {
		fix = "did you mean " + near + "?"
	}
	v.add(path, quoted(word)+" is not possible here", fix)
}

// notNegative reports a number below zero. Unset is fine.
func notNegative[T int32 | int64](v *validator, path string, number *T) {
	if number != nil && *number < 0 {
		v.add(path, fmt.Sprintf("%d is negative", *number), "use 0 or more")
	}
}

// lineOf names the line of path for use in a message, "" when it has none.
func (v *validator) lineOf(path string) string {
	if line, _ := v.Position(path); line > 0 {
		return " (line " + strconv.Itoa(line) + ")"
	}
	return ""
}

// jobSpec checks the plain fields of a JobSpec.
func (v *validator) jobSpec() {
	spec := &v.Work.Spec
	notNegative(v, "spec.parallelism", spec.Parallelism)
	notNegative(v, "spec.completions", spec.Completions)
	notNegative(v, "spec.activeDeadlineSeconds", spec.ActiveDeadlineSeconds)
	notNegative(v, "spec.backoffLimit", spec.BackoffLimit)
	notNegative(v, "spec.backoffLimitPerIndex", spec.BackoffLimitPerIndex)
	notNegative(v, "spec.maxFailedIndexes", spec.MaxFailedIndexes)
	notNegative(v, "spec.ttlSecondsAfterFinished", spec.TTLSecondsAfterFinished)
	if spec.CompletionMode != nil {
		v.oneOf("spec.completionMode", string(*spec.CompletionMode), "NonIndexed", "Indexed")
	}
	manual := spec.ManualSelector != nil && *spec.ManualSelector
	switch {
	case manual && spec.Selector == nil:
		v.add("spec.selector", "a selector is missing, and manualSelector says that you write it", "take manualSelector out")
	case !manual && spec.Selector != nil:
		v.add("spec.selector", "the server makes the selector of a Job", "take it out, or set manualSelector: true")
	}
	v.restartPolicy()
}

// restartPolicy: a Work may leave it out, a plain Job may not, and the Pod's own default is for neither.
func (v *validator) restartPolicy() {
	const both = "use Never (every retry is a new Pod) or OnFailure (the container is started again in its Pod)"
	switch policy := v.Work.Spec.Template.Spec.RestartPolicy; policy {
	case corev1.RestartPolicyNever, corev1.RestartPolicyOnFailure:
	case "":
		if v.Imported {
			v.add(restartPath, "restartPolicy is missing, and a Pod's default, Always, is not possible in a Job", both)
		}
	case corev1.RestartPolicyAlways:
		v.add(restartPath, "Always is not possible: a Job has to end", both)
	default:
		v.oneOf(restartPath, string(policy), "Never", "OnFailure")
	}
}
