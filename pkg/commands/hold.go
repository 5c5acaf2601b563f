package commands

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// holdOptions are those of pause, of resume and of stop.
type holdOptions struct {
	app      *app
	decide   func(*batchv1.Job, status.Verdict, watch.HoldRequest) watch.HoldDecision
	names    []string
	selector string
	reason   string
	force    bool
	dryRun   string
	output   format
}

func newPauseCommand(a *app, run func(context.Context, *holdOptions) error) *cobra.Command {
	o := &holdOptions{app: a, decide: watch.DecidePause}
	cmd := &cobra.Command{
		Use:   "pause NAME... | -l SELECTOR",
		Short: "Stop the Pods of runs until they are resumed",
		Long: templates.LongDesc(`
			Suspend Jobs. Their Pods are stopped with their grace time and start anew at resume; what counts towards
			backoffLimit stays. Who paused, when and why is recorded on the Job.`),
		Example: templates.Examples(`
			# Pause a run and say why
			kubectl work pause etl --reason "upstream is late"

			# Pause everything of a team
			kubectl work pause -l team=data`),
	}
	cmd.Flags().StringVar(&o.reason, "reason", "", "Why, for those who look at it later")
	return o.finish(cmd, run)
}

func newResumeCommand(a *app, run func(context.Context, *holdOptions) error) *cobra.Command {
	o := &holdOptions{app: a, decide: watch.DecideResume}
	cmd := &cobra.Command{
		Use:   "resume NAME... | -l SELECTOR",
		Short: "Let paused runs go on",
		Long: templates.LongDesc(`
			Release Jobs that are suspended, whoever suspended them. Jobs that a queueing controller decides about are left to
			it.`),
		Example: templates.Examples(`
			# Let a paused run go on
			kubectl work resume etl`),
	}
	return o.finish(cmd, run)
}

func newStopCommand(a *app, run func(context.Context, *holdOptions) error) *cobra.Command {
	o := &holdOptions{app: a, decide: watch.DecideStop}
	cmd := &cobra.Command{
		Use:   "stop NAME... | -l SELECTOR",
		Short: "End runs, and keep their Jobs",
		Long: templates.LongDesc(`
			End Jobs for good. Their Pods get their grace time and go, and the Job controller records Failed; the Job stays, with
			who stopped it, when and why. A paused or queued run ends without ever starting. To remove Jobs too, use delete.`),
		Example: templates.Examples(`
			# End a run and say why
			kubectl work stop etl --reason "wrong input"

			# End everything of a team
			kubectl work stop -l team=data`),
	}
	cmd.Flags().StringVar(&o.reason, "reason", "", "Why, for those who look at it later")
	return o.finish(cmd, run)
}

// finish adds what pause, resume and stop share.
func (o *holdOptions) finish(cmd *cobra.Command, run func(context.Context, *holdOptions) error) *cobra.Command {
	cmd.GroupID = groupRun
	cmd.ValidArgsFunction = o.app.completeJobs
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "All Jobs with these labels")
	cmd.Flags().BoolVar(&o.force, "force", false, "Do it although another controller decides about the Job, or although it may look complete afterwards")
	cmd.Flags().StringVar(&o.dryRun, "dry-run", "none", "none, client (say what would be done), or server (let the server check it)")
	cmd.Flags().Lookup("dry-run").NoOptDefVal = "client"
	cmd.Flags().StringVarP((*string)(&o.output), "output", "o", "", "Form of the answer: name")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.names = args
		if run != nil {
			return run(cmd.Context(), o)
		}
		return runHold(cmd.Context(), o)
	}
	return cmd
}

func (o *holdOptions) validate() error {
	if (len(o.names) > 0) == (o.selector != "") {
		return refuse("say which in one way: NAME... or -l SELECTOR")
	}
	if err := checkDryRun(o.dryRun); err != nil {
		return err
	}
	return checkFormat(o.output, formatName)
}

func runHold(ctx context.Context, o *holdOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	client, jobs, err := o.app.selected(ctx, o.names, o.selector)
	if err != nil {
		return err
	}
	request := watch.HoldRequest{By: client.User(ctx), Reason: o.reason, Force: o.force, Now: client.Now()}
	var errs []error
	var codes []Code
	for _, job := range jobs {
		done, err := o.hold(ctx, client, job, request)
		codes = append(codes, exitCode(err))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if o.output == formatName {
			fmt.Fprintln(o.app.Out, render.NameLine(job.Name))
		} else {
			fmt.Fprintf(o.app.Out, "job.batch/%s %s\n", job.Name, done)
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return &codeError{Code: worst(codes), Err: errors.Join(errs...)}
}

// holdRounds bounds how often a hold is decided anew because somebody else wrote the Job in between.
const holdRounds = 6

// hold decides and writes; a conflict means to look and decide again, never to overwrite.
func (o *holdOptions) hold(ctx context.Context, c *cluster.Client, job *batchv1.Job, r watch.HoldRequest) (string, error) {
	uid := job.UID
	for round := range holdRounds {
		v := status.Of(status.Snapshot{Job: job, At: c.Now(), PodsHidden: true})
		d := o.decide(job, v, r)
		if d.Refusal != "" {
			return "", refuse("%s", d.Refusal)
		}
		if round == 0 {
			for _, w := range d.Warnings {
				o.app.note("Warning: %s", w)
			}
		}
		if d.Patch == nil {
			return d.Done, nil
		}
		if o.dryRun == "client" {
			return d.Done + " (dry run)", nil
		}
		_, err := c.PatchJob(ctx, job.Namespace, job.Name, d.Patch, o.dryRun == "server")
		switch {
		case err == nil && o.dryRun == "server":
			return d.Done + " (server dry run)", nil
		case err == nil:
			return d.Done, nil
		case !cluster.Conflict(err):
			return "", fmt.Errorf("job/%s: %w", job.Name, err)
		}
		if err := pause(ctx, jitter(round)); err != nil {
			return "", err
		}
		if job, err = c.Job(ctx, job.Namespace, job.Name); err != nil {
			return "", err
		}
		if job.UID != uid {
			return "", &codeError{Code: CodeGone, Err: fmt.Errorf("job/%s was replaced by another run meanwhile", job.Name)}
		}
	}
	return "", refuse("job/%s is being changed by somebody else all the time; nothing was done, try again", job.Name)
}

// jitter is the pause before a round: longer each time, different for every client.
func jitter(round int) time.Duration {
	base := 50 * time.Millisecond << round
	return base + rand.N(base)
}

// pause waits for d, or fails with the cause of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}
