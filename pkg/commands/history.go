package commands

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
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
			List the runs of a Work, the newest last: those whose Jobs still exist, and of a Work with an anchor the last that
			have ended, up to its historyLimit, as far as a kubectl work watch has seen them. Other runs that were deleted, by a
			person or by their time to live, are not known any more.`),
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
	runs, gone, err := allRunsOf(ctx, client, name)
	if err != nil {
		return err
	}
	at := client.Now()
	var rows []render.Row
	for _, job := range runs {
		rows = append(rows, render.Row{Job: job, Gone: gone.Has(job), Verdict: status.Of(status.Snapshot{Job: job, PodsHidden: true, EventsHidden: true, At: at})})
	}
	if len(gone) > 0 {
		o.app.note("%s: their Jobs are gone; the anchor of the Work remembers them", strings.Join(namesOfJobs(gone), ", "))
	}
	list := &listOptions{app: o.app, output: o.output}
	return list.print(o.app.Out, rows, render.ListOptions{Wide: o.output == formatWide, Colour: o.app.colours(), Width: o.app.width(), At: at}, nil)
}

func namesOfJobs(jobs []*batchv1.Job) []string {
	var names []string
	for _, job := range jobs {
		names = append(names, job.Name)
	}
	return names
}

// allRunsOf are the runs of a Work in the order of their numbers. Those in gone come from the memory of its anchor: their Jobs are
// not there any more.
func allRunsOf(ctx context.Context, c *cluster.Client, name string) (runs []*batchv1.Job, gone mapping.Memory, err error) {
	runs, missing := runsOf(ctx, c, name)
	if missing != nil && exitCode(missing) != CodeGone {
		return nil, nil, missing
	}
	if len(runs) > 0 {
		name = mapping.WorkName(runs[0])
	}
	gone, err = watch.Remembered(ctx, c, c.Namespace, name)
	if err != nil {
		return nil, nil, err
	}
	gone = slices.DeleteFunc(gone, mapping.Memory(runs).Has)
	if missing != nil && len(gone) == 0 {
		return nil, nil, missing
	}
	runs = append(runs, gone...)
	slices.SortStableFunc(runs, func(a, b *batchv1.Job) int { return cmp.Compare(mapping.RunNumber(a), mapping.RunNumber(b)) })
	return runs, gone, nil
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
