package commands

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/kubectl/pkg/util/templates"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/render"
)

type diffOptions struct {
	app   *app
	files inputs
}

// Exit codes of diff, like kubectl's: an error is above 1.
const (
	codeDiffers   Code = 1
	codeDiffError Code = 2
)

func newDiffCommand(a *app, run func(context.Context, *diffOptions) error) *cobra.Command {
	o := &diffOptions{app: a}
	cmd := &cobra.Command{
		Use:     "diff -f FILE | -k DIR",
		Short:   "Show what files change of the newest runs",
		GroupID: groupSee,
		Long: templates.LongDesc(`
			Compare Works of files with the document of the newest run of each, field by field, in the paths of the files.

			The exit code is 0 when nothing differs, 1 when something does, and above 1 for an error.`),
		Example: templates.Examples(`
			# What would a submit change?
			kubectl work diff -f work.yaml`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if run != nil {
				return run(cmd.Context(), o)
			}
			return runDiff(cmd.Context(), o)
		},
	}
	o.files.add(cmd.Flags(), "Works or Jobs")
	return cmd
}

func runDiff(ctx context.Context, o *diffOptions) error {
	differs, err := o.diff(ctx)
	switch {
	case exitCode(err) == CodeRefused: // 1 says that something differs
		return &codeError{Code: codeDiffError, Err: err}
	case err == nil && differs:
		return &codeError{Code: codeDiffers}
	}
	return err
}

// diff prints what differs, a block a document, and tells whether anything does.
func (o *diffOptions) diff(ctx context.Context) (differs bool, err error) {
	if !o.files.given() {
		return false, o.files.missing()
	}
	documents, err := readDocuments(ctx, o.app, o.files, mapping.DecodeOptions{SkipOtherKinds: true})
	if err != nil {
		return false, err
	}
	client, err := o.app.client()
	if err != nil {
		return false, err
	}
	here := place{namespace: client.Namespace, explicit: client.Explicit}
	if err := checkPlaces(documents, here, false); err != nil {
		return false, err
	}
	var errs []error
	for _, d := range documents {
		lines, err := o.document(ctx, client, d, or(d.Work.Namespace, here.namespace))
		if err != nil {
			errs = append(errs, located(d, err))
			continue
		}
		for _, line := range lines {
			fmt.Fprintln(o.app.Out, render.Line(line))
		}
		differs = differs || len(lines) > 0
	}
	return differs, errors.Join(errs...)
}

// document compares one document with the newest run of its Work; no lines when nothing differs.
func (o *diffOptions) document(ctx context.Context, c *cluster.Client, d *mapping.Document, namespace string) ([]string, error) {
	name := or(d.Work.Name, d.Work.GenerateName)
	if d.Work.Name == "" {
		return []string{fmt.Sprintf("%s: each submit starts a Work of its own (generateName)", name)}, nil
	}
	runs, err := c.Jobs(ctx, namespace, work.LabelWork+"="+mapping.LabelValue(name))
	if err != nil {
		return nil, err
	}
	newest := newestRun(runs, name)
	if newest == nil {
		job, err := c.Job(ctx, namespace, name)
		switch {
		case cluster.NotFound(err):
			return []string{name + ": not there; a submit starts it"}, nil
		case err != nil:
			return nil, err
		}
		return nil, refuse("job/%s was not submitted by kubectl work, so there is no document to compare with", job.Name)
	}
	changes, err := mapping.Diff(newest, d.Work)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	lines := []string{fmt.Sprintf("%s (job/%s, run %d):", name, newest.Name, mapping.RunNumber(newest))}
	for _, change := range changes {
		lines = append(lines, "  "+change.String())
	}
	return lines, nil
}
