package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

type listOptions struct {
	app       *app
	names     []string
	all       bool // namespaces
	selector  string
	phases    []string
	sortBy    string
	noHeaders bool
	output    format
}

func newListCommand(a *app, run func(context.Context, *listOptions) error) *cobra.Command {
	o := &listOptions{app: a}
	cmd := &cobra.Command{
		Use:     "list [NAME...]",
		Aliases: []string{"ls"},
		Short:   "List runs with their phase, progress and reason",
		GroupID: groupSee,
		Long: templates.LongDesc(`
			List Jobs, whoever made them: where each stands, how far it is, and why it fails or does not go on.

			RUN is the number of the run of a Work, "-" for a Job that was not submitted with this program. PROGRESS counts
			succeeded Pods of those wanted ("1+": a work queue, at least one). An empty list is no error; a NAME that is not
			there gives exit code 4.`),
		Example: templates.Examples(`
			# Jobs of the current namespace
			kubectl work list

			# What failed anywhere, newest first, with the cause
			kubectl work list -A --phase Failed --sort-by age -o wide

			# All runs of a Work
			kubectl work list -l kubectl-work.dev/work=etl

			# Names of what is running, for a script
			kubectl work list --phase Running -o name`),
		ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runList(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "The Jobs of all namespaces")
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "Only Jobs with these labels")
	cmd.Flags().StringSliceVar(&o.phases, "phase", nil, "Only Jobs in these phases: "+strings.Join(phaseNames(), ", "))
	cmd.Flags().StringVar(&o.sortBy, "sort-by", sortName, "Order of the rows: name, age (newest first) or phase")
	cmd.Flags().BoolVar(&o.noHeaders, "no-headers", false, "No header line")
	cmd.Flags().StringVarP((*string)(&o.output), "output", "o", "", "Form of the list: wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=NAME:PATH,...")
	fixed := func(values []string) cobra.CompletionFunc {
		return cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)
	}
	_ = cmd.RegisterFlagCompletionFunc("phase", fixed(phaseNames())) // fails only for a flag that is not there
	_ = cmd.RegisterFlagCompletionFunc("sort-by", fixed(sortKeys()))
	return cmd
}

// The values of --sort-by.
const (
	sortName  = "name"
	sortAge   = "age"
	sortPhase = "phase"
)

func sortKeys() []string { return []string{sortName, sortAge, sortPhase} }

func phaseNames() []string {
	var names []string
	for _, p := range status.Phases() {
		names = append(names, string(p))
	}
	return names
}

func (o *listOptions) validate() error {
	problems := []error{checkSelector(o.selector)}
	if len(o.names) > 0 && o.selector != "" {
		problems = append(problems, refuse("say which in one way: NAME... or -l SELECTOR"))
	}
	if len(o.names) > 0 && o.all {
		problems = append(problems, refuse("a NAME is looked for in one namespace: leave out -A"))
	}
	if !slices.Contains(sortKeys(), o.sortBy) {
		problems = append(problems, refuse("--sort-by=%s: give one of %s", o.sortBy, strings.Join(sortKeys(), ", ")))
	}
	for _, name := range o.phases {
		if !slices.ContainsFunc(phaseNames(), func(known string) bool { return strings.EqualFold(known, name) }) {
			problems = append(problems, refuse("--phase=%s: the phases are %s", name, strings.Join(phaseNames(), ", ")))
		}
	}
	problems = append(problems, checkFormat(o.output, formatWide, formatJSON, formatYAML, formatName, jsonPathPrefix, customColumnsPrefix))
	return errors.Join(problems...)
}

func runList(ctx context.Context, o *listOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	names, err := jobNames(o.names)
	if err != nil {
		return err
	}
	client, err := o.app.client()
	if err != nil {
		return o.failed(err)
	}
	found, missing, err := o.read(ctx, client, names)
	if err != nil {
		return o.failed(err)
	}
	if found.podsHidden {
		o.app.note("partial: no right to list pods; what they are at, and causes inside them, stay unknown")
	}
	at := client.Now()
	rows := make([]render.Row, 0, len(found.jobs))
	var places map[types.UID]*status.Place // with only some of the runs they would be wrong
	if len(names) == 0 && o.selector == "" {
		places = status.Places(found.jobs, at)
	}
	for _, job := range found.jobs {
		verdict := status.Of(status.Snapshot{
			Job: job, Pods: found.pods[job.UID], PodsHidden: found.podsHidden, EventsHidden: true, Place: places[job.UID], At: at,
		})
		if o.wants(verdict.Phase) {
			rows = append(rows, render.Row{Job: job, Verdict: verdict})
		}
	}
	sortRows(rows, o.sortBy)
	if len(rows) == 0 && missing == nil {
		o.app.note("%s", o.emptyText(client))
	}
	if err := o.print(o.app.Out, rows, render.ListOptions{
		Namespaces: o.all, Wide: o.output == formatWide, NoHeaders: o.noHeaders, Colour: o.app.colours(), Width: o.app.width(), At: at,
	}, missing); err != nil {
		return err
	}
	return missing
}

func (o *listOptions) wants(p status.Phase) bool {
	return len(o.phases) == 0 || slices.ContainsFunc(o.phases, func(name string) bool { return strings.EqualFold(name, string(p)) })
}

// sortRows orders rows; ties are in order of namespace and name.
func sortRows(rows []render.Row, by string) {
	stage := map[status.Phase]int{}
	for i, p := range status.Phases() {
		stage[p] = i
	}
	slices.SortStableFunc(rows, func(a, b render.Row) int {
		first := 0
		switch by {
		case sortAge:
			first = b.Job.CreationTimestamp.Compare(a.Job.CreationTimestamp.Time)
		case sortPhase:
			first = cmp.Compare(stage[a.Verdict.Phase], stage[b.Verdict.Phase])
		}
		return cmp.Or(first, cmp.Compare(a.Job.Namespace, b.Job.Namespace), cmp.Compare(a.Job.Name, b.Job.Name))
	})
}

// emptyText says what was looked for and where.
func (o *listOptions) emptyText(c *cluster.Client) string {
	text := "No Jobs found"
	if o.selector != "" {
		text = fmt.Sprintf("No Jobs with labels %q found", o.selector)
	}
	if len(o.phases) > 0 {
		text += " in phase " + strings.Join(o.phases, ", ")
	}
	if !o.all {
		text += fmt.Sprintf(" in %s namespace", c.Namespace)
	}
	if c.Context != "" {
		text += fmt.Sprintf(" (context %s)", c.Context)
	}
	return text + "."
}

func (o *listOptions) print(w io.Writer, rows []render.Row, how render.ListOptions, missing error) error {
	switch o.output {
	case formatText, formatWide:
		if len(rows) == 0 {
			return nil
		}
		return render.List(w, rows, how)
	case formatName:
		for _, row := range rows {
			if _, err := fmt.Fprintln(w, render.NameLine(row.Job.Name)); err != nil {
				return err
			}
		}
		return nil
	case formatJSON, formatYAML:
	}
	return printObject(w, o.output, listOutput(rows, missing))
}

// failed prints the machine form of an error: whoever reads JSON gets JSON.
func (o *listOptions) failed(err error) error {
	if o.output == formatJSON || o.output == formatYAML {
		if printErr := printObject(o.app.Out, o.output, listOutput(nil, err)); printErr != nil {
			return printErr
		}
	}
	return err
}

func listOutput(rows []render.Row, err error) render.Output {
	text := ""
	if err != nil {
		text = message(err)
	}
	return render.RunList(rows, int(exitCode(err)), text)
}
