package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// waitFlags are shared by every command that waits.
type waitFlags struct {
	timeout  time.Duration
	limited  bool // --timeout was given
	goal     string
	early    bool
	onHold   string
	failFast string
	grace    map[string]string
	logs     bool
	codeFrom string // container

	runTimeout  time.Duration
	onTimeout   string
	onStuck     string
	onInterrupt string
	record      string
	reports     []string // KIND=FILE
}

func (f *waitFlags) add(flags *pflag.FlagSet) {
	flags.DurationVar(&f.timeout, "timeout", 0, "Give up after this long, counted from the start of the command, queue time included; 0 looks once (default: no limit)")
	flags.BoolVar(&f.early, "early", false, "Take success as soon as it is decided, before its last Pods have ended")
	flags.DurationVar(&f.runTimeout, "run-timeout", 0, "Give up on a run this long after its release: time in a queue or a pause does not count (default: no limit)")
	flags.StringVar(&f.onTimeout, "on-timeout", onEndLeave, "What becomes of a run whose time is over: leave, stop or delete")
	flags.StringVar(&f.onStuck, "on-stuck", onEndLeave, "What becomes of a run that --fail-fast gives up on: leave, stop or delete")
	flags.StringVar(&f.onInterrupt, "on-interrupt", onEndLeave, "What becomes of the runs when this command is interrupted: leave, stop or delete")
	flags.StringVar(&f.record, "record", "", "Keep what was seen in this file, without credentials, for kubectl work describe --replay")
	flags.StringSliceVar(&f.reports, "report", nil, "Write a report of what failed too, as KIND=FILE; kinds: gitlab (code quality)")
	flags.StringVar(&f.onHold, "on-hold", "wait", "What to do when the run is paused or queued: wait, or fail with code 6")
	flags.StringVar(&f.failFast, "fail-fast", "on", "End with code 5 when it cannot start or go on without someone acting: on or off")
	flags.StringToStringVar(&f.grace, "grace", nil, "How long a cause may last before --fail-fast ends the wait, as CLASS=DURATION; classes: "+graceClasses())
	flags.StringVar(&f.codeFrom, "exit-code-from", "", "When one run is waited for and fails: exit with the code of this container in place of 2")
	flags.BoolVar(&f.logs, "logs", false, "Print the Pods' output while waiting")
}

type waitOptions struct {
	app       *app
	names     []string
	selector  string
	files     inputs
	documents []*mapping.Document // of files
	all       bool
	anyOne    bool
	absent    string
	min       int
	minGiven  bool
	run       int
	output    format
	wait      waitFlags
}

