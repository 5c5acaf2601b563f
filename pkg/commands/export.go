package commands

import (
	"context"
	"encoding/json"
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
	kind     string
	version  string
	output   format
}

// The values of --kind.
const (
	kindWork = "work"
	kindJob  = "job"
)

func newExportCommand(a *app, run func(context.Context, *exportOptions) error) *cobra.Command {
	o := &exportOptions{app: a}
	cmd := &cobra.Command{
		Use:     "export NAME... | -l SELECTOR",
		Short:   "Print a run as a file that can be submitted again",
		GroupID: groupSee,
		Long: templates.LongDesc(`
			Print the Work that a run was submitted from, or a Work for a Job that somebody else made. What a server or a
			controller added (uid, status, generated selector and labels, owners) is left out, so that the file can be submitted
			as it is, here or elsewhere.

			NAME is the Job of exactly that name, else the newest run of that Work. Several give a file of several documents.`),
		Example: templates.Examples(`
			# Keep what ran
			kubectl work export etl > etl.yaml

			# Run it in another namespace
			kubectl work export etl -o json | jq 'del(.metadata.namespace)' | kubectl work submit -n staging -f -

			# A Job that kubectl create accepts
			kubectl work export etl --kind job`),
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
	cmd.Flags().StringVar(&o.kind, "kind", kindWork, "Kind of the documents: work or job")
	cmd.Flags().StringVar(&o.version, "api-version", v1beta2.GroupVersion.Version, "Version of the Work API that Works are written in: v1beta2 or v1alpha1")
	cmd.Flags().StringVarP((*string)(&o.output), "output", "o", string(formatYAML), "Form of the documents: yaml or json")
	return cmd
}

func (o *exportOptions) validate() error {
	if (len(o.names) > 0) == (o.selector != "") {
		return refuse("say which in one way: NAME... or -l SELECTOR")
	}
	if o.kind != kindWork && o.kind != kindJob {
		return refuse("--kind=%s: give work or job", o.kind)
	}
	switch strings.TrimPrefix(o.version, work.Group+"/") {
	case v1beta2.GroupVersion.Version, v1alpha1.GroupVersion.Version:
	default:
		return refuse("--api-version=%s: give v1beta2 or v1alpha1", o.version)
	}
	return checkFormat(o.output, formatYAML, formatJSON)
}

func runExport(ctx context.Context, o *exportOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	_, jobs, err := o.app.selected(ctx, o.names, o.selector)
	if err != nil {
		return err
	}
	var documents []json.RawMessage
	for _, job := range jobs {
		document, err := exported(job, o.kind, strings.TrimPrefix(o.version, work.Group+"/"))
		if err != nil {
			return refuse("job/%s: %w", job.Name, err)
		}
		documents = append(documents, document)
	}
	return o.print(documents)
}

func exported(job *batchv1.Job, kind, version string) (json.RawMessage, error) {
	if kind == kindJob {
		return mapping.Manifest(mapping.Clean(job))
	}
	w, err := mapping.ToWork(job)
	if err != nil {
		return nil, err
	}
	if version == v1alpha1.GroupVersion.Version {
		old, _, err := mapping.ToV1alpha1(w)
		if err != nil {
			return nil, err
		}
		return mapping.Manifest(old)
	}
	return mapping.Manifest(w)
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
