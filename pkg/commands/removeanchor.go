package commands

import (
	"context"
	"errors"
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// removeAnchors removes the anchors of Works that were named and whose last run is deleted: nothing else ever would. It is
// something beside the deletion: without a right to it that is said, and no more.
func (o *deleteOptions) removeAnchors(ctx context.Context, c *cluster.Client, deleted []*batchv1.Job) (problems []error) {
	if o.selects() || o.narrow.filter().Given() {
		return nil
	}
	var trial *watch.AnchorTrial
	if o.dryRun != "none" {
		trial = &watch.AnchorTrial{Going: map[types.UID]bool{}, Send: o.dryRun == "server"}
		for _, job := range deleted {
			trial.Going[job.UID] = true
		}
	}
	done := map[watch.Anchor]bool{}
	for _, job := range deleted {
		if anchor := watch.AnchorOf(job); watch.Anchored(job) && !done[anchor] {
			done[anchor] = true
			if err := o.removeAnchor(ctx, c, anchor, trial); err != nil {
				problems = append(problems, err)
			}
		}
	}
	return problems
}

func (o *deleteOptions) removeAnchor(ctx context.Context, c *cluster.Client, anchor watch.Anchor, trial *watch.AnchorTrial) error {
	removal, err := anchor.Remove(ctx, c, trial)
	switch {
	case cluster.Denied(err):
		o.app.note("the anchor configmap/%s stays: %v", anchor.Name(), err)
		return nil
	case err != nil:
		return fmt.Errorf("configmap/%s, the anchor of the Work: %w", anchor.Name(), err)
	case removal.Stays != "":
		o.app.note("the anchor configmap/%s stays: %s", anchor.Name(), removal.Stays)
		return nil
	case removal.Config == nil:
		return nil
	}
	fmt.Fprintln(o.app.Out, o.line("configmap", removal.Config))
	if !o.wait || o.dryRun != "none" {
		return nil
	}
	return o.awaitAnchorGone(ctx, c, removal.Config)
}

// awaitAnchorGone waits until the garbage collector has taken the anchor off what it may own: a submit would be refused until
// then.
func (o *deleteOptions) awaitAnchorGone(ctx context.Context, c *cluster.Client, anchor *corev1.ConfigMap) error {
	still := func(now *corev1.ConfigMap) error {
		if ctx.Err() != nil && !errors.Is(cause(ctx), errTimeout) {
			return cause(ctx)
		}
		return &codeError{Code: CodeTimeout, Err: fmt.Errorf("still there: configmap/%s, held by finalizers %v", now.Name, now.Finalizers)}
	}
	for pause := firstLook; ; pause = min(pause*3/2, slowLook) {
		now, err := c.ConfigMap(ctx, anchor.Namespace, anchor.Name)
		switch {
		case ctx.Err() != nil:
			return still(anchor)
		case cluster.NotFound(err), err == nil && now.UID != anchor.UID, cluster.Denied(err):
			return nil
		case err != nil:
			return err
		case o.limited && o.timeout == 0:
			return still(now)
		}
		select {
		case <-ctx.Done():
			return still(now)
		case <-time.After(pause):
		}
	}
}
