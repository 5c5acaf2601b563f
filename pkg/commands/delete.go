package commands

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubectl/pkg/util/templates"
)

type deleteOptions struct {
	app      *app
	names    []string
	selector string
	files    inputs
	all      bool
	wait     bool
	timeout  time.Duration
	limited  bool // --timeout was given
	cascade  string
	dryRun   string
	yes      bool
	output   format
	narrow   narrowFlags
}

func newDeleteCommand(a *app, run func(context.Context, *deleteOptions) error) *cobra.Command {
	o := &deleteOptions{app: a}
	cmd := &cobra.Command{
		Use:     "delete [NAME... | -l SELECTOR | -f FILE | -k DIR | --all] [--finished] [--failed | --succeeded] [--older-than AGE] [--keep N]",
		Short:   "Delete runs with their Pods",
		GroupID: groupRun,
		Long: templates.LongDesc(`
			Delete Jobs and their Pods, and wait until both are gone.

			NAME is the Job of exactly that name, else the newest run of that Work. Exactly the Jobs found at the start are
			deleted, never others that take their names meanwhile. -l and --all show what would go and ask; where nobody can be
			asked they need --yes.

			--finished, --failed, --succeeded, --older-than and --keep narrow that to the Jobs for which all of them hold. Alone they
			narrow all Jobs of the namespace, whoever made them, and ask too. --keep counts the runs that the others let pass, of
			each Work or CronJob by itself; runs that go on are among them unless --finished is given. With these flags it is no
			error that nothing is there to delete.

			With the last run of a Work that was named goes its anchor (spec.owner.anchor), and nothing else that it may own.

			The exit code is 3 when something is still there at the --timeout: what holds it is named.`),
		Example: templates.Examples(`
			# Delete a run, its Pods and their output
			kubectl work delete etl

			# Every run of a Work, without a question
			kubectl work delete -l kubectl-work.dev/work=etl --yes

			# What would go
			kubectl work delete --all --dry-run=client

			# Clean up every night: what ended a week ago, but for the newest three runs of each Work
			kubectl work delete --finished --older-than 7d --keep 3 --yes

			# Delete the Job and let its Pods run on
			kubectl work delete etl --cascade=orphan`),
		ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names, o.limited, o.narrow.counts = args, cmd.Flags().Changed("timeout"), cmd.Flags().Changed("keep")
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runDelete(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "All Jobs with these labels")
	o.files.add(cmd.Flags(), "The Works and Jobs of these")
	cmd.Flags().BoolVar(&o.all, "all", false, "All Jobs of the namespace")
	o.narrow.add(cmd)
	cmd.Flags().BoolVar(&o.wait, "wait", true, "Wait until the Jobs and their Pods are gone")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 0, "Give up waiting after this long; 0 looks once (default: no limit)")
	cmd.Flags().StringVar(&o.cascade, "cascade", cascadeBackground, "background (Pods go after the Job), foreground (before it), or orphan (Pods stay)")
	cmd.Flags().StringVar(&o.dryRun, "dry-run", "none", "none, client (say what would be done), or server (let the server check it)")
	cmd.Flags().Lookup("dry-run").NoOptDefVal = "client"
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Do not ask")
	cmd.Flags().StringVarP((*string)(&o.output), "output", "o", "", "Form of the answer: name")
	_ = cmd.RegisterFlagCompletionFunc("cascade", // fails only for a flag that is not there
		cobra.FixedCompletions([]string{cascadeBackground, cascadeForeground, cascadeOrphan}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// The values of --cascade.
const (
	cascadeBackground = "background"
	cascadeForeground = "foreground"
	cascadeOrphan     = "orphan"
)

func (o *deleteOptions) validate() error {
	problems := []error{checkSelector(o.selector)}
	ways := 0
	for _, used := range []bool{len(o.names) > 0, o.selector != "", o.files.given(), o.all} {
		if used {
			ways++
		}
	}
	if ways > 1 || ways == 0 && !o.narrow.filter().Given() {
		problems = append(problems, refuse("say what to delete in one way: NAME..., -l SELECTOR, -f FILE, -k DIR, --all, or what --finished and the like say"))
	}
	problems = append(problems, o.narrow.validate())
	if _, known := propagations()[o.cascade]; !known {
		problems = append(problems, refuse("--cascade=%s: give background, foreground or orphan", o.cascade))
	}
	if o.timeout < 0 {
		problems = append(problems, refuse("--timeout %s: a time limit cannot be negative", o.timeout))
	}
	problems = append(problems, checkDryRun(o.dryRun), checkFormat(o.output, formatName))
	return errors.Join(problems...)
}

func propagations() map[string]metav1.DeletionPropagation {
	return map[string]metav1.DeletionPropagation{
		cascadeBackground: metav1.DeletePropagationBackground,
		cascadeForeground: metav1.DeletePropagationForeground,
		cascadeOrphan:     metav1.DeletePropagationOrphan,
	}
}

func runDelete(ctx context.Context, o *deleteOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.limited && o.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, o.timeout, errTimeout)
		defer cancel()
	}
	client, err := o.app.client()
	if err != nil {
		return err
	}
	jobs, missing, err := o.targets(ctx, client)
	if err != nil {
		return err
	}
	if jobs = o.narrowed(client, jobs); len(jobs) == 0 {
		return together(missing)
	}
	if err := o.agreed(ctx, client, jobs); err != nil {
		return err
	}
	if o.cascade == cascadeOrphan {
		o.tellOrphans(ctx, client, jobs)
	}
	deleted, problems := o.delete(ctx, client, jobs)
	if o.wait && o.dryRun == "none" && len(deleted) > 0 && ctx.Err() == nil {
		if err := o.awaitGone(ctx, client, deleted); err != nil {
			problems = append(problems, err)
		}
	}
	if ctx.Err() == nil {
		problems = append(problems, o.removeAnchors(ctx, client, deleted)...)
	}
	return together(append(problems, missing...))
}
