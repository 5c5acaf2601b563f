package commands

import (
	"context"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// levels groups documents so that each one comes in a later group than those of the same call that it depends on.
func levels(documents []*mapping.Document) [][]int {
	order, _ := mapping.Order(documents) // circles were refused when the documents were read
	level := make([]int, len(documents))
	var groups [][]int
	for _, i := range order {
		for _, j := range mapping.SameCall(documents, i) {
			if j >= 0 {
				level[i] = max(level[i], level[j]+1)
			}
		}
		for len(groups) <= level[i] {
			groups = append(groups, nil)
		}
		groups[level[i]] = append(groups[level[i]], i)
	}
	return groups
}

// coordinate checks what a new run has to do with others, before anything is created: what it depends on is there, its
// group has one policy, and its turns can be taken.
func (s *submission) coordinate(ctx context.Context, p *planned) error {
	stubs := make([]*batchv1.Job, len(p.same))
	for i, j := range p.same {
		if j >= 0 { // made in this call: only whose it is is known yet
			stubs[i] = &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: s.documents[j].Work.Name, Labels: map[string]string{}}}
			if tenant := s.documents[j].Work.Spec.Tenant; tenant != "" {
				stubs[i].Labels[work.LabelTenant] = tenant
			}
		}
	}
	if _, err := s.resolve(ctx, p, stubs); err != nil {
		return err
	}
	slot, grouped := watch.SlotOf(p.job)
	if !grouped {
		return nil
	}
	if err := s.lookup.mayHold(ctx, slot.Namespace); err != nil {
		return fmt.Errorf("spec.concurrencyPolicy %s needs a Lease to take turns with: %w", p.document.Work.Spec.ConcurrencyPolicy, err)
	}
	runs, err := s.lookup.group(ctx, slot)
	if err != nil {
		return err
	}
	for i := range runs {
		other, _, err := mapping.DecodeSpec(&runs[i])
		if err != nil || status.Ended(&runs[i]) || other.Spec.ConcurrencyPolicy == p.document.Work.Spec.ConcurrencyPolicy {
			continue
		}
		return refuse("spec.concurrencyPolicy is %s, but job/%s of the same group (%s) has %s and goes on; use one policy in a group, or another spec.concurrencyGroup",
			p.document.Work.Spec.ConcurrencyPolicy, runs[i].Name, slot.Group, other.Spec.ConcurrencyPolicy)
	}
	return nil
}

// resolve says which runs a document's dependencies mean; same are those that this call made for some.
func (s *submission) resolve(ctx context.Context, p *planned, same []*batchv1.Job) ([]work.Dependency, error) {
	w := p.document.Work
	if len(w.Spec.DependsOn) == 0 {
		return nil, nil
	}
	runs := map[string][]batchv1.Job{}
	for i, d := range w.Spec.DependsOn {
		if same[i] != nil {
			continue
		}
		found, err := s.lookup.named(ctx, p.job.Namespace, d.Work)
		if err != nil {
			return nil, err
		}
		runs[d.Work] = found
	}
	resolved, problems := watch.Resolve(w, p.job, same, runs, s.again)
	if len(problems) > 0 {
		return nil, refuse("%w", errors.Join(problems...))
	}
	return resolved, nil
}

// made are the runs of this call that a document's dependencies mean.
func (s *submission) made(p *planned, results []*submitted) ([]*batchv1.Job, error) {
	same := make([]*batchv1.Job, len(p.same))
	for i, j := range p.same {
		if j < 0 {
			continue
		}
		if results[j] == nil || results[j].err != nil {
			return nil, refuse("Work %s, which it depends on, was not started; the same command again goes on", s.documents[j].Work.Name)
		}
		same[i] = results[j].job
	}
	return same, nil
}

// tellMoved says what was done for a held run.
func (a *app) tellMoved(m watch.Advanced) {
	for _, run := range m.Slot.Stopped {
		a.note("job/%s is stopped: a newer run of its group takes its place", run.Name)
	}
	if m.Slot.Intruder != nil {
		a.note("Warning: job/%s was started past the line of its group; it has the turn now", m.Slot.Intruder.Name)
	}
	if m.What != "" {
		a.note("job/%s: %s", m.Job.Name, m.What)
	}
}

// heldShown is of how many held runs a submit says what they wait for.
const heldShown = 5

// advance does once, for the runs of a submit, what a watch would do for them, and says of those that are still held what
// they wait for. A slot is moved once for all of its runs.
func (s *submission) advance(ctx context.Context, results []submitted, waiting bool) {
	moved := map[watch.Slot]bool{}
	now := map[types.UID]*batchv1.Job{} // runs that changed since they were made
	for i := range results {
		r := &results[i]
		if r.err != nil || r.job == nil || !watch.Moves(r.job) {
			continue
		}
		if slot, grouped := watch.SlotOf(r.job); grouped && status.InLine(r.job) {
			if moved[slot] {
				continue
			}
			moved[slot] = true
		}
		a, err := watch.Advance(ctx, s.client, r.job)
		if err != nil {
			s.app.note("Warning: job/%s: %v", r.job.Name, err)
		}
		s.app.tellMoved(a)
		for _, run := range append(a.Slot.Released, a.Job) {
			now[run.UID] = run
		}
	}
	var held []*batchv1.Job
	for i := range results {
		r := &results[i]
		if r.err != nil || r.job == nil {
			continue
		}
		if run := now[r.job.UID]; run != nil {
			r.job = run
		}
		if watch.Moves(r.job) {
			held = append(held, r.job)
		}
	}
	if !waiting {
		s.tellHeld(held)
	}
}

// tellHeld says what held runs wait for, and that something has to look.
func (s *submission) tellHeld(held []*batchv1.Job) {
	if len(held) == 0 {
		return
	}
	for i, job := range held {
		if i == heldShown {
			s.app.note("and %d more", len(held)-heldShown)
			break
		}
		s.app.note("job/%s is held: %s", job.Name, status.Of(status.Snapshot{Job: job, At: s.client.Now(), PodsHidden: true}).Message)
	}
	s.app.note("nothing starts what is held unless something runs that looks: kubectl work watch, or kubectl work wait NAME")
}
