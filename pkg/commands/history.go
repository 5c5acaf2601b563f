package commands

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

type historyOptions struct {
	app    *app
	name   string
	output format
}

func newHistoryCommand(a *app, run func(context.Context, *historyOptions) error) *cobra.Command {
	o := &historyOptions{app: a}
	cmd := &cobra.Command{
		Use:     "history NAME",
		Short:   "List the runs of a Work",
		GroupID: groupSee,
		Long: templates.LongDesc(`
			List the runs of a Work whose Jobs still exist, the newest last. Runs that were deleted, by a person or by their
			time to live, are not known any more.`),
		Example: templates.Examples(`
			# What became of each run
			kubectl work history etl`),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runHistory(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP((*string)(&o.output), "output", "o", "", "Form of the list: wide, json, yaml, name, jsonpath=TEMPLATE or custom-columns=NAME:PATH,...")
	return cmd
}

func runHistory(ctx context.Context, o *historyOptions) error {
	name, err := jobName(o.name)
	if err != nil {
		return err
	}
	if err := checkFormat(o.output, formatWide, formatJSON, formatYAML, formatName, jsonPathPrefix, customColumnsPrefix); err != nil {
		return err
	}
	client, err := o.app.client()
	if err != nil {
		return err
	}
	runs, err := runsOf(ctx, client, name)
	if err != nil {
		return err
	}
	at := client.Now()
	var rows []render.Row
	for _, job := range runs {
		rows = append(rows, render.Row{Job: job, Verdict: status.Of(status.Snapshot{Job: job, PodsHidden: true, EventsHidden: true, At: at})})
	}
	list := &listOptions{app: o.app, output: o.output}
	return list.print(o.app.Out, rows, render.ListOptions{Wide: o.output == formatWide, Colour: o.app.colours(), Width: o.app.width(), At: at}, nil)
}

// runsOf are the runs of a Work in the order of their numbers; of a Job that somebody else made, that Job and the runs that
// retry made of it.
func runsOf(ctx context.Context, c *cluster.Client, name string) ([]*batchv1.Job, error) {
	first, err := findJob(ctx, c, c.Namespace, name)
	if err != nil {
		return nil, err
	}
	stem := mapping.WorkName(first)
	list, err := c.Jobs(ctx, c.Namespace, work.LabelWork+"="+mapping.LabelValue(stem))
	if err != nil {
		return nil, err
	}
	var runs []*batchv1.Job
	if !mapping.Ours(first) {
		runs = append(runs, first)
	}
	for i := range list {
		if job := &list[i]; mapping.Ours(job) && mapping.WorkName(job) == stem {
			runs = append(runs, job)
		}
	}
	slices.SortStableFunc(runs, func(a, b *batchv1.Job) int { return cmp.Compare(mapping.RunNumber(a), mapping.RunNumber(b)) })
	return runs, nil
}
