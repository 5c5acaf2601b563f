package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// submission turns checked documents into Jobs.
type submission struct {
	app     *app
	client  *cluster.Client // nil in a dry run of the client's own
	place   place
	dryRun  string
	givenID string
	several bool
	user    string
}

// submitted is what became of one document.
type submitted struct {
	job  *batchv1.Job
	what string // created, unchanged …
	code Code   // of a run that had ended before
	err  error
}

// place is a namespace, and whether it was asked for with -n.
type place struct {
	namespace string
	explicit  bool
}

// planned is a document that was looked up on the cluster, and not created yet.
type planned struct {
	document *mapping.Document
	job      *batchv1.Job
	there    *submitted // what there is to say about a run that is there already; nil: it is to be created
}

// all submits the documents in their order. All are looked up first: when one of them is refused for what is on the
// cluster, nothing is created. One that the server refuses at its creation does not stop the others; a server that is out
// of reach, a refused credential or an interrupt does.
func (s *submission) all(ctx context.Context, documents []*mapping.Document) []submitted {
	var plans []planned
	var refused []submitted
	for i, d := range documents {
		p := s.plan(ctx, d, i)
		if p.there != nil && p.there.err != nil {
			p.there.err = located(d, p.there.err)
			refused = append(refused, *p.there)
			if stops(ctx, p.there.err) {
				break
			}
		}
		plans = append(plans, p)
	}
	if len(refused) > 0 {
		return refused
	}
	var results []submitted
	for _, p := range plans {
		r := s.make(ctx, p)
		if r.err != nil {
			r.err = located(p.document, r.err)
		}
		results = append(results, r)
		if stops(ctx, r.err) {
			break
		}
	}
	return results
}

// stops tells of an error that the next document would meet too.
func stops(ctx context.Context, err error) bool {
	code := exitCode(err)
	return code == CodeUnreachable || code == CodeAccess || ctx.Err() != nil
}

// plan follows "Names, runs, identity": a Job with our submit id is done; otherwise the newest run decides.
func (s *submission) plan(ctx context.Context, d *mapping.Document, number int) planned {
	in := mapping.Injection{
		Namespace: s.place.namespace, SubmitID: s.idOf(number), SubmittedBy: s.user, Run: 1, Now: s.now(),
		TraceParent: or(s.app.Getenv("TRACEPARENT"), d.Work.Annotations["otel.traceparent"]), TraceState: s.app.Getenv("TRACESTATE"),
	}
	if d.Work.Name == "" {
		in.Name = mapping.GenerateName(d.Work.GenerateName, in.SubmitID)
	}
	job, err := mapping.ToJob(d.Work, in)
	if err != nil {
		return planned{document: d, there: &submitted{err: err}}
	}
	p := planned{document: d, job: job}
	if s.dryRun == "client" || d.Work.Name == "" && s.givenID == "" { // a name of a random id is new
		return p
	}
	if there, err := s.earlier(ctx, job); err != nil || there != nil {
		found := s.again(job, there, err)
		p.there = &found
	}
	return p
}

// make creates a planned Job, unless it is there.
func (s *submission) make(ctx context.Context, p planned) submitted {
	job := p.job
	switch {
	case p.there != nil:
		return *p.there
	case s.dryRun == "client":
		return submitted{job: job, what: "created (dry run)"}
	}
	made, err := s.client.CreateJob(ctx, job, s.dryRun == "server")
	var taken *cluster.TakenError
	switch {
	case errors.As(err, &taken):
		return s.again(job, taken.Job, nil)
	case apierrors.IsNotFound(err):
		return submitted{err: refuse("namespace %s does not exist; nothing was created", job.Namespace)}
	case err != nil:
		return submitted{err: err}
	case s.dryRun == "server":
		return submitted{job: made, what: "created (server dry run)"}
	}
	return submitted{job: made, what: "created"}
}

func (s *submission) now() time.Time {
	if s.client == nil {
		return s.app.Now()
	}
	return s.client.Now()
}

// idOf is the submit id of a document: its own, so that several documents of one call stay apart.
func (s *submission) idOf(number int) string {
	switch {
	case s.givenID == "":
		return s.app.NewID()
	case s.several:
		return fmt.Sprintf("%s-%d", s.givenID, number+1)
	}
	return s.givenID
}

