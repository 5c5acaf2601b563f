package commands

import (
	"context"
	"slices"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// adopt makes a Job that somebody else made a run of the Work, if it is what the document says.
func (s *submission) adopt(ctx context.Context, p planned) (*batchv1.Job, error) {
	found := p.decision.Found
	if p.document.Work.Spec.Exclusive() {
		return nil, refuse("job/%s cannot be adopted into a concurrency group: its Pods do not carry the group's label", found.Name)
	}
	try, err := s.client.TryJob(ctx, p.job, mapping.Shorten(p.job.Name+"-adopted-"+p.in.SubmitID, maxTryName))
	if err != nil {
		return nil, err
	}
	changes, err := mapping.DiffJobs(found, try)
	if err != nil {
		return nil, err
	}
	changes = slices.DeleteFunc(changes, func(c mapping.Change) bool { return c.Path == "spec.suspend" })
	if len(changes) > 0 {
		return nil, refuse("job/%s is not what the document says, and only what is the same is adopted:%s", found.Name, changeLines(changes))
	}
	body, err := watch.AdoptPatch(found, p.job)
	if err != nil {
		return nil, err
	}
	return s.client.PatchJob(ctx, found.Namespace, found.Name, body, s.dryRun == "server")
}

// maxTryName is how long the name of a dry run may be: a host name may be made of it.
const maxTryName = 50
