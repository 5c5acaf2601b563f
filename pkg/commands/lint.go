package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/lint"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/render"
)

type lintOptions struct {
	app    *app
	files  inputs
	strict bool
	rules  bool
	skip   []string
	level  string // of Pod Security
	output format
}

func newLintCommand(a *app, run func(context.Context, *lintOptions) error) *cobra.Command {
	o := &lintOptions{app: a}
	cmd := &cobra.Command{
		Use:     "lint -f FILE | -k DIR | --rules",
		Short:   "Say what may go wrong with a Work, without a cluster",
		GroupID: groupSee,
		Long: templates.LongDesc(`
			Check files as a submit does, and hold each Work against what makes a good one-shot task: one that ends, can be
			tried again, fits on a node and leaves nothing behind. No cluster is asked.

			The exit code is 1 when a file is wrong; with --strict also when a rule has a remark.`),
		Example: templates.Examples(`
			# Before a commit
			kubectl work lint -f work.yaml --strict

			# All Works of a repository, without two of the rules
			kubectl work lint -f . -R --skip kept-for-ever,no-memory-limit

			# Will a namespace that enforces the restricted level take the Pods?
			kubectl work lint -f work.yaml --pod-security=restricted

			# What the rules are
			kubectl work lint --rules`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runLint(cmd.Context(), o)
		},
	}
	o.files.add(cmd.Flags(), "Works or Jobs")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "Exit with 1 when a rule has a remark")
	cmd.Flags().BoolVar(&o.rules, "rules", false, "List the rules and what each is about")
	cmd.Flags().StringSliceVar(&o.skip, "skip", nil, "Rules to leave out")
	cmd.Flags().StringVar(&o.level, "pod-security", "", "Also say what a namespace of this Pod Security level would refuse: "+strings.Join(lint.PodSecurityLevels(), ", "))
	cmd.Flags().StringVarP((*string)(&o.output), "output", "o", "", "Form of the answer: json, yaml or jsonpath=TEMPLATE")
	for flag, words := range map[string][]string{"skip": lintIDs(), "pod-security": lint.PodSecurityLevels()} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)) // fails for a flag that is not there
	}
	return cmd
}

func lintIDs() []string {
	var ids []string
	for _, r := range lint.Rules() {
		ids = append(ids, r.ID)
	}
	return ids
}

func (o *lintOptions) validate() error {
	problems := []error{checkFormat(o.output, formatJSON, formatYAML, jsonPathPrefix)}
	if o.files.given() == o.rules {
		problems = append(problems, refuse("give -f FILE, -k DIR or --rules"))
	}
	for _, id := range o.skip {
		if !slices.Contains(lintIDs(), id) {
			problems = append(problems, refuse("--skip %s: the rules are %s", id, strings.Join(lintIDs(), ", ")))
		}
	}
	if o.level != "" && !slices.Contains(lint.PodSecurityLevels(), o.level) {
		problems = append(problems, refuse("--pod-security=%s: give %s", o.level, strings.Join(lint.PodSecurityLevels(), ", ")))
	}
	return errors.Join(problems...)
}

func runLint(ctx context.Context, o *lintOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.rules {
		_, err := fmt.Fprint(o.app.Out, render.LintRules(lint.Rules()))
		return err
	}
	sources, err := readFiles(ctx, o.app, o.files)
	if err != nil {
		return err
	}
	var documents []*mapping.Document
	var items []render.LintItem
	wrong := false
	for _, source := range sources {
		found, problems := mapping.Read(source.name, source.data, mapping.DecodeOptions{SkipOtherKinds: true})
		documents = append(documents, found...)
		var here []render.LintItem
		for _, p := range problems {
			wrong = true
			here = append(here, render.LintItemOf("invalid", p))
		}
		for _, d := range found {
			here = append(here, o.remarks(d)...)
		}
		slices.SortStableFunc(here, func(a, b render.LintItem) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		items = append(items, here...)
	}
	for _, p := range mapping.Duplicates(documents) {
		wrong = true
		items = append(items, render.LintItemOf("invalid", p))
	}
	return o.print(items, wrong || o.strict && len(items) > 0)
}

// remarks are those of one document, in their places.
func (o *lintOptions) remarks(d *mapping.Document) []render.LintItem {
	var items []render.LintItem
	found := lint.Check(d.Work)
	if o.level != "" {
		found = append(found, lint.PodSecurity(d.Work, o.level)...)
	}
	for _, r := range found {
		if !slices.Contains(o.skip, r.Rule) {
			items = append(items, render.LintItemOf(r.Rule, d.Problem(r.Path, r.Message, r.Fix)))
		}
	}
	return items
}

// print writes all items in the order of the files; bad ones make the code 1.
func (o *lintOptions) print(items []render.LintItem, bad bool) error {
	var err error
	if bad {
		err = &codeError{Code: CodeRefused, Err: fmt.Errorf("%s", count(len(items), "problem"))}
	}
	if o.output == formatText {
		for _, i := range items {
			fmt.Fprintln(o.app.Out, render.LintLine(i))
		}
		return err
	}
	out := render.LintOutput{APIVersion: render.OutputVersion, Kind: "LintResult", Code: int(exitCode(err)), Items: []render.LintItem{}}
	out.Items = append(out.Items, items...)
	return errors.Join(err, printObject(o.app.Out, o.output, out))
}