func newWaitCommand(a *app, run func(context.Context, *waitOptions) error) *cobra.Command {
	o := &waitOptions{app: a}
	cmd := &cobra.Command{
		Use:     "wait NAME... | -l SELECTOR | -f FILE | -k DIR | --all",
		Short:   "Wait until runs end, and exit with their result",
		GroupID: groupRun,
		Long: templates.LongDesc(`
			Wait until Jobs end either way, and exit with what happened.

			NAME is the Job of exactly that name, else the newest run of that Work; it is pinned when the command starts. The
			command ends with 0 when all succeeded, with 2 as soon as the cluster has decided a failure, with 3 at the timeout,
			with 4 when a Job is not there or was deleted without a known result, with 5 when a Job cannot start without someone
			acting (after a grace time) or can no longer get where --for wants it, with 6 for a held one under --on-hold=fail,
			with 7 and 8 for missing rights and a server out of reach.

			--for: finished and succeeded end with the run; failed when its failure is decided; started when a Pod has a node;
			running when a container runs; released when it is not suspended; deleted when the Job is gone. -l and --all take the
			Jobs that are there at the start; with --absent=wait --min N the first N that are.

			Of several Jobs each is waited for to its own end, and the worst result gives the code; --any ends with the first
			that got there. The result goes to stdout, progress to stderr; the output of --logs goes to stdout with a result in
			text, and to stderr beside one in JSON.`),
		Example: templates.Examples(`
			# Gate a pipeline on a Job
			kubectl work wait etl --timeout 30m

			# Several at once, one deadline for all
			kubectl work wait -l team=data --timeout 1h

			# Wait for a Job that a controller is about to create
			kubectl work wait etl --absent=wait --timeout 10m

			# Wait until three Jobs with a label are there, and then for all of them
			kubectl work wait -l stage=load --absent=wait --min 3 --timeout 1h

			# Show its output meanwhile, and the result as JSON at the end
			kubectl work wait etl --logs -o json

			# Do not leave it running when the pipeline gives up or is cancelled
			kubectl work wait etl --timeout 30m --on-timeout=stop --on-interrupt=stop`),
		ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			o.wait.limited = cmd.Flags().Changed("timeout")
			o.minGiven = cmd.Flags().Changed("min")
			if !cmd.Flags().Changed("retry-for") {
				a.retryFor = retryForWait
			}
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runWait(cmd.Context(), o)
		},
	}
	o.wait.add(cmd.Flags())
	cmd.Flags().StringVar(&o.wait.goal, "for", string(watch.GoalFinished), "What to wait for: "+goalNames()+", phase=PHASE, condition=TYPE[=STATUS]")
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "Wait for all Jobs with these labels")
	o.files.add(cmd.Flags(), "Wait for the Works of these")
	cmd.Flags().BoolVar(&o.all, "all", false, "Wait for all Jobs of the namespace")
	cmd.Flags().BoolVar(&o.anyOne, "any", false, "End with 0 as soon as one of them got there")
	cmd.Flags().StringVar(&o.absent, "absent", "fail", "What to do for a name that is not there: fail with code 4, wait for it, or ok; with -l or --all for fewer Jobs than --min")
	cmd.Flags().IntVar(&o.min, "min", 1, "With -l or --all: how many Jobs there must be")
	cmd.Flags().IntVar(&o.run, "run", 0, "With one NAME: the run of this number of that Work, not the newest")
	cmd.Flags().StringVarP((*string)(&o.output), "output", "o", "", "Form of the result: json, yaml, name, jsonpath=TEMPLATE or custom-columns=NAME:PATH,...")
	return cmd
}

func (o *waitOptions) validate() error {
	ways := 0
	for _, used := range []bool{len(o.names) > 0, o.selector != "", o.files.given(), o.all} {
		if used {
			ways++
		}
	}
	if ways != 1 {
		return refuse("say what to wait for in one way: NAME..., -l SELECTOR, -f FILE, -k DIR or --all")
	}
	if !slices.Contains([]string{"fail", "wait", "ok"}, o.absent) {
		return refuse("--absent=%s: give fail, wait or ok", o.absent)
	}
	var problems []error
	switch {
	case o.minGiven && o.selector == "" && !o.all:
		problems = append(problems, refuse("--min counts Jobs of -l or --all; names are waited for one by one"))
	case o.min < 1:
		problems = append(problems, refuse("--min %d: give 1 or more", o.min))
	case o.run < 0, o.run > 0 && len(o.names) != 1:
		problems = append(problems, refuse("--run %d: give a run number from 1 on, and one NAME", o.run))
	}
	_, err := jobNames(o.names)
	return errors.Join(append(problems, err, checkSelector(o.selector), o.wait.validate(),
		checkFormat(o.output, formatJSON, formatYAML, formatName, jsonPathPrefix, customColumnsPrefix))...)
}

func runWait(ctx context.Context, o *waitOptions) error {
	report := newWaitReport(o.app, "WaitResult", o.output)
	if err := o.validate(); err != nil {
		return report.refused(err)
	}
	ctx, cancel := o.wait.deadline(ctx)
	defer cancel()
	client, err := o.app.client()
	if err != nil {
		return report.refused(err)
	}
	report.namespace = client.Namespace
	scope, runs, err := o.targets(ctx, client)
	if err != nil {
		return report.refused(err)
	}
	report.namespace, report.documents = scope.Namespace, o.documents
	return o.app.await(ctx, client, scope, runs, o.wait, report, awaited{anyOne: o.anyOne, min: o.wanted()})
}

