package commands

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"

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
	yes      bool
	stops    string // what it is called, of commands that stop Pods: Pause
	event    string // reason of the Event that it leaves: Paused
	saveLogs string
	dryRun   string
	output   format

	until    untilFlags                     // of pause
	changes  changeFlags                    // of resume
	complete func(*watch.HoldRequest) error // adds what only this command asks for; nil is fine
}

// finish adds what pause, resume and stop share.
func (o *holdOptions) finish(cmd *cobra.Command, run func(context.Context, *holdOptions) error) *cobra.Command {
	cmd.GroupID = groupRun
	cmd.ValidArgsFunction = o.app.completeJobs
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "All Jobs with these labels")
	cmd.Flags().BoolVar(&o.force, "force", false, "Do it although another controller decides about the Job, or although it may look complete afterwards")
	if o.stops != "" {
		cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "Do not ask, with -l at a terminal")
		cmd.Flags().StringVar(&o.saveLogs, "save-logs", "", "A folder to write the Pods' output to first: it goes with them")
	}
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
	if o.complete != nil {
		if err := o.complete(&request); err != nil {
			return err
		}
	}
	if err := o.agreed(ctx, jobs); err != nil {
		return err
	}
	return o.all(ctx, client, jobs, request)
}

// holdResult is what became of one Job.
type holdResult struct {
	done string
	err  error
}

// all holds the Jobs, several at a time, and tells of each in their order.
func (o *holdOptions) all(ctx context.Context, c *cluster.Client, jobs []*batchv1.Job, r watch.HoldRequest) error {
	results := make([]chan holdResult, len(jobs))
	for i := range results {
		results[i] = make(chan holdResult, 1)
	}
	go func() {
		defer o.app.caught()
		var group errgroup.Group
		group.SetLimit(inFlight)
		for i, job := range jobs {
			group.Go(func() error {
				defer o.app.caught()
				done, err := o.hold(ctx, c, job, r)
				results[i] <- holdResult{done, err}
				return nil
			})
		}
	}()
	var problems []error
	for i, job := range jobs {
		var one holdResult
		select {
		case one = <-results[i]:
		case <-ctx.Done():
			return together(append(problems, context.Cause(ctx)))
		}
		switch {
		case one.err != nil:
			problems = append(problems, one.err)
		case o.output == formatName:
			fmt.Fprintln(o.app.Out, render.NameLine(job.Name))
		default:
			fmt.Fprintf(o.app.Out, "job.batch/%s %s\n", job.Name, one.done)
		}
	}
	return together(problems)
}

// holdRounds bounds how often a hold is decided anew because somebody else wrote the Job in between.
const holdRounds = 6

// hold decides and writes; a conflict means to look and decide again, never to overwrite.
func (o *holdOptions) hold(ctx context.Context, c *cluster.Client, job *batchv1.Job, r watch.HoldRequest) (string, error) {
	uid := job.UID
	for round := range holdRounds {
		d, err := o.decided(ctx, c, &job, r)
		if err != nil {
			return "", err
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
		if o.saveLogs != "" && o.dryRun == "none" {
			if err := o.app.saveLogs(ctx, c, job, o.saveLogs); err != nil {
				return "", err
			}
		}
		_, err = c.PatchJob(ctx, job.Namespace, job.Name, d.Patch, o.dryRun == "server")
		switch {
		case err == nil && o.dryRun == "server":
			return d.Done + " (server dry run)", nil
		case err == nil:
			o.record(ctx, c, job, r)
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

// record leaves an Event: who did it, and why.
func (o *holdOptions) record(ctx context.Context, c *cluster.Client, job *batchv1.Job, r watch.HoldRequest) {
	message := fmt.Sprintf("%s by %s", strings.ToLower(o.event), or(r.By, "somebody"))
	if r.Reason != "" {
		message += ": " + r.Reason
	}
	c.RecordOnce(ctx, job, o.event, message)
}

// decided decides, and where something has to happen first, waits for it and decides anew.
func (o *holdOptions) decided(ctx context.Context, c *cluster.Client, job **batchv1.Job, r watch.HoldRequest) (watch.HoldDecision, error) {
	for told := false; ; told = true {
		v := status.Of(status.Snapshot{Job: *job, At: c.Now(), PodsHidden: true})
		d := o.decide(*job, v, r)
		switch {
		case d.Refusal != "":
			return d, refuse("%s", d.Refusal)
		case d.Wait == "" || o.dryRun != "none":
			return d, nil
		case !told:
			o.app.note("waiting for %s", d.Wait)
		}
		if err := pause(ctx, time.Second); err != nil {
			return d, err
		}
		now, err := c.Job(ctx, (*job).Namespace, (*job).Name)
		if err != nil {
			return d, err
		}
		if now.UID != (*job).UID {
			return d, &codeError{Code: CodeGone, Err: fmt.Errorf("job/%s was replaced by another run meanwhile", now.Name)}
		}
		*job = now
	}
}

// agreed shows whose Pods a selection would stop, and asks at a terminal, unless --yes. Names were chosen one by one:
// nobody is asked about those.
func (o *holdOptions) agreed(ctx context.Context, jobs []*batchv1.Job) error {
	active := 0
	for _, job := range jobs {
		if job.Status.Active > 0 {
			active++
		}
	}
	if o.stops == "" || o.selector == "" || o.yes || o.dryRun != "none" || active == 0 || !isTerminal(o.app.In) {
		return nil
	}
	fmt.Fprintf(o.app.Err, "The Pods of %s would be stopped, and their output goes with them (--save-logs DIR keeps it).\n", count(active, "Job"))
	yes, err := o.app.confirm(ctx, o.stops+"?")
	switch {
	case err != nil:
		return err
	case !yes:
		return refuse("nothing was changed")
	}
	return nil
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
