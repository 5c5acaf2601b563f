package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

type retryOptions struct {
	submitOptions
	name       string
	run        int
	failedOnly bool
}

func newRetryCommand(a *app, run func(context.Context, *retryOptions) error) *cobra.Command {
	o := &retryOptions{submitOptions: submitOptions{app: a}}
	cmd := &cobra.Command{
		Use:     "retry NAME",
		Short:   "Start another run of what has ended",
		GroupID: groupRun,
		Long: templates.LongDesc(`
			Start another run with the document of a run that has ended: of the newest, or of the one of --run. A Job that
			somebody else made is retried too, with its spec as it is; its new runs are NAME-r2, NAME-r3.`),
		Example: templates.Examples(`
			# Try again, and wait for the result
			kubectl work retry etl --wait

			# Only the indexes that did not succeed: of "3,10" the Pod with index 1 stands for 10
			kubectl work retry render --failed-only

			# With the document that run 1 had
			kubectl work retry etl --run 1`),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			o.wait.limited = cmd.Flags().Changed("timeout")
			o.submitID = or(o.submitID, a.Getenv(submitIDEnv))
			if o.waiting && !cmd.Flags().Changed("retry-for") {
				a.retryFor = retryForWait
			}
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runRetry(cmd.Context(), o)
		},
	}
	cmd.Flags().IntVar(&o.run, "run", 0, "The run whose document is taken (default: the newest)")
	cmd.Flags().BoolVar(&o.failedOnly, "failed-only", false, "Only the indexes of an Indexed run that did not succeed; "+mapping.EnvIndexMap+" tells the task which they are")
	cmd.Flags().BoolVar(&o.choices.Force, "force", false, "Also when the newest run goes on")
	o.addShared(cmd)
	return cmd
}

func runRetry(ctx context.Context, o *retryOptions) error {
	report := newWaitReport(o.app, "SubmitResult", o.output)
	name, err := jobName(o.name)
	if o.run < 0 {
		err = errors.Join(err, refuse("--run %d: give a run number from 1 on", o.run))
	}
	if err := errors.Join(err, o.validateShared()); err != nil {
		return o.refused(report, err)
	}
	ctx, cancel := o.wait.deadline(ctx)
	defer cancel()
	client, err := o.app.client()
	if err != nil {
		return o.refused(report, err)
	}
	report.namespace = client.Namespace
	runs, _, err := allRunsOf(ctx, client, name)
	if err != nil {
		return o.refused(report, err)
	}
	newest := runs[len(runs)-1]
	job := newest
	if o.run > 0 {
		i := slices.IndexFunc(runs, func(j *batchv1.Job) bool { return mapping.RunNumber(j) == o.run })
		if i < 0 {
			return o.refused(report, &codeError{Code: CodeGone, Err: fmt.Errorf("no run %d of %s in namespace %s", o.run, name, client.Namespace)})
		}
		job = runs[i]
	}
	v := status.Of(status.Snapshot{Job: newest, At: client.Now(), PodsHidden: true})
	over := v.Phase.Finished() || v.Outcome != status.OutcomeNone && !o.failedOnly // decided, as wait takes it; its last Pods may be ending
	if !over && !o.choices.Force {
		return o.refused(report, refuse("job/%s is %s: there is nothing to retry yet. --force starts another run beside it", newest.Name, v.Phase))
	}
	w, err := mapping.ToWork(job)
	if err != nil {
		return o.refused(report, fmt.Errorf("job/%s: %w", job.Name, err))
	}
	w.Name, w.GenerateName, w.Namespace = mapping.WorkName(job), "", job.Namespace
	if o.failedOnly {
		left := status.Unfinished(job)
		if len(left) == 0 {
			return o.refused(report, refuse("job/%s has no indexes that did not succeed; --failed-only is for Indexed Jobs that failed", job.Name))
		}
		if err := mapping.OnlyIndexes(w, left); err != nil {
			return o.refused(report, refuse("job/%s: %w", job.Name, err))
		}
	}
	o.again = true
	o.choices = watch.SubmitChoices{NewRun: true, IfFinished: watch.IfFinishedFail}
	return o.submit(ctx, client, []*mapping.Document{{File: "job/" + job.Name, Work: w}}, report)
}
