package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

type submitOptions struct {
	app       *app
	files     inputs
	from      string // a CronJob
	name      string // of the Work made from it
	dryRun    string
	submitID  string
	skipKinds bool
	waiting   bool
	dropped   bool // is allowed
	choices   watch.SubmitChoices
	again     bool // the document has run before
	profiles  map[string]string
	output    format
	wait      waitFlags
}

// submitIDEnv gives --submit-id in CI: the id of the pipeline.
const submitIDEnv = "KUBECTL_WORK_SUBMIT_ID"

func newSubmitCommand(a *app, run func(context.Context, *submitOptions) error) *cobra.Command {
	o := &submitOptions{app: a}
	cmd := &cobra.Command{
		Use:     "submit -f FILE | -k DIR | --from cronjob/NAME",
		Short:   "Start Works, or plain Jobs, from files",
		GroupID: groupRun,
		Long: templates.LongDesc(`
			Read Works (and plain batch/v1 Jobs) from files, check everything, and create their Jobs.

			Nothing is created unless every document is right. Submitting the same Work again while its run goes on changes
			nothing and, with --wait, waits for that run; what may be changed of it (parallelism, labels, limits) is changed. A
			run that has ended is not started again unless --if-finished, --new-run or --replace says so: later runs of a Work
			etl are the Jobs etl-r2, etl-r3. A lost answer never makes two Jobs: each document has a submit id, and the same id
			(--submit-id, or KUBECTL_WORK_SUBMIT_ID) finds the Job it made before.

			--from starts one more Job of a CronJob now, with its template and the annotation
			cronjob.kubernetes.io/instantiate: manual, like kubectl create job --from. The Job gets no owner: the CronJob does
			not count it, and neither its history limits nor its deletion take it away. It is named after the CronJob, or
			--name.`),
		Example: templates.Examples(`
			# Start a Work and wait for its result
			kubectl work submit -f work.yaml --wait

			# From stdin, printing nothing but the name of the Job
			cat work.yaml | kubectl work submit -f - -o name

			# What an overlay of kustomize makes of them
			kubectl work submit -k overlays/prod --wait

			# See the Job that it becomes
			kubectl work submit -f work.yaml --dry-run=client -o yaml

			# In CI: a run a pipeline; killed and run again, it still starts one
			kubectl work submit -f work.yaml --if-finished=new-run --submit-id "$CI_PIPELINE_ID" --wait --logs

			# One more Job of a CronJob, now
			kubectl work submit --from cronjob/nightly --wait

			# Put a changed Work in the place of its last run
			kubectl work submit -f work.yaml --replace --wait`),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return refuse("%q: files are given with -f: kubectl work submit -f %s", args[0], args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.wait.limited = cmd.Flags().Changed("timeout")
			if o.submitID == "" {
				o.submitID = a.Getenv(submitIDEnv)
			}
			if o.waiting && !cmd.Flags().Changed("retry-for") {
				a.retryFor = retryForWait
			}
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runSubmit(cmd.Context(), o)
		},
	}
	o.files.add(cmd.Flags(), "Works or Jobs")
	cmd.Flags().StringVar(&o.from, "from", "", "Start one more Job of this CronJob: cronjob/NAME")
	cmd.Flags().StringVar(&o.name, "name", "", "With --from: the name of the Work (default: a new one each time, after the CronJob)")
	addChoices(cmd.Flags(), &o.choices)
	cmd.Flags().BoolVar(&o.skipKinds, "skip-other-kinds", false, "Pass over documents of other kinds instead of refusing them")
	o.addShared(cmd)
	return cmd
}

// addShared adds the flags that submit and retry have in common.
func (o *submitOptions) addShared(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.dryRun, "dry-run", "none", "none, client (print what would be sent), or server (let the server check it without keeping it)")
	cmd.Flags().Lookup("dry-run").NoOptDefVal = "client"
	cmd.Flags().StringVar(&o.submitID, "submit-id", "", "An id that makes this call safe to repeat (default: "+submitIDEnv+", else random)")
	cmd.Flags().BoolVar(&o.dropped, "allow-dropped", false, "Keep a Job of which the server dropped fields that it does not know; without it such a Job is taken back")
	cmd.Flags().BoolVar(&o.waiting, "wait", false, "Wait for the end and exit with the result, like kubectl work wait")
	cmd.Flags().StringVarP((*string)(&o.output), "output", "o", "", "Form of the answer: json, yaml, name or jsonpath=TEMPLATE")
	addProfiles(cmd.Flags(), &o.profiles)
	o.wait.add(cmd.Flags())
}

func (o *submitOptions) validate() error {
	return errors.Join(o.checkFrom(), checkChoices(o.choices), o.validateShared())
}

// validateShared checks the flags that submit and retry have in common.
func (o *submitOptions) validateShared() error {
	problems := []error{checkDryRun(o.dryRun)}
	if o.waiting && o.dryRun != "none" {
		problems = append(problems, refuse("--wait and --dry-run=%s exclude each other: a dry run starts nothing to wait for", o.dryRun))
	}
	if !o.waiting && o.wait.logs {
		problems = append(problems, refuse("--logs needs --wait"))
	}
	if !o.waiting && o.wait.limited {
		problems = append(problems, refuse("--timeout needs --wait"))
	}
	return errors.Join(append(problems, o.wait.validate(), checkFormat(o.output, formatJSON, formatYAML, formatName, jsonPathPrefix))...)
}

