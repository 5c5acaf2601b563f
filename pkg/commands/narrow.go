package commands

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// narrowFlags narrow a selection of runs.
type narrowFlags struct {
	finished, failed, succeeded bool

	older  days
	keep   int
	counts bool // --keep was given
}

func (f *narrowFlags) add(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.finished, "finished", false, "Only runs that have succeeded or failed for good")
	cmd.Flags().BoolVar(&f.failed, "failed", false, "Only runs that failed")
	cmd.Flags().BoolVar(&f.succeeded, "succeeded", false, "Only runs that succeeded")
	cmd.Flags().Var(&f.older, "older-than", "Only runs whose end, or creation when they go on, is longer ago than this: 90m, 36h, 7d")
	cmd.Flags().IntVar(&f.keep, "keep", 0, "Keep so many of the newest runs of each Work, or CronJob")
	_ = cmd.RegisterFlagCompletionFunc("older-than", // fails only for a flag that is not there
		cobra.FixedCompletions([]string{"1h", "1d", "7d", "30d"}, cobra.ShellCompDirectiveNoFileComp))
}

func (f *narrowFlags) validate() error {
	var problems []error
	if f.failed && f.succeeded {
		problems = append(problems, refuse("--failed and --succeeded exclude each other; --finished is both"))
	}
	if f.older < 0 {
		problems = append(problems, refuse("--older-than %s: an age cannot be negative", time.Duration(f.older)))
	}
	if f.keep < 0 {
		problems = append(problems, refuse("--keep %d: give 0 or more", f.keep))
	}
	return errors.Join(problems...)
}

func (f *narrowFlags) filter() watch.Filter {
	filter := watch.Filter{Finished: f.finished, OlderThan: time.Duration(f.older)}
	if f.failed {
		filter.Outcome = status.OutcomeFailed
	}
	if f.succeeded {
		filter.Outcome = status.OutcomeSucceeded
	}
	if f.counts {
		filter.Keep = &f.keep
	}
	return filter
}

// narrowed are the Jobs that the filters let pass. It says what stays of those that were named, and when nothing is left.
func (o *deleteOptions) narrowed(c *cluster.Client, jobs []*batchv1.Job) []*batchv1.Job {
	filter := o.narrow.filter()
	if !filter.Given() {
		return jobs
	}
	pass, left := filter.Split(jobs, c.Now())
	if !o.selects() {
		for _, l := range left {
			o.app.note("job/%s stays: %s", l.Run.Name, l.Why)
		}
	}
	if len(pass) == 0 {
		o.app.note("nothing to delete: %s", o.emptyText(c.Namespace, len(jobs), filter))
	}
	return pass
}

func (o *deleteOptions) emptyText(namespace string, found int, filter watch.Filter) string {
	what := "no Jobs"
	if o.selector != "" {
		what = fmt.Sprintf("no Jobs with labels %q", o.selector)
	}
	switch found {
	case 0:
		return fmt.Sprintf("%s in namespace %s", what, namespace)
	case 1:
		return fmt.Sprintf("the 1 Job found in namespace %s is not %s", namespace, filter)
	}
	return fmt.Sprintf("of %d Jobs found in namespace %s none is %s", found, namespace, filter)
}
