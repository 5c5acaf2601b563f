package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

type checkOptions struct {
	app      *app
	files    inputs
	given    map[string]string // profiles
	profiles profiles
	output   format
}

func newCheckCommand(a *app, run func(context.Context, *checkOptions) error) *cobra.Command {
	o := &checkOptions{app: a}
	cmd := &cobra.Command{
		Use:     "check -f FILE | -k DIR",
		Short:   "Ask the cluster whether Works of files would run now",
		GroupID: groupSee,
		Long: templates.LongDesc(`
			Ask whether Works would run if they were submitted now, and create nothing: dry runs of the Job and of the Pod that
			it makes (quota, limits, Pod Security, webhooks, service account), the Secrets, ConfigMaps, keys and claims that they
			name, and the room, taints and labels of the nodes. The reasons are those that describe would give.

			What may not be looked at is named. The exit code is 0 when nothing stands in the way, and 1 when something does.`),
		Example: templates.Examples(`
			# Before a submit
			kubectl work check -f work.yaml`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runCheck(cmd.Context(), o)
		},
	}
	o.files.add(cmd.Flags(), "Works or Jobs")
	addProfiles(cmd.Flags(), &o.given)
	cmd.Flags().StringVarP((*string)(&o.output), "output", "o", "", "Form of the answer: json, yaml or jsonpath=TEMPLATE")
	return cmd
}

func runCheck(ctx context.Context, o *checkOptions) error {
	if !o.files.given() {
		return o.files.missing()
	}
	if err := checkFormat(o.output, formatJSON, formatYAML, jsonPathPrefix); err != nil {
		return err
	}
	documents, err := readDocuments(ctx, o.app, o.files, mapping.DecodeOptions{SkipOtherKinds: true})
	if err != nil {
		return err
	}
	client, err := o.app.client()
	if err != nil {
		return err
	}
	o.profiles = profiles{app: o.app, client: client, files: o.given}
	here := place{namespace: client.Namespace, explicit: client.Explicit}
	if err := checkPlaces(documents, here, false); err != nil {
		return err
	}
	var items []render.LintItem
	var errs []error
	for _, d := range documents {
		found, err := o.document(ctx, client, d, here.namespace)
		items = append(items, found...)
		if err != nil {
			errs = append(errs, located(d, err))
		}
		if stops(ctx, err) {
			break
		}
	}
	return o.print(items, errs)
}

// document says what stands in the way of one document.
func (o *checkOptions) document(ctx context.Context, c *cluster.Client, d *mapping.Document, namespace string) ([]render.LintItem, error) {
	in := mapping.Injection{Namespace: namespace, SubmitID: o.app.NewID(), Run: 1, Now: c.Now()}
	if d.Work.Name == "" {
		in.Name = mapping.GenerateName(d.Work.GenerateName, in.SubmitID)
	}
	var err error
	if in.Profile, err = o.profiles.of(ctx, d.Work, or(d.Work.Namespace, namespace)); err != nil {
		return nil, err
	}
	job, err := mapping.ToJob(d.Work, in)
	if err != nil {
		return nil, err
	}
	const digits = 6
	found, err := watch.Foresee(ctx, c, job, in.SubmitID[:min(digits, len(in.SubmitID))])
	if err != nil {
		return nil, err
	}
	for _, what := range found.Unread {
		o.app.note("%s: not looked at: %s", d.File, what)
	}
	var items []render.LintItem
	for _, f := range found.Findings {
		items = append(items, foreseen(d, f))
	}
	return items, nil
}

// foreseen is a finding at its place in the file; what it has in parts is told in its sentence.
func foreseen(d *mapping.Document, f status.Finding) render.LintItem {
	p := d.Problem(or(f.Field, "spec.template"), f.Message, f.Next)
	item := render.LintItemOf(f.ID+"/"+f.Reason, p)
	item.Details = f.Details
	return item
}

func (o *checkOptions) print(items []render.LintItem, errs []error) error {
	err := together(errs)
	if err == nil && len(items) > 0 {
		err = &codeError{Code: CodeRefused, Err: fmt.Errorf("%s in the way", count(len(items), "thing"))}
	}
	if o.output == formatText {
		for _, i := range items {
			fmt.Fprintln(o.app.Out, render.LintLine(i))
			for _, detail := range i.Details {
				fmt.Fprintln(o.app.Out, "  - "+render.Line(detail))
			}
		}
		return err
	}
	out := render.LintOutput{APIVersion: render.OutputVersion, Kind: "CheckResult", Code: int(exitCode(err)), Items: []render.LintItem{}}
	out.Items = append(out.Items, items...)
	return errors.Join(err, printObject(o.app.Out, o.output, out))
}
