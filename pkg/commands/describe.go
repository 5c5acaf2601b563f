package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

type describeOptions struct {
	app      *app
	names    []string
	selector string
	files    inputs
	usage    bool
	debug    bool
	explain  string
	record   string
	replay   string
	at       string
	output   format
}

func newDescribeCommand(a *app, run func(context.Context, *describeOptions) error) *cobra.Command {
	o := &describeOptions{app: a}
	cmd := &cobra.Command{
		Use:     "describe NAME... | -l SELECTOR | -f FILE | -k DIR | --replay FILE",
		Short:   "Say what state a run is in, and why",
		GroupID: groupSee,
		Long: templates.LongDesc(`
			Say what state a run is in and why: the verdict first, then progress, conditions, findings with what to do, the life
			of the run, the Pods of all tries, the events of the Job and of what it owns, and the last output of the container
			that failed.

			Each finding names its rule; --explain tells what a rule means. What would explain more and may not be read is named
			too. With --record everything that was read is kept in a file, without credentials and without the values of
			environment variables; --replay shows it again, without a cluster.

			The exit code is 0 whatever the state; use wait for a code.`),
		Example: templates.Examples(`
			# Why did it fail, why does it not start?
			kubectl work describe etl

			# Only the reason, for a script
			kubectl work describe etl -o jsonpath='{.items[0].verdict.reason}'

			# Of all Jobs of a team, in columns
			kubectl work describe -l team=data -o custom-columns=JOB:.name,PHASE:.verdict.phase,WHY:.verdict.message

			# What a finding means
			kubectl work describe --explain unschedulable

			# What a wait saw, two minutes into it
			kubectl work describe --replay etl.record --at 2m`),
		ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runDescribe(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.selector, "selector", "l", "", "All Jobs with these labels")
	o.files.add(flags, "The Works of these")
	flags.BoolVar(&o.usage, "usage", false, "Add what the containers use now, beside what they ask for")
	flags.BoolVar(&o.debug, "debug", false, "Add what the tasks serve about themselves, where their Pods carry the annotation kubectl-work.dev/debug: PORT/PATH")
	flags.StringVar(&o.explain, "explain", "", "Say what a rule, or a reason, means, and nothing else")
	flags.StringVar(&o.record, "record", "", "Keep what was read in this file, without credentials")
	flags.StringVar(&o.replay, "replay", "", "Describe what such a file holds; no cluster is asked")
	flags.StringVar(&o.at, "at", "", "With --replay: the moment, as a duration from its start or a time (default: its end)")
	flags.StringVarP((*string)(&o.output), "output", "o", "", "Form of the answer: json, yaml, name, jsonpath=TEMPLATE or custom-columns=NAME:PATH,...")
	_ = cmd.RegisterFlagCompletionFunc("explain", completeRules) // fails for a flag that is not there
	return cmd
}

func (o *describeOptions) validate() error {
	if err := checkFormat(o.output, formatJSON, formatYAML, formatName, jsonPathPrefix, customColumnsPrefix); err != nil {
		return err
	}
	ways := 0
	for _, used := range []bool{len(o.names) > 0, o.selector != "", o.files.given()} {
		if used {
			ways++
		}
	}
	switch {
	case o.explain != "":
		return nil
	case o.at != "" && o.replay == "":
		return refuse("--at is about a recording: give --replay FILE too")
	case o.replay != "" && (o.selector != "" || o.files.given() || o.record != "" || o.usage || o.debug):
		return refuse("--replay asks no cluster; besides it only NAME..., --at and -o make sense")
	case o.replay == "" && ways != 1:
		return refuse("say which in one way: NAME..., -l SELECTOR, -f FILE or -k DIR")
	}
	return nil
}

func runDescribe(ctx context.Context, o *describeOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	switch {
	case o.explain != "":
		return o.app.explainRule(o.explain)
	case o.replay != "":
		snapshots, err := replayed(o.replay, o.at, o.names)
		if err != nil {
			return err
		}
		return o.print(snapshots)
	}
	recorder, err := openRecorder(o.record)
	if err != nil {
		return err
	}
	client, jobs, missing, err := o.selected(ctx)
	if err != nil {
		return errors.Join(err, recorder.close())
	}
	snapshots, err := o.look(ctx, client, jobs)
	for _, s := range snapshots {
		recorder.add(s)
	}
	if err != nil {
		return errors.Join(err, recorder.close())
	}
	if len(snapshots) == 0 && missing != nil {
		return errors.Join(missing, recorder.close())
	}
	if err := errors.Join(o.print(snapshots), recorder.close()); err != nil {
		return err
	}
	return missing
}

// selected connects and resolves names, a selector or files to Jobs. missing tells of names that are not there, beside the
// others.
func (o *describeOptions) selected(ctx context.Context) (client *cluster.Client, jobs []*batchv1.Job, missing, err error) {
	if o.selector != "" {
		client, jobs, err = o.app.selected(ctx, nil, o.selector)
		return client, jobs, nil, err
	}
	names, err := jobNames(o.names)
	if err != nil {
		return nil, nil, nil, err
	}
	if client, err = o.app.client(); err != nil {
		return nil, nil, nil, err
	}
	if !o.files.given() {
		jobs, gone, err := findJobs(ctx, client, names)
		return client, jobs, together(gone), err
	}
	documents, err := readDocuments(ctx, o.app, o.files, mapping.DecodeOptions{SkipOtherKinds: true})
	if err != nil {
		return nil, nil, nil, err
	}
	names, namespace, err := namesOf(documents, client, o.app.Getenv(submitIDEnv))
	if err != nil {
		return nil, nil, nil, err
	}
	client.Namespace = namespace
	jobs, gone, err := findJobs(ctx, client, names)
	return client, jobs, together(gone), err
}

// look reads each Job's surroundings, and what explains it.
func (o *describeOptions) look(ctx context.Context, c *cluster.Client, jobs []*batchv1.Job) ([]status.Snapshot, error) {
	var snapshots []status.Snapshot
	for _, job := range jobs {
		s, err := watch.Look(ctx, c, job)
		if err != nil {
			return nil, fmt.Errorf("job/%s: %w", job.Name, err)
		}
		watch.Explain(ctx, c, &s)
		if o.usage {
			watch.Usage(ctx, c, &s)
		}
		if o.debug {
			watch.Tasks(ctx, c, &s)
		}
		snapshots = append(snapshots, s)
	}
	return snapshots, nil
}

func (o *describeOptions) print(snapshots []status.Snapshot) error {
	switch o.output {
	case formatName:
		for _, s := range snapshots {
			fmt.Fprintln(o.app.Out, render.NameLine(s.Job.Name))
		}
		return nil
	case formatText, formatWide:
		for i, s := range snapshots {
			if i > 0 {
				fmt.Fprintln(o.app.Out)
			}
			if err := render.Describe(o.app.Out, s, status.Of(s)); err != nil {
				return err
			}
		}
		return nil
	case formatJSON, formatYAML:
	}
	out := render.Output{APIVersion: render.OutputVersion, Kind: "Description", Items: []render.Item{}}
	for _, s := range snapshots {
		out.Items = append(out.Items, render.DescriptionItem(s, status.Of(s)))
	}
	return printObject(o.app.Out, o.output, out)
}

// named keeps the Snapshots of the Jobs that were asked for; no names asks for all.
func named(snapshots []status.Snapshot, names []string) ([]status.Snapshot, error) {
	if len(names) == 0 {
		return snapshots, nil
	}
	kept := slices.DeleteFunc(snapshots, func(s status.Snapshot) bool { return !slices.Contains(names, s.Job.Name) })
	if len(kept) == 0 {
		return nil, &codeError{Code: CodeGone, Err: errors.New("the recording holds no Job of that name at that time")}
	}
	return kept, nil
}
