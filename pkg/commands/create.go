package commands

import (
	"context"
	"errors"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

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

// create makes the Job of the decided run, with its owner. An owner that is deleted meanwhile would take the run along: the Job
// is then taken back and made again.
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
		made, err := s.createOne(ctx, p)
		if err != nil || owner == nil || s.dryRun != "none" {
			return made, err
		}
		if owner.Warning != "" {
			s.app.note("Warning: job/%s: %s", made.Name, owner.Warning)
		}
		if !watch.OwnerLost(ctx, s.client, made.Namespace, owner.Reference) {
			return made, nil
		}
		if err := s.client.DeleteJob(ctx, made, metav1.DeletePropagationBackground, false); err != nil {
			return nil, err
		}
	}
	return nil, refuse("spec.owner: it is deleted and made again all the time; nothing was started")
}

// createOne makes the Job once, whole or not at all.
func (s *submission) createOne(ctx context.Context, p planned) (*batchv1.Job, error) {
	job, err := mapping.ToJob(p.document.Work, p.in)
	if err != nil {
		return nil, err
	}
	made, err := s.client.CreateJob(ctx, job, s.dryRun == "server")
	if apierrors.IsNotFound(err) {
		return nil, refuse("namespace %s does not exist; nothing was created", job.Namespace)
	}
	if err == nil {
		err = s.keepOrTakeBack(ctx, job, made)
	}
	if err == nil {
		s.tellCleanup(p.document.Work.Spec.CleanupPolicy, made)
	}
	return made, err
}

// tellCleanup says what of a cleanupPolicy nothing on the cluster will do.
func (s *submission) tellCleanup(p *v1beta2.CleanupPolicy, made *batchv1.Job) {
	if p == nil {
		return
	}
	if p.TTLSecondsAfterFinished != nil && made.Spec.TTLSecondsAfterFinished == nil {
		s.app.note("Warning: job/%s: the cluster itself only deletes in the foreground; with propagation %s only a running kubectl work watch deletes it", made.Name, p.Propagation)
	}
	if p.Finalizer {
		s.app.note("Warning: job/%s: only a running kubectl work watch takes its finalizer off; until then it cannot be deleted", made.Name)
	}
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
