package commands

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// explainRule prints what a rule of the judge means: by its id, or by one of its reasons.
func (a *app) explainRule(name string) error {
	var ids []string
	found := false
	for _, r := range status.Rules() {
		ids = append(ids, r.ID)
		reason := slices.ContainsFunc(r.Reasons, func(reason status.Reason) bool { return strings.EqualFold(reason.Name, name) })
		if r.ID != name && !reason {
			continue
		}
		if err := render.Rule(a.Out, r); err != nil {
			return err
		}
		found = true
	}
	if !found {
		return refuse("--explain %s: no rule and no reason of that name; the rules are %s", name, strings.Join(ids, ", "))
	}
	return nil
}

// completeRules completes the value of --explain.
func completeRules(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var ids []string
	for _, r := range status.Rules() {
		ids = append(ids, r.ID)
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
