package watch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

// Anchored tells whether a run belongs to the anchor of its Work.
func Anchored(run *batchv1.Job) bool {
	return mapping.Ours(run) && slices.ContainsFunc(run.OwnerReferences, func(ref metav1.OwnerReference) bool {
		return ref.Kind == "ConfigMap" && ref.Name == AnchorPrefix+mapping.WorkName(run)
	})
}

// IsAnchor tells whether a ConfigMap is an anchor that we made: name and label name the same Work.
func IsAnchor(config *corev1.ConfigMap) bool {
	name, found := strings.CutPrefix(config.Name, AnchorPrefix)
	return found && config.Labels[work.LabelAnchor] == mapping.LabelValue(name)
}

// DecideAnchor says why the anchor of a run's Work has to stay, "" when it may go: it is not ours, or a Job other than those
// that are going is a run of the Work, or owned by it. jobs are those that may be.
func DecideAnchor(anchor *corev1.ConfigMap, run *batchv1.Job, jobs []batchv1.Job, going func(types.UID) bool) (why string) {
	tenant := anchor.Labels[work.LabelTenant]
	switch {
	case !IsAnchor(anchor):
		return fmt.Sprintf("it is no anchor of ours (label %s)", work.LabelAnchor)
	case tenant != "" && tenant != run.Labels[work.LabelTenant]:
		return fmt.Sprintf("it belongs to another tenant (%s)", tenant)
	}
	for i := range jobs {
		job := &jobs[i]
		if going(job.UID) {
			continue
		}
		if mapping.Ours(job) && mapping.WorkName(job) == mapping.WorkName(run) {
			return fmt.Sprintf("job/%s is a run of the Work", job.Name)
		}
		if owns(anchor.UID, job) {
			return fmt.Sprintf("it owns job/%s", job.Name)
		}
	}
	return ""
}

func owns(uid types.UID, job *batchv1.Job) bool {
	return slices.ContainsFunc(job.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.UID == uid })
}

// AnchorRemoval is what RemoveAnchor did. Without an Anchor there was none.
type AnchorRemoval struct {
	Anchor *corev1.ConfigMap
	Stays  string // why it was left, "" when it was deleted
}

// AnchorTrial says how to remove an anchor only for show. The zero value removes it.
type AnchorTrial struct {
	Going map[types.UID]bool // Jobs that would be deleted first
	Send  bool               // let the server check the deletion
}

// RemoveAnchor deletes the anchor of a run's Work when no run of it is left; trial is nil, or only looks. Nothing that the
// anchor owns ever goes with it. When somebody writes the anchor meanwhile it looks again.
func RemoveAnchor(ctx context.Context, c *cluster.Client, run *batchv1.Job, trial *AnchorTrial) (done AnchorRemoval, err error) {
	going := func(uid types.UID) bool { return trial != nil && trial.Going[uid] }
	const rounds = 5
	for range rounds {
		anchor, err := c.ConfigMap(ctx, run.Namespace, AnchorPrefix+mapping.WorkName(run))
		switch {
		case cluster.NotFound(err): // there was none, or the answer to its deletion was lost
			return done, nil
		case err != nil:
			return done, err
		}
		done.Anchor = anchor
		if anchor.DeletionTimestamp != nil {
			return done, nil
		}
		jobs, err := c.Jobs(ctx, run.Namespace, work.LabelWork+"="+mapping.LabelValue(mapping.WorkName(run)))
		if err != nil {
			return done, err
		}
		if done.Stays = DecideAnchor(done.Anchor, run, jobs, going); done.Stays != "" {
			return done, nil
		}
		if trial != nil && !trial.Send {
			return done, nil
		}
		if err := c.DeleteConfigMap(ctx, done.Anchor, trial != nil); !lost(err) {
			return done, err
		}
	}
	return done, fmt.Errorf("configmap/%s is written by somebody else all the time", done.Anchor.Name)
}
