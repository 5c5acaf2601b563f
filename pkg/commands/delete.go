package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/render"
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
}

func newDeleteCommand(a *app, run func(context.Context, *deleteOptions) error) *cobra.Command {
	o := &deleteOptions{app: a}
	cmd := &cobra.Command{
		Use:     "delete NAME... | -l SELECTOR | -f FILE | -k DIR | --all",
		Short:   "Delete runs with their Pods",
		GroupID: groupRun,
		Long: templates.LongDesc(`
			Delete Jobs and their Pods, and wait until both are gone.

			NAME is the Job of exactly that name, else the newest run of that Work. Exactly the Jobs found at the start are
			deleted, never others that take their names meanwhile. -l and --all show what would go and ask; where nobody can be
			asked they need --yes.

			The exit code is 3 when something is still there at the --timeout: what holds it is named.`),
		Example: templates.Examples(`
			# Delete a run, its Pods and their output
			kubectl work delete etl

			# Every run of a Work, without a question
			kubectl work delete -l kubectl-work.dev/work=etl --yes

			# What would go
			kubectl work delete --all --dry-run=client

			# Delete the Job and let its Pods run on
			kubectl work delete etl --cascade=orphan`),
		ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names, o.limited = args, cmd.Flags().Changed("timeout")
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runDelete(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "All Jobs with these labels")
	o.files.add(cmd.Flags(), "The Works and Jobs of these")
	cmd.Flags().BoolVar(&o.all, "all", false, "All Jobs of the namespace")
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
	if ways != 1 {
		problems = append(problems, refuse("say what to delete in one way: NAME..., -l SELECTOR, -f FILE, -k DIR or --all"))
	}
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
	return together(append(problems, missing...))
}

// targets resolves what was asked for. missing tells of names that are not there, beside the others.
func (o *deleteOptions) targets(ctx context.Context, c *cluster.Client) (jobs []*batchv1.Job, missing []error, err error) {
	if o.selector != "" || o.all {
		jobs, err = selectJobs(ctx, c, nil, o.selector)
		if o.all && exitCode(err) == CodeGone {
			return nil, nil, &codeError{Code: CodeGone, Err: fmt.Errorf("no Jobs in namespace %s", c.Namespace)}
		}
		return jobs, nil, err
	}
	names, err := jobNames(o.names)
	if err != nil {
		return nil, nil, err
	}
	if o.files.given() {
		documents, err := readDocuments(ctx, o.app, o.files, mapping.DecodeOptions{SkipOtherKinds: true})
		if err != nil {
			return nil, nil, err
		}
		var namespace string
		if names, namespace, err = namesOf(documents, c, o.app.Getenv(submitIDEnv)); err != nil {
			return nil, nil, err
		}
		c.Namespace = namespace
	}
	return findJobs(ctx, c, names)
}

// agreed shows what a selection would delete and asks, unless --yes or a dry run. Names were chosen one by one: nobody
// is asked about those.
func (o *deleteOptions) agreed(ctx context.Context, c *cluster.Client, jobs []*batchv1.Job) error {
	if o.selector == "" && !o.all || o.yes || o.dryRun != "none" {
		return nil
	}
	if !isTerminal(o.app.In) {
		return refuse("this would delete %s in namespace %s, and there is no terminal to ask at; --yes does it, --dry-run=client lists them",
			count(len(jobs), "Job"), c.Namespace)
	}
	fmt.Fprint(o.app.Err, deletionText(jobs, c.Namespace, o.cascade))
	yes, err := o.app.confirm(ctx, "Delete?")
	switch {
	case err != nil:
		return err
	case !yes:
		return refuse("nothing was deleted")
	}
	return nil
}

// maxShown bounds the names in a question.
const maxShown = 20

// deletionText says what goes: names, and which of them still have Pods.
func deletionText(jobs []*batchv1.Job, namespace, cascade string) string {
	var b strings.Builder
	pods := "with their Pods"
	if cascade == cascadeOrphan {
		pods = "but not their Pods"
	}
	fmt.Fprintf(&b, "This deletes %s in namespace %s, %s:\n", count(len(jobs), "Job"), render.Line(namespace), pods)
	for i, job := range jobs {
		if i == maxShown {
			fmt.Fprintf(&b, "  and %d more\n", len(jobs)-maxShown)
			break
		}
		text := "  " + render.Line(job.Name)
		if n := job.Status.Active; n > 0 {
			text += fmt.Sprintf(" (%s active)", count(int(n), "Pod"))
		}
		fmt.Fprintln(&b, text)
	}
	return b.String()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// tellOrphans names the Pods that stay: nothing will ever clean them up.
func (o *deleteOptions) tellOrphans(ctx context.Context, c *cluster.Client, jobs []*batchv1.Job) {
	for _, job := range jobs {
		pods, err := c.PodsOf(ctx, job)
		if err != nil {
			o.app.note("the Pods of job/%s that stay cannot be listed: %v", job.Name, err)
			continue
		}
		for _, pod := range pods {
			o.app.note("pod/%s of job/%s stays (%s)", pod.Name, job.Name, pod.Status.Phase)
		}
	}
}

// delete sends the requests. One that is refused does not stop the others; a server that is out of reach, missing rights
// and an interrupt do.
func (o *deleteOptions) delete(ctx context.Context, c *cluster.Client, jobs []*batchv1.Job) (deleted []*batchv1.Job, problems []error) {
	for _, job := range jobs {
		var err error
		if o.dryRun != "client" {
			err = c.DeleteJob(ctx, job, propagations()[o.cascade], o.dryRun == "server")
		}
		switch code := exitCode(err); {
		case err == nil:
			deleted = append(deleted, job)
			fmt.Fprintln(o.app.Out, o.line(job))
			continue
		case ctx.Err() != nil, code == CodeUnreachable, code == CodeAccess:
			return deleted, append(problems, err)
		}
		problems = append(problems, fmt.Errorf("job/%s: %w", job.Name, err))
	}
	return deleted, problems
}

// line is the answer about one Job, in kubectl's words.
func (o *deleteOptions) line(job *batchv1.Job) string {
	if o.output == formatName {
		return render.NameLine(job.Name)
	}
	text := fmt.Sprintf("job.batch %q deleted from %s namespace", job.Name, job.Namespace)
	switch o.dryRun {
	case "client":
		text += " (dry run)"
	case "server":
		text += " (server dry run)"
	}
	return text
}
