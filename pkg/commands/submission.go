package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
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
	choices watch.SubmitChoices
	again   bool // the documents have run before

	documents []*mapping.Document
	profiles  profiles
	lookup    *lookup
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
	in       mapping.Injection
	job      *batchv1.Job // as run 1
	same     []int        // of each dependency: the document of the same call that is meant, -1 for none
	decision watch.SubmitDecision
	err      error
}

// inFlight bounds the requests of one submit that wait for an answer.
const inFlight = 32

// all submits the documents, many of them several at a time. All are looked up first: when one of them is refused for what is on the
// cluster, nothing is created. One that the server refuses at its creation does not stop the others; a server that is out
// of reach, a refused credential or an interrupt does: documents that were not begun by then have no result.
func (s *submission) all(ctx context.Context, documents []*mapping.Document) []submitted {
	s.documents, s.lookup = documents, &lookup{client: s.client, many: len(documents) > manyDocuments}
	plans := make([]planned, len(documents))
	s.each(ctx, len(documents), func(i int) error {
		plans[i] = s.plan(ctx, documents[i], i)
		if plans[i].err != nil {
			plans[i].err = located(documents[i], plans[i].err)
		}
		return plans[i].err
	})
	var refused []submitted
	for _, p := range plans {
		if p.err != nil {
			refused = append(refused, submitted{err: p.err})
		}
	}
	if len(refused) > 0 {
		return refused
	}
	results := make([]*submitted, len(plans))
	progress := s.app.progress("submitted", len(plans))
	for _, level := range levels(documents) {
		s.each(ctx, len(level), func(n int) error {
			i := level[n]
			if plans[i].document == nil { // looking up ended before it
				return nil
			}
			r := s.makeAfter(ctx, plans[i], results)
			if r.err != nil {
				r.err = located(plans[i].document, r.err)
			}
			results[i] = &r
			progress.step()
			return r.err
		})
	}
	progress.end()
	var done []submitted
	for _, r := range results {
		if r != nil {
			done = append(done, *r)
		}
	}
	if rest := len(results) - len(done); rest > 0 {
		s.app.note("%s not begun; the same command again goes on", counted(rest))
	}
	return done
}

// each calls f for 0 to n-1, inFlight at a time, and begins no more of them after an error that the next would meet too.
func (s *submission) each(ctx context.Context, n int, f func(i int) error) {
	var halt atomic.Bool
	var group errgroup.Group
	group.SetLimit(1)
	if n > manyDocuments { // a few are begun in the order of the file
		group.SetLimit(inFlight)
	}
	for i := range n {
		if halt.Load() {
			break
		}
		group.Go(func() error {
			defer s.app.caught()
			if stops(ctx, f(i)) {
				halt.Store(true)
			}
			return nil
		})
	}
	_ = group.Wait() // no function returns an error: each has its result
}

// stops tells of an error that the next document would meet too.
func stops(ctx context.Context, err error) bool {
	code := exitCode(err)
	return code == CodeUnreachable || code == CodeAccess || ctx.Err() != nil
}

// plan looks a document's Work up and decides.
func (s *submission) plan(ctx context.Context, d *mapping.Document, number int) planned {
	p := planned{document: d, in: mapping.Injection{
		Namespace: s.place.namespace, SubmitID: s.idOf(number), SubmittedBy: s.user, Run: 1, Now: s.now(),
		TraceParent: or(s.app.Getenv("TRACEPARENT"), d.Work.Annotations["otel.traceparent"]), TraceState: s.app.Getenv("TRACESTATE"),
	}}
	if d.Work.Name == "" {
		p.in.Name = mapping.GenerateName(d.Work.GenerateName, p.in.SubmitID)
	}
	if p.in.Profile, p.err = s.profiles.of(ctx, d.Work, or(d.Work.Namespace, s.place.namespace)); p.err != nil {
		return p
	}
	if p.job, p.err = mapping.ToJob(d.Work, p.in); p.err != nil {
		return p
	}
	p.decision = watch.SubmitDecision{Action: watch.SubmitCreate, Run: 1}
	p.same = mapping.SameCall(s.documents, number)
	if s.dryRun == "client" {
		return p
	}
	if d.Work.Name != "" || s.givenID != "" { // else it is a name of a random id, which is new
		runs, err := s.lookup.runs(ctx, p.job.Namespace, mapping.WorkName(p.job))
		if err != nil {
			p.err = err
			return p
		}
		p.err = s.decide(ctx, &p, runs, nil)
	}
	if a := p.decision.Action; p.err == nil && (a == watch.SubmitCreate || a == watch.SubmitReplace) {
		p.err = s.coordinate(ctx, &p)
	}
	return p
}

