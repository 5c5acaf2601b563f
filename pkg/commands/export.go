package commands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/kubectl/pkg/util/templates"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1alpha1"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

type exportOptions struct {
	app      *app
	names    []string
	selector string
	files    inputs
	kind     string
	schedule string // of a CronJob
	version  string
	output   format
}

// The values of --kind.
const (
	kindWork    = "work"
	kindJob     = "job"
	kindCronJob = "cronjob"
)

func newExportCommand(a *app, run func(context.Context, *exportOptions) error) *cobra.Command {
	o := &exportOptions{app: a}
	cmd := &cobra.Command{
		Use:     "export NAME... | -l SELECTOR | -f FILE | -k DIR",
		Short:   "Print a run, or a file, as a Work, a Job or a CronJob",
		GroupID: groupSee,
		Long: templates.LongDesc(`
			Print the Work that a run was submitted from, or a Work for a Job that somebody else made. What a server or a
			controller added (uid, status, generated selector and labels, owners) is left out, so that the file can be submitted
			as it is, here or elsewhere.

			NAME is the Job of exactly that name, else the newest run of that Work. Several give a file of several documents.

			With -f nothing is asked of a cluster: it prints what the Works and Jobs of files are as another kind, or in another
			version of the API. Documents of other kinds are passed over. A Job or CronJob is as it would be without us: kubectl
			create makes it, and describe, wait and logs take it like any other.`),
		Example: templates.Examples(`
			# Keep what ran
			kubectl work export etl > etl.yaml

			# Run it in another namespace
			kubectl work export etl -o json | jq 'del(.metadata.namespace)' | kubectl work submit -n staging -f -

			# A Job that kubectl create accepts
			kubectl work export etl --kind job

			# What a file of Works becomes, without a cluster
			kubectl work export -f work.yaml --kind job

			# The same every night
			kubectl work export -f work.yaml --kind cronjob --schedule "0 3 * * *" | kubectl create -f -`),
		ValidArgsFunction: a.completeJobs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runExport(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.selector, "selector", "l", "", "All Jobs with these labels")
	o.files.add(cmd.Flags(), "Works or Jobs")
	cmd.Flags().StringVar(&o.kind, "kind", kindWork, "Kind of the documents: work, job or cronjob")
	cmd.Flags().StringVar(&o.schedule, "schedule", "", `With --kind cronjob: when its Jobs start, like "0 3 * * *"`)
	cmd.Flags().StringVar(&o.version, "api-version", v1beta2.GroupVersion.Version, "Version of the Work API that Works are written in: v1beta2 or v1alpha1")
	cmd.Flags().StringVarP((*string)(&o.output), "output", "o", string(formatYAML), "Form of the documents: yaml or json")
	return cmd
}

func (o *exportOptions) validate() error {
	ways := 0
	for _, used := range []bool{len(o.names) > 0, o.selector != "", o.files.given()} {
		if used {
			ways++
		}
	}
	if ways != 1 {
		return refuse("say which in one way: NAME..., -l SELECTOR, -f FILE or -k DIR")
	}
	switch {
	case o.kind != kindWork && o.kind != kindJob && o.kind != kindCronJob:
		return refuse("--kind=%s: give work, job or cronjob", o.kind)
	case o.kind == kindCronJob && o.schedule == "":
		return refuse(`--kind=cronjob: when? give --schedule "MINUTE HOUR DAY MONTH WEEKDAY"`)
	case o.kind != kindCronJob && o.schedule != "":
		return refuse("--schedule is about --kind=cronjob: give that too")
	case o.schedule != "" && !plausibleSchedule(o.schedule):
		return refuse(`--schedule %q: give five fields (minute, hour, day, month, weekday) or @hourly, @daily, @weekly, @monthly, @yearly; a time zone goes into spec.timeZone`, o.schedule)
	}
	switch o.apiVersion() {
	case v1beta2.GroupVersion.Version, v1alpha1.GroupVersion.Version:
	default:
		return refuse("--api-version=%s: give v1beta2 or v1alpha1", o.version)
	}
	return checkFormat(o.output, formatYAML, formatJSON)
}

// apiVersion is the version without the group, with which it may be given.
func (o *exportOptions) apiVersion() string { return strings.TrimPrefix(o.version, work.Group+"/") }

// plausibleSchedule tells whether the API server may take a schedule; it knows the rules of each field.
func plausibleSchedule(text string) bool {
	const fields = 5
	return strings.HasPrefix(text, "@") || len(strings.Fields(text)) == fields && !strings.Contains(text, "=")
}

func runExport(ctx context.Context, o *exportOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	if o.files.given() {
		return o.convert(ctx)
	}
	_, jobs, err := o.app.selected(ctx, o.names, o.selector)
	if err != nil {
		return err
	}
	var documents []json.RawMessage
	for _, job := range jobs {
		document, err := o.exported(job)
		if err != nil {
			return refuse("job/%s: %w", job.Name, err)
		}
		documents = append(documents, document)
	}
	return o.print(documents)
}

// convert prints the documents of files; no cluster is asked.
func (o *exportOptions) convert(ctx context.Context) error {
	read, err := readDocuments(ctx, o.app, o.files, mapping.DecodeOptions{SkipOtherKinds: true})
	if err != nil {
		return err
	}
	var documents []json.RawMessage
	var problems []error
	for _, d := range read {
		document, err := o.converted(d)
		if err != nil {
			problems = append(problems, refuse("%s: %s: %w", d.File, or(d.Work.Name, d.Work.GenerateName), err))
		}
		documents = append(documents, document)
	}
	if len(problems) > 0 {
		return errors.Join(problems...)
	}
	return o.print(documents)
}

func (o *exportOptions) exported(job *batchv1.Job) (json.RawMessage, error) {
	if o.kind != kindWork {
		return o.asJob(mapping.Clean(job))
	}
	w, err := mapping.ToWork(job)
	if err != nil {
		return nil, err
	}
	return o.asWork(w)
}

func (o *exportOptions) converted(d *mapping.Document) (json.RawMessage, error) {
	if o.kind == kindWork {
		return o.asWork(mapping.AsWork(d))
	}
	job, err := mapping.AsJob(d.Work)
	if err != nil {
		return nil, err
	}
	return o.asJob(job)
}

func (o *exportOptions) asWork(w *v1beta2.Work) (json.RawMessage, error) {
	if o.apiVersion() == v1beta2.GroupVersion.Version {
		return mapping.Manifest(w)
	}
	old, _, err := mapping.ToV1alpha1(w)
	if err != nil {
		return nil, err
	}
	return mapping.Manifest(old)
}

func (o *exportOptions) asJob(job *batchv1.Job) (json.RawMessage, error) {
	if o.kind == kindJob {
		return mapping.Manifest(job)
	}
	cronJob, err := mapping.ToCronJob(job, o.schedule)
	if err != nil {
		return nil, err
	}
	return mapping.Manifest(cronJob)
}

// print writes what `submit -f -` reads: YAML documents, or a JSON object (a List for several).
func (o *exportOptions) print(documents []json.RawMessage) error {
	switch {
	case o.output == formatJSON && len(documents) == 1:
		return printObject(o.app.Out, formatJSON, documents[0])
	case o.output == formatJSON:
		return printObject(o.app.Out, formatJSON, map[string]any{"apiVersion": "v1", "kind": "List", "items": documents})
	}
	for i, document := range documents {
		text, err := yaml.JSONToYAML(document)
		if err != nil {
			return fmt.Errorf("encode the document: %w", err)
		}
		separator := ""
		if i > 0 {
			separator = "---\n"
		}
		if _, err := fmt.Fprintf(o.app.Out, "%s%s", separator, text); err != nil {
			return err
		}
	}
	return nil
}
