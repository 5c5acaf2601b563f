package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch/doctor"
)

type doctorOptions struct {
	app    *app
	all    bool // namespaces
	fix    bool
	yes    bool
	output format
}

func newDoctorCommand(a *app, run func(context.Context, *doctorOptions) error) *cobra.Command {
	o := &doctorOptions{app: a}
	cmd := &cobra.Command{
		Use:     "doctor [--fix]",
		Short:   "Find what is left behind and what stands in the way",
		GroupID: groupSee,
		Long: templates.LongDesc(`
			Look through a namespace for held runs that nobody moves, finalizers, anchors, Leases and Pods that were left behind,
			owners that are gone, restored copies, rights that commands need and you lack, and clocks that differ. Each finding
			says what was seen, why it matters and what to do; docs/doctor.md has them all.

			--fix does what is safe, and nothing else: it removes anchors and Leases that no run uses, takes our finalizer off
			runs that have ended or are being deleted, and drops holds that somebody overrode. It asks; where nobody can be asked
			it needs --yes.

			The exit code is 0, or 5 when something cannot go on until somebody acts: a finding of severity error.`),
		Example: templates.Examples(`
			# What is wrong in this namespace?
			kubectl work doctor

			# Clean up what is safe to
			kubectl work doctor --fix

			# What cannot go on by itself, anywhere, for a script
			kubectl work doctor -A -o jsonpath='{range .items[?(@.severity=="error")]}{.namespace}/{.object}: {.message}{"\n"}{end}'`),
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runDoctor(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "All namespaces")
	cmd.Flags().BoolVar(&o.fix, "fix", false, "Put right what is safe to")
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "With --fix: do not ask")
	cmd.Flags().StringVarP((*string)(&o.output), "output", "o", "", "Form of the answer: json, yaml or jsonpath=TEMPLATE")
	return cmd
}

func (o *doctorOptions) validate() error {
	var problems []error
	if o.yes && !o.fix {
		problems = append(problems, refuse("--yes is about --fix: give that too"))
	}
	return errors.Join(append(problems, checkFormat(o.output, formatJSON, formatYAML, jsonPathPrefix))...)
}

func runDoctor(ctx context.Context, o *doctorOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	client, err := o.app.client()
	if err != nil {
		return err
	}
	namespace := client.Namespace
	if o.all {
		namespace = metav1.NamespaceAll
	}
	survey, err := doctor.Look(ctx, client, namespace)
	c := &checkup{doctorOptions: o, client: client, survey: survey, troubles: doctor.Examine(survey)}
	if err == nil {
		c.tell()
	}
	if reportErr := c.report(); reportErr != nil {
		return reportErr
	}
	if err != nil { // what is missing in the survey is all there is to say
		return c.answer(err)
	}
	var problems []error
	if todo := c.fixable(); o.fix && len(todo) > 0 {
		if err := c.agreed(ctx, todo); err != nil {
			return c.answer(err)
		}
		problems = c.repair(ctx, todo)
	}
	return c.answer(together(append(problems, c.stuck()...)))
}

// checkup is one look at a namespace, and what became of what was found.
type checkup struct {
	*doctorOptions
	client   *cluster.Client
	survey   doctor.Survey
	troubles []doctor.Trouble
	items    []render.DoctorItem // of troubles, one each
}

// tell says what was not looked at, and that there is nothing to say.
func (c *checkup) tell() {
	for _, what := range c.survey.Unread {
		c.app.note("not looked at: %s", what)
	}
	if len(c.troubles) == 0 {
		where := "namespace " + c.client.Namespace
		if c.all {
			where = "any namespace"
		}
		c.app.note("nothing found in %s (%s)", where, count(len(c.survey.Jobs), "Job"))
	}
}

// report shows what was found; in a machine format that waits until it is known what became of it.
func (c *checkup) report() error {
	for _, t := range c.troubles {
		c.items = append(c.items, render.DoctorItem{Namespace: t.Namespace, Object: t.Object, Finding: t.Finding, Fixable: t.Fix != nil})
	}
	if c.output != formatText {
		return nil
	}
	return render.DoctorReport(c.app.Out, c.items, c.survey.At, c.all)
}

// stuck says that something is still so that cannot go on by itself.
func (c *checkup) stuck() []error {
	bad := 0
	for _, i := range c.items {
		if i.Severity == status.SeverityError && i.Fixed == "" {
			bad++
		}
	}
	if bad == 0 {
		return nil
	}
	return []error{&codeError{Code: CodeStuck, Err: fmt.Errorf("%s of severity error", count(bad, "finding"))}}
}

// answer ends the command: with what was found, in a machine format, and how it went.
func (c *checkup) answer(err error) error {
	if c.output == formatText {
		return err
	}
	out := render.DoctorOutput{APIVersion: render.OutputVersion, Kind: "DoctorResult", Code: int(exitCode(err)), Items: []render.DoctorItem{}, Unread: c.survey.Unread}
	out.Items = append(out.Items, c.items...)
	if err != nil {
		out.Error = message(err)
	}
	return errors.Join(printObject(c.app.Out, c.output, out), err)
}
