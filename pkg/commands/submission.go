package commands

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
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

	allowDropped bool

	documents []*mapping.Document
	profiles  profiles
	lookup    *lookup // for many documents
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