// wanted is how many runs are waited for to appear: only those of a selector are not known at the start.
func (o *waitOptions) wanted() int {
	if o.absent == "wait" && len(o.names) == 0 && !o.files.given() {
		return o.min
	}
	return 0
}

// targets resolves what was asked for to pinned runs, and to the narrowest scope that holds them.
func (o *waitOptions) targets(ctx context.Context, c *cluster.Client) (cluster.Scope, []*watch.Waited, error) {
	scope := cluster.Scope{Namespace: c.Namespace, Selector: o.selector}
	names, err := jobNames(o.names)
	if err != nil {
		return scope, nil, err
	}
	if o.files.given() {
		if o.documents, err = readDocuments(ctx, o.app, o.files, mapping.DecodeOptions{SkipOtherKinds: true}); err != nil {
			return scope, nil, err
		}
		if names, scope.Namespace, err = namesOf(o.documents, c, o.app.Getenv(submitIDEnv)); err != nil {
			return scope, nil, err
		}
	}
	if len(names) == 0 {
		runs, err := o.matching(ctx, c)
		return scope, runs, err
	}
	var runs []*watch.Waited
	for _, name := range names {
		run, err := o.pin(ctx, c, scope.Namespace, name)
		if err != nil {
			return scope, nil, err
		}
		runs = append(runs, run)
	}
	if len(runs) == 1 {
		scope.Name, scope.Seed = runs[0].Name, runs[0].Job
	}
	return scope, runs, nil
}

// pin finds the run of one name. One that is not there has its result, or is waited for.
func (o *waitOptions) pin(ctx context.Context, c *cluster.Client, namespace, name string) (*watch.Waited, error) {
	job, err := findRun(ctx, c, namespace, name, o.run)
	if err == nil {
		return &watch.Waited{Name: job.Name, Job: job, UID: job.UID}, nil
	}
	if exitCode(err) != CodeGone {
		return nil, err
	}
	run := &watch.Waited{Name: name}
	goal := watch.Goal(o.wait.goal)
	switch {
	case goal == watch.GoalDeleted, o.absent == "ok":
		run.Decision = watch.Decision{Result: watch.ResultReached, Reason: "NotFound", Remark: "it is not there"}
	case o.absent == "fail":
		run.Decision = watch.Decision{Result: watch.ResultGone, Reason: "NotFound", Remark: err.Error()}
	}
	if run.Open() {
		o.app.note("job/%s is not there yet; waiting for it", name)
	}
	return run, nil
}

// matching pins the Jobs that a selector, or --all, finds now.
func (o *waitOptions) matching(ctx context.Context, c *cluster.Client) ([]*watch.Waited, error) {
	jobs, err := c.Jobs(ctx, c.Namespace, o.selector)
	if err != nil {
		return nil, err
	}
	what := "Job"
	if o.selector != "" {
		what = fmt.Sprintf("Job with labels %q", o.selector)
	}
	switch deleted := watch.Goal(o.wait.goal) == watch.GoalDeleted; {
	case o.absent == "wait" && len(jobs) < o.min:
		o.app.note("%d of %d: waiting for a %s in namespace %s", len(jobs), o.min, what, c.Namespace)
	case o.absent == "ok" && len(jobs) == 0:
		o.app.note("no %s in namespace %s", what, c.Namespace)
	case deleted, o.absent == "ok":
	case len(jobs) == 0:
		return nil, &codeError{Code: CodeGone, Err: fmt.Errorf("no %s in namespace %s", what, c.Namespace)}
	case len(jobs) < o.min:
		return nil, &codeError{Code: CodeGone, Err: fmt.Errorf("%d of the %d that --min wants: %s in namespace %s", len(jobs), o.min, what, c.Namespace)}
	}
	var runs []*watch.Waited
	for i := range jobs {
		runs = append(runs, &watch.Waited{Name: jobs[i].Name, Job: &jobs[i], UID: jobs[i].UID})
	}
	return runs, nil
}
