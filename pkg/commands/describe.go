package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
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
		if snapshots[i], err = o.app.snapshot(ctx, client, job); err != nil {
			errs = append(errs, fmt.Errorf("job/%s: %w", job.Name, err))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return o.print(snapshots)
}

// snapshot reads what belongs to a Job: its Pods and the events of the namespace at the same time, then the output that
// explains it. What may not be read is left out and said so in the verdict.
func (a *app) snapshot(ctx context.Context, c *cluster.Client, job *batchv1.Job) (status.Snapshot, error) {
	s := status.Snapshot{Job: job}
	var events []corev1.Event
	var eventsErr error
	read := make(chan struct{})
	go func() {
		defer close(read)
		events, eventsErr = c.Events(ctx, job.Namespace, "")
	}()
	pods, err := c.PodsOf(ctx, job)
	<-read
	switch {
	case cluster.Denied(err):
		s.PodsHidden = true
	case err != nil:
		return s, err
	}
	switch {
	case cluster.Denied(eventsErr):
		s.EventsHidden = true
	case eventsErr != nil:
		return s, eventsErr
	}
	s.Pods, s.Events, s.At = pods, events, c.Now()
	if pod, container, previous, ok := status.LogWanted(s); ok {
		tail := status.LogTail{Pod: pod, Container: container}
		if tail.Lines, err = c.LogTail(ctx, job.Namespace, pod, container, outputLines, previous); err != nil {
			tail.Error = err.Error()
		}
		s.Logs = append(s.Logs, tail)
	}
	return s, nil
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
