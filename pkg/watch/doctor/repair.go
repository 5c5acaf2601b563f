package doctor

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// Fix is how one trouble is put right. The set is closed: the types below. None touches what runs.
type Fix interface {
	// Does says what it does, to follow the object's name.
	Does() string
	repair(ctx context.Context, c *cluster.Client) error
}

type (
	// RemoveAnchor removes an anchor without runs.
	RemoveAnchor struct{ Anchor watch.Anchor }

	// RemoveSlot removes the Lease of a group without runs.
	RemoveSlot struct{ Lease *coordinationv1.Lease }

	// DropFinalizer takes our finalizer off a Job; those of others stay.
	DropFinalizer struct{ Job *batchv1.Job }

	// DropHolds drops holds that somebody overrode.
	DropHolds struct{ Job *batchv1.Job }
)

// Does implements Fix.
func (RemoveAnchor) Does() string { return "removed" }

// Does implements Fix.
func (RemoveSlot) Does() string { return "removed" }

// Does implements Fix.
func (DropFinalizer) Does() string { return "finalizer " + work.FinalizerCleanup + " taken off" }

// Does implements Fix.
func (DropHolds) Does() string { return "holds dropped" }

// ChangedError says that an object changed since it was looked at, and nothing was done.
type ChangedError struct{ Why string }

func (e *ChangedError) Error() string { return "left as it is: " + e.Why }

// Repair puts one trouble right. What is gone meanwhile needs nothing; what changed gives a *ChangedError: look again.
func Repair(ctx context.Context, c *cluster.Client, f Fix) error {
	err := f.repair(ctx, c)
	switch {
	case cluster.NotFound(err):
		return nil
	case cluster.Conflict(err):
		return &ChangedError{Why: "it was changed meanwhile"}
	}
	return err
}

func (f RemoveAnchor) repair(ctx context.Context, c *cluster.Client) error {
	done, err := f.Anchor.Remove(ctx, c, nil)
	if err == nil && done.Stays != "" {
		return &ChangedError{Why: done.Stays}
	}
	return err
}

func (f RemoveSlot) repair(ctx context.Context, c *cluster.Client) error {
	return c.DeleteLease(ctx, f.Lease)
}

func (f DropFinalizer) repair(ctx context.Context, c *cluster.Client) error {
	_, err := c.RemoveFinalizer(ctx, f.Job, work.FinalizerCleanup)
	return err
}

func (f DropHolds) repair(ctx context.Context, c *cluster.Client) error {
	_, err := c.PatchJob(ctx, f.Job.Namespace, f.Job.Name, watch.WithoutHolds(f.Job), false)
	return err
}
