package commands

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

type watchOptions struct {
	app       *app
	names     []string
	all       bool // namespaces
	selector  string
	once      bool
	exitWhen  string
	readOnly  bool
	workers   int
	debugAddr string
	output    format
}

func newWatchCommand(a *app, run func(context.Context, *watchOptions) error) *cobra.Command {
	o := &watchOptions{app: a}
	cmd := &cobra.Command{
		Use:     "watch [NAME...]",
		Short:   "Follow runs, and move those that wait",
		GroupID: groupSee,
		Long: templates.LongDesc(`
			Follow runs until interrupted, print one line a change, and do what no controller on the cluster does for them:
			release runs whose turn it is or whose dependencies have ended, end pauses whose time has come, keep owners and the
			status annotation true, take finalizers of ours off, delete what a cleanupPolicy wants deleted in another way than
			the cluster's own.

			NAME is a Work, with all its runs, or a Job of exactly that name; without one it is about every Job of the namespace,
			or with -A of all. Jobs that were not submitted with this program are shown, and never touched. At the start only
			runs that have not ended are printed.

			Any number may run at once. Those about the same take turns: one acts, the others look on and take over when it is
			gone. Without the right to Leases each acts, which costs requests and harms nothing: every write is checked against
			what was read.

			--once makes one pass over everything, for cron and CI. --exit-when=finished ends when all have: with 0 when they
			succeeded, with the codes of kubectl work wait otherwise; it counts runs that had not ended at the start, those that
			came since, and the newest run of each NAME.`),
		Example: templates.Examples(`
			# Keep the runs of a namespace moving
			kubectl work watch

			# One pass, from cron
			kubectl work watch --once

			# Move a chain of runs until all have ended, and exit with the worst result
			kubectl work watch extract load report --exit-when=finished

			# Just look, as lines of JSON
			kubectl work watch -l team=data --read-only -o json

			# With metrics and health for whoever runs on the same machine
			kubectl work watch --debug-addr 127.0.0.1:9090`),
		ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			if !cmd.Flags().Changed("retry-for") {
				a.retryFor = retryForWait
			}
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runWatch(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVarP(&o.all, "all-namespaces", "A", false, "The Jobs of all namespaces")
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "Only Jobs with these labels")
	cmd.Flags().BoolVar(&o.once, "once", false, "Make one pass over everything and end")
	cmd.Flags().StringVar(&o.exitWhen, "exit-when", exitNever, "When to end: never or finished")
	cmd.Flags().BoolVar(&o.readOnly, "read-only", false, "Look on: write nothing to the cluster")
	cmd.Flags().IntVar(&o.workers, "workers", defaultWorkers, "How many runs are worked on at the same time")
	cmd.Flags().StringVar(&o.debugAddr, "debug-addr", "", "Serve /healthz, /metrics and /debug/work-status at this loopback address, like 127.0.0.1:9090; port 0 finds a free one")
	cmd.Flags().StringVarP((*string)(&o.output), "output", "o", "", "Form of the lines: json")
	_ = cmd.RegisterFlagCompletionFunc("exit-when", // fails only for a flag that is not there
		cobra.FixedCompletions([]string{exitNever, exitFinished}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

// The values of --exit-when.
const (
	exitNever    = "never"
	exitFinished = "finished"
)

const defaultWorkers = 4

// watchGC is how much the memory of a watch may grow, in percent of what it keeps, before the rest is collected: it lives for
// long and makes little, so that small is cheap.
const watchGC = 25

func (o *watchOptions) validate() error {
	problems := []error{checkSelector(o.selector), checkFormat(o.output, formatJSON)}
	if len(o.names) > 0 && o.selector != "" {
		problems = append(problems, refuse("say which in one way: NAME... or -l SELECTOR"))
	}
	if len(o.names) > 0 && o.all {
		problems = append(problems, refuse("a NAME is looked for in one namespace: leave out -A"))
	}
	if !slices.Contains([]string{exitNever, exitFinished}, o.exitWhen) {
		problems = append(problems, refuse("--exit-when=%s: give never or finished", o.exitWhen))
	}
	if o.once && o.exitWhen != exitNever {
		problems = append(problems, refuse("--once ends after one pass: leave out --exit-when=%s", o.exitWhen))
	}
	if o.workers < 1 {
		problems = append(problems, refuse("--workers %d: give 1 or more", o.workers))
	}
	_, err := jobNames(o.names)
	return errors.Join(append(problems, err, checkLoopback(o.debugAddr))...)
}

func runWatch(ctx context.Context, o *watchOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	client, err := o.app.client()
	if err != nil {
		return err
	}
	names, err := jobNames(o.names)
	if err != nil {
		return err
	}
	scope := cluster.Scope{Namespace: client.Namespace, Selector: o.selector}
	if o.all {
		scope.Namespace = ""
	}
	if o.app.Getenv("GOGC") == "" {
		defer debug.SetGCPercent(debug.SetGCPercent(watchGC))
	}
	view := newWatchView(o, names)
	loop := &watch.Loop{Client: client, Scope: scope, Workers: o.workers, Wanted: wanted(names), Changed: view.changed}
	background, end := context.WithCancel(context.WithoutCancel(ctx)) // what has to outlive the last pass
	defer end()
	loop.Over = o.over(loop, view)
	finish, err := o.act(background, client, loop, view)
	if err != nil {
		return err
	}
	defer finish()
	stop, err := o.serve(ctx, loop, view)
	if err != nil {
		return err
	}
	defer stop()
	if err := loop.Run(ctx, o.app.retryFor); err != nil {
		return err
	}
	if o.once && len(view.missing()) > 0 {
		return &codeError{Code: CodeGone} // they are told
	}
	if o.exitWhen == exitFinished {
		return view.result()
	}
	return nil
}

// wanted picks the runs of the named Works, and the Jobs of exactly those names; nil picks all.
func wanted(names []string) func(*batchv1.Job) bool {
	if len(names) == 0 {
		return nil
	}
	return func(job *batchv1.Job) bool {
		return slices.Contains(names, job.Name) || mapping.Ours(job) && slices.Contains(names, mapping.WorkName(job))
	}
}

// onceTime bounds how long --once tries what fails.
const onceTime = 10 * time.Second

// over says when the loop has done what was asked for. Once everything was read it tells of names that nothing has.
func (o *watchOptions) over(loop *watch.Loop, view *watchView) func() (bool, error) {
	var since time.Time
	return func() (bool, error) {
		settled, failing := loop.Settled()
		if !settled {
			return false, nil
		}
		if since.IsZero() {
			since = o.app.Now()
			for _, name := range view.missing() {
				o.app.note("%s: there is no run of that name", name)
			}
		}
		switch {
		case o.once && (len(failing) == 0 || o.app.Now().Sub(since) >= onceTime):
			return true, together(failing)
		case o.exitWhen == exitFinished:
			return len(failing) == 0 && view.ended(), nil
		}
		return false, nil
	}
}

// act lets the loop write: it takes part in the election of the one that does, and tells what it did. The returned function
// ends both.
func (o *watchOptions) act(ctx context.Context, c *cluster.Client, loop *watch.Loop, view *watchView) (finish func(), err error) {
	if o.readOnly {
		loop.Acting = func() bool { return false }
		return func() {}, nil
	}
	recorder, err := c.Recorder(ctx)
	if err != nil {
		return nil, fmt.Errorf("start to record events: %w", err)
	}
	loop.Did = func(d watch.Done) {
		view.did(d)
		if kind, reason, message := d.Event(); reason != "" {
			recorder.Event(d.Job, kind, reason, message)
		}
	}
	if o.once {
		return func() { recorder.Close(ctx) }, nil
	}
	leading := newLeading(o, c, loop)
	leading.start(ctx)
	return func() {
		leading.stop()
		recorder.Close(ctx)
	}, nil
}
