package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// need is a right, what needs it, and how bad it is without.
type need struct {
	cluster.Right
	by       string
	severity status.Severity
}

// Rights are all that commands need in a namespace.
func Rights() []cluster.Right {
	var all []cluster.Right
	for _, n := range needs() {
		all = append(all, n.Right)
	}
	return all
}

func needs() []need {
	const (
		bad  = status.SeverityError
		less = status.SeverityWarning
		some = status.SeverityInfo
	)
	return []need{
		{cluster.Right{Verb: "get", Resource: "jobs"}, "every command", bad},
		{cluster.Right{Verb: "list", Resource: "jobs"}, "every command but those for one Job by its own name", bad},
		{cluster.Right{Verb: "watch", Resource: "jobs"}, "wait, submit --wait, retry --wait", less},
		{cluster.Right{Verb: "create", Resource: "jobs"}, "submit, retry", some},
		{cluster.Right{Verb: "patch", Resource: "jobs"}, "pause, resume, stop, and whatever moves held runs: wait, submit", some},
		{cluster.Right{Verb: "delete", Resource: "jobs"}, "delete, submit --replace, wait --on-timeout=delete", some},
		{cluster.Right{Verb: "list", Resource: "pods"}, "describe, list, wait, logs: why a run does not start or failed", less},
		{cluster.Right{Verb: "watch", Resource: "pods"}, "wait, logs -f", less},
		{cluster.Right{Verb: "get", Resource: "pods", Subresource: "log"}, "logs, and the last output in the reason of a failure", less},
		{cluster.Right{Verb: "list", Resource: "events"}, "describe, wait: causes that only events tell", some},
		{cluster.Right{Verb: "get", Resource: "leases"}, "spec.concurrencyPolicy Forbid and Replace", some},
		{cluster.Right{Verb: "create", Resource: "leases"}, "spec.concurrencyPolicy Forbid and Replace", some},
		{cluster.Right{Verb: "update", Resource: "leases"}, "spec.concurrencyPolicy Forbid and Replace", some},
		{cluster.Right{Verb: "list", Resource: "leases"}, "doctor", some},
		{cluster.Right{Verb: "delete", Resource: "leases"}, "doctor --fix", some},
		{cluster.Right{Verb: "get", Resource: "configmaps"}, "spec.profile, spec.owner.anchor", some},
		{cluster.Right{Verb: "create", Resource: "configmaps"}, "spec.owner.anchor", some},
		{cluster.Right{Verb: "list", Resource: "configmaps"}, "doctor", some},
		{cluster.Right{Verb: "delete", Resource: "configmaps"}, "delete and doctor --fix: anchors", some},
	}
}

// findRights gathers what is missing by resource, in the order of needs; the worst counts.
func findRights(v view) []Trouble {
	order := []status.Severity{status.SeverityError, status.SeverityWarning, status.SeverityInfo}
	found, verbs := []Trouble{}, map[string][]string{}
	for _, n := range needs() {
		if !slices.Contains(v.Lacking, n.Right) {
			continue
		}
		name := n.Name()
		i := slices.IndexFunc(found, func(t Trouble) bool { return t.Object == "right/"+name })
		if i < 0 {
			i = len(found)
			found = append(found, Trouble{Namespace: v.Namespace, Object: "right/" + name, Finding: status.Finding{
				Severity: n.severity, Reason: "RightMissing", Advice: []status.Advice{rightAdvice(v.Namespace)},
			}})
		}
		verbs[name] = append(verbs[name], n.Verb)
		f := &found[i].Finding
		f.Message = fmt.Sprintf("no right to %s %s%s", strings.Join(verbs[name], ", "), name, where(v.Namespace))
		f.Details = append(f.Details, n.Verb+": "+n.by)
		if slices.Index(order, n.severity) < slices.Index(order, f.Severity) {
			f.Severity = n.severity
		}
	}
	return found
}

func where(namespace string) string {
	if namespace == "" {
		return " in all namespaces"
	}
	return " in namespace " + namespace
}

func rightAdvice(namespace string) status.Advice {
	if namespace == "" {
		return status.Advice{Command: "kubectl auth can-i --list", Risk: status.RiskInspect, Why: "what you may do in the namespace of your context; a right in all of them takes a ClusterRoleBinding"}
	}
	return inspect(namespace, "kubectl auth can-i --list", "what you may do; docs/rbac.yaml is a Role with what is needed")
}
