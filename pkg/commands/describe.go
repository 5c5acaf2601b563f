package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

type describeOptions struct {
	app      *app
	names    []string
	selector string
	output   format
}

func newDescribeCommand(a *app, run func(context.Context, *describeOptions) error) *cobra.Command {
	o := &describeOptions{app: a}
	cmd := &cobra.Command{
		Use:     "describe NAME... | -l SELECTOR",
		Short:   "Say what state a run is in, and why",
		GroupID: groupSee,
		Long: templates.LongDesc(`
			Say what state a run is in and why: the verdict first, then progress, conditions, findings with what to do, the
			Pods of all tries, the events of the Job and its Pods, and the last output of the container that failed.

			The exit code is 0 whatever the state; use wait for a code.`),
		Example: templates.Examples(`
			# Why did it fail, why does it not start?
			kubectl work describe etl

			# Only the reason, for a script
			kubectl work describe etl -o jsonpath='{.items[0].verdict.reason}'`),
		ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runDescribe(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "All Jobs with these labels")
	cmd.Flags().StringVarP((*string)(&o.output), "output", "o", "", "Form of the answer: json, yaml, name or jsonpath=TEMPLATE")
	return cmd
}

func (o *describeOptions) validate() error {
	if (len(o.names) > 0) == (o.selector != "") {
		return refuse("say which in one way: NAME... or -l SELECTOR")
	}
	return checkFormat(o.output, formatJSON, formatYAML, formatName, jsonPathPrefix)
}

func runDescribe(ctx context.Context, o *describeOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	client, jobs, err := o.app.selected(ctx, o.names, o.selector)
	if err != nil {
		return err
	}
	snapshots := make([]status.Snapshot, len(jobs))
	var errs []error
	for i, job := range jobs {
		if snapshots[i], err = watch.Look(ctx, client, job); err != nil {
			errs = append(errs, fmt.Errorf("job/%s: %w", job.Name, err))
			continue
		}
		watch.Explain(ctx, client, &snapshots[i])
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return o.print(snapshots)
}

func (o *describeOptions) print(snapshots []status.Snapshot) error {
	switch o.output {
	case formatName:
		for _, s := range snapshots {
			fmt.Fprintln(o.app.Out, render.NameLine(s.Job.Name))
		}
		return nil
	case formatText, formatWide:
		for i, s := range snapshots {
			if i > 0 {
				fmt.Fprintln(o.app.Out)
			}
			if err := render.Describe(o.app.Out, s, status.Of(s)); err != nil {
				return err
			}
		}
		return nil
	case formatJSON, formatYAML:
	}
	out := render.Output{APIVersion: render.OutputVersion, Kind: "Description", Items: []render.Item{}}
	for _, s := range snapshots {
		out.Items = append(out.Items, render.DescriptionItem(s, status.Of(s)))
	}
	return printObject(o.app.Out, o.output, out)
}
