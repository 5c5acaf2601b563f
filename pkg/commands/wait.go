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
}

func (f *waitFlags) add(flags *pflag.FlagSet) {
	flags.DurationVar(&f.timeout, "timeout", 0, "Give up after this long, counted from the start of the command, queue time included; 0 looks once (default: no limit)")
	flags.BoolVar(&f.early, "early", false, "Take success as soon as it is decided, before its last Pods have ended")
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
	files     []string
	documents []*mapping.Document // of files
	all       bool
	anyOne    bool
	absent    string
	output    format
	wait      waitFlags
}

func newWaitCommand(a *app, run func(context.Context, *waitOptions) error) *cobra.Command {
	o := &waitOptions{app: a}
	cmd := &cobra.Command{
		Use:     "wait NAME... | -l SELECTOR | -f FILE | --all",
		Short:   "Wait until runs end, and exit with their result",
		GroupID: groupRun,
		Long: templates.LongDesc(`
			Wait until Jobs end either way, and exit with what happened.

			NAME is the Job of exactly that name, else the newest run of that Work; it is pinned when the command starts. The
			command ends with 0 when all succeeded, with 2 as soon as the cluster has decided a failure, with 3 at the timeout,
			with 4 when a Job is not there or was deleted without a known result, with 5 when a Job cannot start without someone
			acting (after a grace time), with 6 for a held one under --on-hold=fail, with 7 and 8 for missing rights and a server
			out of reach.`),
		Example: templates.Examples(`
			# Gate a pipeline on a Job
			kubectl work wait etl --timeout 30m

			# Several at once, one deadline for all
			kubectl work wait -l team=data --timeout 1h

			# Wait for a Job that a controller is about to create
			kubectl work wait etl --absent=wait --timeout 10m

			# Show its output meanwhile, and the result as JSON at the end
			kubectl work wait etl --logs -o json`),
		ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			o.wait.limited = cmd.Flags().Changed("timeout")
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
	cmd.Flags().StringVar(&o.wait.goal, "for", string(watch.GoalFinished), "What to wait for: "+goalNames())
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "Wait for all Jobs with these labels")
	cmd.Flags().StringSliceVarP(&o.files, "filename", "f", nil, "Wait for the Works of these files, - for stdin")
	cmd.Flags().BoolVar(&o.all, "all", false, "Wait for all Jobs of the namespace")
	cmd.Flags().BoolVar(&o.anyOne, "any", false, "End with 0 as soon as one of them got there")
	cmd.Flags().StringVar(&o.absent, "absent", "fail", "What to do for a name that is not there: fail with code 4, wait for it, or ok")
	cmd.Flags().StringVarP((*string)(&o.output), "output", "o", "", "Form of the result: json, yaml, name or jsonpath=TEMPLATE")
	return cmd
}

func (o *waitOptions) validate() error {
	ways := 0
	for _, used := range []bool{len(o.names) > 0, o.selector != "", len(o.files) > 0, o.all} {
		if used {
			ways++
		}
	}
	if ways != 1 {
		return refuse("say what to wait for in one way: NAME..., -l SELECTOR, -f FILE or --all")
	}
	if !slices.Contains([]string{"fail", "wait", "ok"}, o.absent) {
		return refuse("--absent=%s: give fail, wait or ok", o.absent)
	}
	if o.absent != "fail" && len(o.names) == 0 && len(o.files) == 0 {
		return refuse("--absent=%s needs names", o.absent)
	}
	_, err := jobNames(o.names)
	return errors.Join(err, checkSelector(o.selector), o.wait.validate(), checkFormat(o.output, formatJSON, formatYAML, formatName, jsonPathPrefix))
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
	return o.app.await(ctx, client, scope, runs, o.wait, report, o.anyOne)
}

// targets resolves what was asked for to pinned runs, and to the narrowest scope that holds them.
func (o *waitOptions) targets(ctx context.Context, c *cluster.Client) (cluster.Scope, []*watch.Waited, error) {
	scope := cluster.Scope{Namespace: c.Namespace, Selector: o.selector}
	names, err := jobNames(o.names)
	if err != nil {
		return scope, nil, err
	}
	if len(o.files) > 0 {
		if o.documents, err = readDocuments(ctx, o.app, o.files, mapping.DecodeOptions{SkipOtherKinds: true}); err != nil {
			return scope, nil, err
		}
		if names, scope.Namespace, err = namesOf(o.documents, c); err != nil {
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
	job, err := findJob(ctx, c, namespace, name)
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
	if len(jobs) == 0 && watch.Goal(o.wait.goal) != watch.GoalDeleted {
		what := "Job"
		if o.selector != "" {
			what = fmt.Sprintf("Job with labels %q", o.selector)
		}
		return nil, &codeError{Code: CodeGone, Err: fmt.Errorf("no %s in namespace %s", what, c.Namespace)}
	}
	var runs []*watch.Waited
	for i := range jobs {
		runs = append(runs, &watch.Waited{Name: jobs[i].Name, Job: &jobs[i], UID: jobs[i].UID})
	}
	return runs, nil
}