// lookAgain looks and decides anew, because another client was quicker; taken is the Job that has the name by now.
func (s *submission) lookAgain(ctx context.Context, p *planned, taken *batchv1.Job) error {
	runs, err := s.client.Jobs(ctx, p.job.Namespace, work.LabelWork+"="+mapping.LabelValue(mapping.WorkName(p.job)))
	if err != nil {
		return err
	}
	return s.decide(ctx, p, runs, taken)
}

// decide decides by the runs of the Work; taken is the Job that was met under its name, nil for none.
func (s *submission) decide(ctx context.Context, p *planned, runs []batchv1.Job, taken *batchv1.Job) error {
	p.decision = watch.DecideSubmit(p.job, runs, taken, s.client.Now(), s.choices)
	if p.decision.Action == watch.SubmitRefuse {
		return refuse("%s%s", p.decision.Text, differences(p.decision.Found, p.document))
	}
	if len(runs) == 0 {
		return s.checkSuffix(ctx, p.job)
	}
	return nil
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

// makeAfter makes a document whose dependencies of the same call are made.
func (s *submission) makeAfter(ctx context.Context, p planned, results []*submitted) submitted {
	if len(p.same) == 0 || s.dryRun == "client" {
		return s.make(ctx, p)
	}
	same, err := s.made(&p, results)
	if err == nil {
		p.in.Waiting, err = s.resolve(ctx, &p, same)
	}
	if err != nil {
		return submitted{err: err}
	}
	return s.make(ctx, p)
}

// submitRounds bounds how often a submit looks again because another client was quicker.
const submitRounds = 5

// make does what was planned. Where another client is quicker it looks and decides again.
func (s *submission) make(ctx context.Context, p planned) submitted {
	for range submitRounds {
		switch p.decision.Action {
		case watch.SubmitNothing:
			made := submitted{job: p.decision.Found, what: p.decision.Text}
			if p.decision.Ended == status.OutcomeFailed {
				made.code = CodeFailed
			}
			return made
		case watch.SubmitPatch:
			job, err := s.patch(ctx, p)
			if !cluster.Conflict(err) {
				return submitted{job: job, what: s.done("configured"), err: err}
			}
			if err := s.lookAgain(ctx, &p, nil); err != nil {
				return submitted{err: err}
			}
			continue
		case watch.SubmitAdopt:
			job, err := s.adopt(ctx, p)
			if !cluster.Conflict(err) {
				return submitted{job: job, what: s.done("adopted"), err: err}
			}
			if err := s.lookAgain(ctx, &p, p.decision.Found); err != nil {
				return submitted{err: err}
			}
			continue
		case watch.SubmitReplace:
			if err := s.clear(ctx, p.decision.Found); err != nil {
				return submitted{err: err}
			}
		case watch.SubmitCreate, watch.SubmitRefuse: // a refusal was an error before
		}
		job, err := s.create(ctx, p)
		var taken *cluster.TakenError
		if !errors.As(err, &taken) {
			return submitted{job: job, what: s.done("created"), err: err}
		}
		if err := s.lookAgain(ctx, &p, taken.Job); err != nil {
			return submitted{err: err}
		}
	}
	return submitted{err: refuse("others keep starting runs of %s at the same time; try again", mapping.WorkName(p.job))}
}

// create makes the Job of the decided run.
func (s *submission) create(ctx context.Context, p planned) (*batchv1.Job, error) {
	p.in.Run = p.decision.Run
	if s.dryRun == "client" {
		return mapping.ToJob(p.document.Work, p.in)
	}
	for range submitRounds {
		owner, err := watch.ResolveOwner(ctx, s.client, p.document.Work, p.job, s.dryRun == "none")
		if err != nil {
			return nil, asRefusal(err)
		}
		if owner != nil {
			p.in.Owner = &owner.Reference
		}
		job, err := mapping.ToJob(p.document.Work, p.in)
		if err != nil {
			return job, err
		}
		made, err := s.client.CreateJob(ctx, job, s.dryRun == "server")
		switch {
		case apierrors.IsNotFound(err):
			return nil, refuse("namespace %s does not exist; nothing was created", job.Namespace)
		case err != nil || owner == nil || s.dryRun != "none":
			return made, err
		}
		if owner.Warning != "" {
			s.app.note("Warning: job/%s: %s", made.Name, owner.Warning)
		}
		stands, err := watch.OwnerStands(ctx, s.client, made.Namespace, owner.Reference)
		if err != nil || stands { // the run is made: what is not known of its owner does not undo it
			return made, nil
		}
		if err := s.client.DeleteJob(ctx, made, metav1.DeletePropagationBackground, false); err != nil {
			return nil, err
		}
	}
	return nil, refuse("spec.owner: it is deleted and made again all the time; nothing was started")
}

// asRefusal gives an owner that cannot be the code of a refusal.
func asRefusal(err error) error {
	var wrong *watch.OwnerError
	var kind *cluster.UnknownKindError
	if errors.As(err, &wrong) || errors.As(err, &kind) {
		return refuse("%w", err)
	}
	return err
}

// patch changes what may be changed of a run that goes on.
func (s *submission) patch(ctx context.Context, p planned) (*batchv1.Job, error) {
	body, err := watch.SubmitPatchOf(p.decision.Found, p.job)
	if err != nil {
		return nil, err
	}
	return s.client.PatchJob(ctx, p.decision.Found.Namespace, p.decision.Found.Name, body, s.dryRun == "server")
}

// clearTime bounds the wait for a run that is replaced, unless --timeout is shorter.
const clearTime = 5 * time.Minute

// clear deletes a run and waits until it and its Pods are gone, so that the new one is never beside them.
func (s *submission) clear(ctx context.Context, run *batchv1.Job) error {
	if err := s.client.DeleteJob(ctx, run, metav1.DeletePropagationForeground, s.dryRun == "server"); err != nil || s.dryRun == "server" {
		return err
	}
	s.app.note("job/%s is deleted; waiting until its Pods are gone", run.Name)
	ctx, cancel := context.WithTimeoutCause(ctx, clearTime, errTimeout)
	defer cancel()
	return (&deleteOptions{app: s.app}).awaitGone(ctx, s.client, []*batchv1.Job{run})
}

// done is a word for what was done, or would be in a dry run.
func (s *submission) done(word string) string {
	switch s.dryRun {
	case "client":
		return word + " (dry run)"
	case "server":
		return word + " (server dry run)"
	}
	return word
}

func (s *submission) now() time.Time {
	if s.client == nil {
		return s.app.Now()
	}
	return s.client.Now()
}

// idOf is the submit id of a document: its own, so that several documents of one call stay apart.
func (s *submission) idOf(number int) string {
	if s.givenID == "" {
		return s.app.NewID()
	}
	return documentID(s.givenID, number, s.several)
}

// documentID is the submit id of one of several documents of a call.
func documentID(id string, number int, several bool) string {
	if several {
		return fmt.Sprintf("%s-%d", id, number+1)
	}
	return id
}

// checkSuffix refuses a name like etl-r2 when etl has runs: it would pass for one of them.
func (s *submission) checkSuffix(ctx context.Context, job *batchv1.Job) error {
	name := mapping.WorkName(job)
	suffix := mapping.RunSuffix(name)
	if suffix == "" {
		return nil
	}
	stem := name[:len(name)-len(suffix)]
	others, err := s.client.Jobs(ctx, job.Namespace, work.LabelWork+"="+mapping.LabelValue(stem))
	if err != nil {
		return err
	}
	if newestRun(others, stem) != nil {
		return refuse("the name %s would pass for a run of Work %s, which has runs; take a name that does not end in %s", name, stem, suffix)
	}
	return nil
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
