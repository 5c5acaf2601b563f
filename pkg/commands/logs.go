package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

type logsOptions struct {
	app        *app
	name       string
	follow     bool
	exitStatus bool
	tail       int64
	since      time.Duration
	container  string
	pod        string
	index      string
	previous   bool
	timestamps bool
	prefix     string
	maxStreams int
}

func newLogsCommand(a *app, run func(context.Context, *logsOptions) error) *cobra.Command {
	o := &logsOptions{app: a}
	cmd := &cobra.Command{
		Use:     "logs NAME",
		Short:   "Print the output of a run, of all its Pods",
		GroupID: groupSee,
		Long: templates.LongDesc(`
			Print the output of all containers of all Pods of a Job, those of earlier tries included. Lines carry the Pod and
			container they came from when there is more than one.

			Following goes on until the Job ends: a connection that breaks is opened again where it broke, and Pods that start
			later are included. On a terminal everything but colours is stripped from the lines; elsewhere they are printed as
			the program wrote them.`),
		Example: templates.Examples(`
			# Everything it printed so far
			kubectl work logs etl

			# Follow it to its end, and end with its result
			kubectl work logs etl -f --exit-status

			# One index of an Indexed Job, the last 20 lines
			kubectl work logs etl --index 3 --tail 20`),
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			if o.follow && !cmd.Flags().Changed("retry-for") {
				a.retryFor = retryForWait
			}
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runLogs(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVarP(&o.follow, "follow", "f", false, "Go on until the Job ends")
	flags.BoolVar(&o.exitStatus, "exit-status", false, "With -f: exit with the Job's result, like kubectl work wait")
	flags.Int64Var(&o.tail, "tail", -1, "Only so many lines from the end of each container's output; -1 for all")
	flags.DurationVar(&o.since, "since", 0, "Only lines that are not older than this")
	flags.StringVarP(&o.container, "container", "c", "", "Only this container")
	flags.StringVar(&o.pod, "pod", "", "Only this Pod")
	flags.StringVar(&o.index, "index", "", "Only this completion index")
	flags.BoolVarP(&o.previous, "previous", "p", false, "The output of each container's run before the current one")
	flags.BoolVar(&o.timestamps, "timestamps", false, "Print the time of each line")
	flags.StringVar(&o.prefix, "prefix", "auto", "Print where each line came from: auto (when there is more than one place), true or false")
	flags.IntVar(&o.maxStreams, "max-streams", 20, "Connections open at the same time when following")
	return cmd
}

func (o *logsOptions) validate() error {
	var problems []error
	if !slices.Contains([]string{"auto", "true", "false"}, o.prefix) {
		problems = append(problems, refuse("--prefix=%s: give auto, true or false", o.prefix))
	}
	if o.exitStatus && !o.follow {
		problems = append(problems, refuse("--exit-status needs -f: the result is known at the end only"))
	}
	if o.previous && o.follow {
		problems = append(problems, refuse("--previous and -f exclude each other: an earlier run prints nothing any more"))
	}
	if o.tail < -1 {
		problems = append(problems, refuse("--tail=%d: give a number of lines, or -1 for all", o.tail))
	}
	if o.since < 0 {
		problems = append(problems, refuse("--since=%s: give how far back, like 10m", o.since))
	}
	if o.maxStreams < 1 {
		problems = append(problems, refuse("--max-streams=%d: at least one connection is needed", o.maxStreams))
	}
	return errors.Join(problems...)
}

func (o *logsOptions) printer(out io.Writer, terminal bool) *render.LogPrinter {
	return &render.LogPrinter{
		Out: out, Always: o.prefix == "true", Never: o.prefix == "false", Timestamps: o.timestamps, Terminal: terminal,
	}
}

func (o *logsOptions) options(now time.Time) cluster.LogOptions {
	options := cluster.LogOptions{Previous: o.previous}
	if o.tail >= 0 {
		options.Tail = &o.tail
	}
	if o.since > 0 {
		options.Since = now.Add(-o.since)
	}
	return options
}

// wants tells whether a container was asked for.
func (o *logsOptions) wants(pod *corev1.Pod, container string) bool {
	return (o.pod == "" || pod.Name == o.pod) && (o.container == "" || container == o.container) &&
		(o.index == "" || pod.Annotations[batchv1.JobCompletionIndexAnnotation] == o.index)
}

func runLogs(ctx context.Context, o *logsOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	name, err := jobName(o.name)
	if err != nil {
		return err
	}
	client, err := o.app.client()
	if err != nil {
		return err
	}
	job, err := findJob(ctx, client, client.Namespace, name)
	if err != nil {
		return err
	}
	if o.follow {
		return o.followJob(ctx, client, job)
	}
	pods, err := client.PodsOf(ctx, job)
	if err != nil {
		return err
	}
	return o.printAll(ctx, client, status.Snapshot{Job: job, Pods: pods, EventsHidden: true, At: client.Now()})
}

// logSource is one container whose output is to be printed.
type logSource struct {
	pod      *corev1.Pod
	name     string
	previous bool // its current run has printed nothing yet: the one before is what a person wants to see
}

// sources lists the containers that were asked for and have run, in the order in which they did.
func (o *logsOptions) sources(s status.Snapshot) []logSource {
	var all []logSource
	for _, pod := range status.Owned(s) {
		for _, st := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			started := st.State.Running != nil || st.State.Terminated != nil || st.LastTerminationState.Terminated != nil
			if started && o.wants(pod, st.Name) {
				waiting := st.State.Waiting != nil && st.LastTerminationState.Terminated != nil
				all = append(all, logSource{pod: pod, name: st.Name, previous: o.previous || waiting})
			}
		}
	}
	return all
}

func (o *logsOptions) printAll(ctx context.Context, c *cluster.Client, s status.Snapshot) error {
	sources := o.sources(s)
	printer := o.printer(o.app.Out, isTerminal(o.app.Out))
	for _, source := range sources {
		printer.Expect(source.pod, source.name)
	}
	var errs []error
	var lines int
	for _, source := range sources {
		options := o.options(s.At)
		options.Previous = source.previous
		var first time.Time
		err := c.ReadLog(ctx, s.Job.Namespace, source.pod.Name, source.name, options, func(l cluster.LogLine) {
			if first.IsZero() {
				first = l.Time
			}
			lines++
			printer.Print(source.pod, source.name, l.Time.UTC().Format(time.RFC3339Nano), l.Text)
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("pod %s, container %s: %w", source.pod.Name, source.name, err))
		}
	}
	if lines > 0 {
		for _, err := range errs {
			o.app.note("%s", err)
		}
		o.app.noteRemoved(s)
		return nil
	}
	if err := errors.Join(errs...); err != nil {
		return &codeError{Code: worst(codesOf(errs)), Err: err}
	}
	return o.nothing(s, len(sources))
}

// codesOf are the codes of errors about output; one that is gone from the node is gone.
func codesOf(errs []error) []Code {
	var codes []Code
	for _, err := range errs {
		if _, ok := errors.AsType[*cluster.LogsGoneError](err); ok {
			codes = append(codes, CodeGone)
			continue
		}
		codes = append(codes, exitCode(err))
	}
	return codes
}

// removed counts Pods that the Job counted and that are gone.
func removed(s status.Snapshot) int {
	counted := int(s.Job.Status.Succeeded + s.Job.Status.Failed)
	ended := 0
	for _, pod := range status.Owned(s) {
		if status.Terminal(pod) {
			ended++
		}
	}
	return max(counted-ended, 0)
}

func (a *app) noteRemoved(s status.Snapshot) {
	if n := removed(s); n > 0 {
		a.note("%s finished and removed; the logs are not available", podsWere(n))
	}
}

// nothing says why there is no output; an empty answer would pass for a program that prints nothing.
func (o *logsOptions) nothing(s status.Snapshot, sources int) error {
	verdict := status.Of(s)
	pods := status.Owned(s)
	switch {
	case sources > 0:
		o.app.note("no output%s", notStarted(pods))
	case removed(s) > 0 && len(pods) == 0:
		return &codeError{Code: CodeGone, Err: fmt.Errorf("%s finished and removed; logs are not available", podsWere(removed(s)))}
	case len(pods) == 0 && verdict.Phase.Finished():
		o.app.note("this job had no pods")
	case o.narrowed() && len(pods) > 0:
		return &codeError{Code: CodeGone, Err: fmt.Errorf("job/%s: %s has not run; its containers: %s", s.Job.Name, o.asked(), containerNames(pods))}
	default:
		o.app.note("no output yet: %s", render.State(s.Job.Name, verdict))
	}
	return nil
}

func (o *logsOptions) narrowed() bool {
	return cmp.Or(o.container, o.pod, o.index) != ""
}

// asked is what was asked for in particular: pod x, container main.
func (o *logsOptions) asked() string {
	var parts []string
	for _, p := range []struct{ kind, name string }{{"pod", o.pod}, {"index", o.index}, {"container", o.container}} {
		if p.name != "" {
			parts = append(parts, p.kind+" "+p.name)
		}
	}
	return strings.Join(parts, ", ")
}

// notStarted explains silence: the container never ran.
func notStarted(pods []*corev1.Pod) string {
	for _, pod := range pods {
		for _, st := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
			if t := st.State.Terminated; t != nil && (t.Reason == "StartError" || t.Reason == "ContainerCannotRun") {
				return fmt.Sprintf(": container %s never started (%s)", st.Name, t.Message)
			}
		}
	}
	return ""
}

func containerNames(pods []*corev1.Pod) string {
	var names []string
	for _, pod := range pods {
		for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
			if name := pod.Name + "/" + c.Name; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return strings.Join(names, ", ")
}

func podsWere(n int) string {
	if n == 1 {
		return "1 pod has"
	}
	return fmt.Sprintf("%d pods have", n)
}