func runSubmit(ctx context.Context, o *submitOptions) error {
	report := newWaitReport(o.app, "SubmitResult", o.output)
	if err := o.validate(); err != nil {
		return o.refused(report, err)
	}
	ctx, cancel := o.wait.deadline(ctx)
	defer cancel()
	documents, client, err := o.read(ctx)
	if err != nil {
		return o.refused(report, err)
	}
	return o.submit(ctx, client, documents, report)
}

// submit starts what checked documents say, tells it, and waits when that is asked for. client is nil in a dry run of the
// client's own.
func (o *submitOptions) submit(ctx context.Context, client *cluster.Client, documents []*mapping.Document, report *waitReport) error {
	here := o.place(client)
	report.namespace = here.namespace
	if err := checkPlaces(documents, here, o.waiting); err != nil {
		return o.refused(report, err)
	}
	s := &submission{
		app: o.app, client: client, place: here, dryRun: o.dryRun, givenID: o.submitID, several: len(documents) > 1,
		choices: o.choices, again: o.again, allowDropped: o.dropped, profiles: profiles{app: o.app, client: client, files: o.profiles},
	}
	if o.dryRun != "client" {
		s.user = client.User(ctx)
	}
	results := s.all(ctx, documents)
	if o.dryRun == "none" {
		s.advance(ctx, results, o.waiting)
	}
	code, err := summarize(results)
	if printErr := o.tell(results, code, err != nil); printErr != nil {
		return o.refused(report, printErr)
	}
	switch {
	case err != nil:
		return o.refused(report, &codeError{Code: code, Err: err})
	case !o.waiting && code != CodeOK:
		return &codeError{Code: code, Err: failedBefore(results)}
	case !o.waiting:
		return nil
	}
	o.app.warnOfTTL(results)
	report.namespace = results[0].job.Namespace
	report.documents = documents
	scope, runs := pinned(results)
	return o.app.await(ctx, client, scope, runs, o.wait, report, awaited{})
}

// refused ends the command with an error; with --wait in the form that wait has.
func (o *submitOptions) refused(report *waitReport, err error) error {
	if o.waiting || o.output == formatJSON {
		return report.refused(err)
	}
	return err
}

// tell prints what became of each document. With --wait stdout belongs to the result, so it is told on stderr.
func (o *submitOptions) tell(results []submitted, code Code, failed bool) error {
	var items []render.Item
	var jobs []*batchv1.Job
	for _, r := range results {
		if r.err != nil {
			continue
		}
		if o.waiting {
			o.app.note("job.batch/%s %s", r.job.Name, r.what)
		} else if o.output == formatText {
			fmt.Fprintf(o.app.Out, "job.batch/%s %s\n", r.job.Name, r.what)
		}
		items = append(items, render.ItemOf(r.job))
		jobs = append(jobs, r.job)
	}
	switch {
	case o.waiting, o.output == formatText:
		return nil
	case o.output == formatName:
		for _, job := range jobs {
			fmt.Fprintln(o.app.Out, render.NameLine(job.Name))
		}
		return nil
	case o.dryRun != "none":
		return printJobs(o.app.Out, o.output, jobs)
	}
	if failed { // the report of the error has the object
		return nil
	}
	return printObject(o.app.Out, o.output, render.Output{APIVersion: render.OutputVersion, Kind: "SubmitResult", Code: int(code), Items: items})
}

// summarize joins the errors of all documents and gives their code: partly applied when some were created.
func summarize(results []submitted) (Code, error) {
	var errs []error
	var codes []Code
	made := false
	for _, r := range results {
		if r.err == nil {
			made = true
			codes = append(codes, r.code)
			continue
		}
		errs = append(errs, r.err)
		codes = append(codes, exitCode(r.err))
	}
	switch {
	case len(errs) == 0:
		return worst(codes), nil
	case made:
		codes = append(codes, CodePartial)
	}
	return worst(codes), errors.Join(errs...)
}

// failedBefore names the runs that were there before and have failed.
func failedBefore(results []submitted) error {
	var errs []error
	for _, r := range results {
		if r.code == CodeFailed {
			errs = append(errs, fmt.Errorf("job/%s is there already, and has failed: kubectl work describe %s", r.job.Name, r.job.Name))
		}
	}
	return errors.Join(errs...)
}

// shortTTL is a time to live that a waiter may miss: when its watch breaks just then, only events tell the result.
const shortTTL = 10

func (a *app) warnOfTTL(results []submitted) {
	for _, r := range results {
		if ttl := r.job.Spec.TTLSecondsAfterFinished; ttl != nil && *ttl < shortTTL {
			a.note("Warning: job/%s is deleted %d s after it ends (ttlSecondsAfterFinished): if the connection breaks just then, its result and its output are lost", r.job.Name, *ttl)
		}
	}
}

// place is where documents without a namespace go.
func (o *submitOptions) place(c *cluster.Client) place {
	switch {
	case c != nil:
		return place{namespace: c.Namespace, explicit: c.Explicit}
	case *o.app.config.Namespace != "":
		return place{namespace: *o.app.config.Namespace, explicit: true}
	}
	return place{namespace: "default"}
}

// pinned is what to wait for after a submit: the Jobs themselves, from the very state that create answered.
func pinned(results []submitted) (cluster.Scope, []*watch.Waited) {
	var runs []*watch.Waited
	for _, r := range results {
		runs = append(runs, &watch.Waited{Name: r.job.Name, Job: r.job, UID: r.job.UID})
	}
	scope := cluster.Scope{Namespace: runs[0].Job.Namespace}
	if len(runs) == 1 {
		scope.Name, scope.Seed = runs[0].Name, runs[0].Job
	}
	return scope, runs
}