// earlier finds the newest run of the Work, or any Job in the way of its name. A name like etl-r2 is refused when etl has
// runs: it would pass for one of them.
func (s *submission) earlier(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	name := mapping.WorkName(job)
	runs, err := s.client.Jobs(ctx, job.Namespace, work.LabelWork+"="+mapping.LabelValue(name))
	if err != nil {
		return nil, err
	}
	for i := range runs {
		if runs[i].Annotations[work.AnnotationSubmitID] == job.Annotations[work.AnnotationSubmitID] {
			return &runs[i], nil
		}
	}
	if suffix := mapping.RunSuffix(name); suffix != "" {
		stem := name[:len(name)-len(suffix)]
		others, err := s.client.Jobs(ctx, job.Namespace, work.LabelWork+"="+mapping.LabelValue(stem))
		if err != nil {
			return nil, err
		}
		if newestRun(others, stem) != nil {
			return nil, refuse("the name %s would pass for a run of Work %s, which has runs; take a name that does not end in %s", name, stem, suffix)
		}
	}
	return newestRun(runs, name), nil
}

// again decides about a document whose Work has a run already.
func (s *submission) again(job, there *batchv1.Job, err error) submitted {
	if err != nil {
		return submitted{err: err}
	}
	sameID := there.Annotations[work.AnnotationSubmitID] == job.Annotations[work.AnnotationSubmitID]
	sameSpec := there.Annotations[work.AnnotationSpecHash] == job.Annotations[work.AnnotationSpecHash]
	verdict := status.Of(status.Snapshot{Job: there, At: s.client.Now(), PodsHidden: true})
	state := fmt.Sprintf("%s %s ago", verdict.Phase, render.Age(verdict.Since, s.client.Now()))
	switch {
	case !mapping.Ours(there):
		return submitted{err: refuse("job %q exists and was not submitted by kubectl work (%s); take another name, or delete it first", there.Name, state)}
	case sameID && sameSpec:
		made := submitted{job: there, what: fmt.Sprintf("unchanged (this submit made it before; it is %s)", verdict.Phase)}
		if verdict.Outcome == status.OutcomeFailed {
			made.code = CodeFailed
		}
		return made
	case sameID:
		return submitted{err: refuse("this submit id (%s) made job %q from another document (%s); nothing was started. Give each document an id of its own",
			there.Annotations[work.AnnotationSubmitID], there.Name, state)}
	case there.DeletionTimestamp != nil:
		return submitted{err: refuse("job %q is being deleted; submit again when it is gone: kubectl work wait %s --for=deleted", there.Name, there.Name)}
	case sameSpec && !verdict.Phase.Finished():
		return submitted{job: there, what: fmt.Sprintf("unchanged (%s)", verdict.Phase)}
	case sameSpec:
		return submitted{err: refuse("run %d of %s %s; nothing was started. Delete it first (kubectl work delete %s), or take another name",
			mapping.RunNumber(there), mapping.WorkName(there), state, there.Name)}
	}
	return submitted{err: refuse("job %q exists with another spec (%s) and a Job's template cannot be changed; nothing was started. Delete it first (kubectl work delete %s), or take another name",
		there.Name, state, there.Name)}
}

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
func readDocuments(ctx context.Context, a *app, files []string, o mapping.DecodeOptions) ([]*mapping.Document, error) {
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
	if problems = append(problems, mapping.Duplicates(documents)...); len(problems) > 0 {
		return nil, problems
	}
	return documents, nil
}

// namesOf are the names of Works and their namespace, for commands that only look them up.
func namesOf(documents []*mapping.Document, c *cluster.Client) (names []string, namespace string, err error) {
	if err := checkPlaces(documents, place{namespace: c.Namespace, explicit: c.Explicit}, true); err != nil {
		return nil, "", err
	}
	for _, d := range documents {
		if d.Work.Name == "" {
			return nil, "", refuse("%s: a document with generateName has no name to look up", d.File)
		}
		names = append(names, d.Work.Name)
		namespace = or(d.Work.Namespace, c.Namespace)
	}
	return names, namespace, nil
}

// printJobs writes Jobs as kubectl would: one object, or a List.
func printJobs(w io.Writer, f format, jobs []*batchv1.Job) error {
	if len(jobs) == 1 {
		return printObject(w, f, jobs[0])
	}
	return printObject(w, f, map[string]any{"apiVersion": "v1", "kind": "List", "items": jobs})
}
