package cluster

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// TakenError says that another Job has the name.
type TakenError struct{ Job *batchv1.Job }

func (e *TakenError) Error() string { return "job/" + e.Job.Name + " exists already" }

// CreateJob creates a Job once, however often the answer is lost: an "already exists" for a Job with our submit id is
// our own Job. One with another id, or made from another document, is a *TakenError. The Job must carry its final name and its submit id.
func (c *Client) CreateJob(ctx context.Context, job *batchv1.Job, dryRun bool) (made *batchv1.Job, err error) {
	r := request{verb: "create", resource: "jobs", namespace: job.Namespace}
	id := job.Annotations[work.AnnotationSubmitID]
	const rounds = 5 // a Job of our name may vanish between the answer "exists" and our look at it
	for range rounds {
		err = c.retry(ctx, r, func(ctx context.Context) error {
			made, err = c.batch.Jobs(job.Namespace).Create(ctx, job,
				metav1.CreateOptions{FieldManager: manager, FieldValidation: metav1.FieldValidationStrict, DryRun: dry(dryRun)})
			return err
		})
		if !apierrors.IsAlreadyExists(err) {
			return made, err
		}
		there, getErr := c.Job(ctx, job.Namespace, job.Name)
		switch {
		case apierrors.IsNotFound(getErr):
			continue
		case getErr != nil:
			return nil, getErr
		case id != "" && there.Annotations[work.AnnotationSubmitID] == id && sameSpec(there, job):
			return there, nil
		}
		return nil, &TakenError{Job: there}
	}
	return nil, err
}

func sameSpec(a, b *batchv1.Job) bool {
	return a.Annotations[work.AnnotationSpecHash] == b.Annotations[work.AnnotationSpecHash]
}
