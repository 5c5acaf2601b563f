package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/render"
)

// checkPlaces refuses documents whose namespace contradicts -n; a namespace in the document beats the context's. One wait
// watches one namespace.
func checkPlaces(documents []*mapping.Document, here place, waiting bool) error {
	var problems mapping.Problems
	of := func(d *mapping.Document) string { return or(d.Work.Namespace, here.namespace) }
	for _, d := range documents {
		switch {
		case here.explicit && of(d) != here.namespace:
			problems = append(problems, d.Problem("metadata.namespace",
				fmt.Sprintf("the document says namespace %s, the command says -n %s", d.Work.Namespace, here.namespace), "drop one of them"))
		case waiting && of(d) != of(documents[0]):
			problems = append(problems, d.Problem("metadata.namespace", "--wait waits in one namespace, and this document is in another than the first", "submit it by itself"))
		}
	}
	if len(problems) > 0 {
		return problems
	}
	return nil
}

// located gives a refusal of the API server the place in the file that it is about.
func located(d *mapping.Document, err error) error {
	var api apierrors.APIStatus
	if !errors.As(err, &api) || api.Status().Details == nil || api.Status().Reason != metav1.StatusReasonInvalid {
		return fmt.Errorf("%s: %w", d.File, err)
	}
	if problems := mapping.FieldProblems(d, api.Status().Details.Causes); len(problems) > 0 {
		return problems
	}
	return fmt.Errorf("%s: %w", d.File, err)
}

// readDocuments reads and checks all files. Every problem of every document comes in one go.
func readDocuments(ctx context.Context, a *app, files inputs, o mapping.DecodeOptions) ([]*mapping.Document, error) {
	sources, err := readFiles(ctx, a, files)
	if err != nil {
		return nil, err
	}
	var documents []*mapping.Document
	var problems mapping.Problems
	for _, source := range sources {
		found, wrong := mapping.Read(source.name, source.data, o)
		problems = append(problems, wrong...)
		for _, d := range found {
			for _, note := range d.Notes {
				a.note("%s: %s", source.name, note)
			}
		}
		documents = append(documents, found...)
	}
	_, circles := mapping.Order(documents)
	if problems = slices.Concat(problems, mapping.Duplicates(documents), circles, mapping.GroupConflicts(documents)); len(problems) > 0 {
		return nil, problems
	}
	return documents, nil
}

// namesOf are the names of Works and their namespace, for commands that only look them up.
func namesOf(documents []*mapping.Document, c *cluster.Client, submitID string) (names []string, namespace string, err error) {
	if err := checkPlaces(documents, place{namespace: c.Namespace, explicit: c.Explicit}, true); err != nil {
		return nil, "", err
	}
	for i, d := range documents {
		name := d.Work.Name
		if name == "" && submitID == "" {
			return nil, "", refuse("%s: a document with generateName has no name to look up; the submit id that it was submitted with gives one (%s)", d.File, submitIDEnv)
		}
		if name == "" {
			name = mapping.GenerateName(d.Work.GenerateName, documentID(submitID, i, len(documents) > 1))
		}
		names = append(names, name)
		namespace = or(d.Work.Namespace, c.Namespace)
	}
	return names, namespace, nil
}

// printJobs writes Jobs as kubectl would: one object, or a List, each with its kind, which answers of the server lack.
func printJobs(w io.Writer, f format, answers []*batchv1.Job) error {
	var jobs []*batchv1.Job
	for _, answer := range answers {
		job := answer.DeepCopy()
		job.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("Job"))
		job.ManagedFields = nil
		jobs = append(jobs, job)
	}
	if len(jobs) == 1 {
		return printObject(w, f, jobs[0])
	}
	return printObject(w, f, map[string]any{"apiVersion": "v1", "kind": "List", "items": jobs})
}

func counted(documents int) string {
	if documents == 1 {
		return "1 document was"
	}
	return fmt.Sprintf("%d documents were", documents)
}

// differences lists what a document changes of a run that cannot take it, in the user's own paths.
func differences(run *batchv1.Job, d *mapping.Document) string {
	if run == nil {
		return ""
	}
	changes, err := mapping.Diff(run, d.Work)
	if err != nil {
		return ""
	}
	return changeLines(changes)
}

// changeLines puts changes below a sentence, one a line.
func changeLines(changes []mapping.Change) string {
	const most = 20
	var text strings.Builder
	for i, c := range changes {
		if i == most {
			fmt.Fprintf(&text, "\n  and %d more", len(changes)-most)
			break
		}
		text.WriteString("\n  " + render.Line(c.String()))
	}
	return text.String()
}
