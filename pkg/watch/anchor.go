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

// Anchor names the anchor of a Work.
type Anchor struct{ Namespace, Work, Tenant string }

// AnchorOf is the anchor that a run of a Work may have.
func AnchorOf(run *batchv1.Job) Anchor {
	return Anchor{Namespace: run.Namespace, Work: mapping.WorkName(run), Tenant: run.Labels[work.LabelTenant]}
}

// Name is that of the ConfigMap.
func (a Anchor) Name() string { return AnchorPrefix + a.Work }

// Decide says why an anchor has to stay, "" when it may go: it is not ours, or a Job other than those that are going is a run
// of the Work, or owned by it. jobs are those that may be.
func (a Anchor) Decide(config *corev1.ConfigMap, jobs []batchv1.Job, going map[types.UID]bool) (why string) {
	tenant := config.Labels[work.LabelTenant]
	switch {
	case !IsAnchor(config):
		return fmt.Sprintf("it is no anchor of ours (label %s)", work.LabelAnchor)
	case tenant != "" && tenant != a.Tenant:
		return fmt.Sprintf("it belongs to another tenant (%s)", tenant)
	}
	for i := range jobs {
		job := &jobs[i]
		switch {
		case going[job.UID]:
		case mapping.Ours(job) && mapping.WorkName(job) == a.Work:
			return fmt.Sprintf("job/%s is a run of the Work", job.Name)
		case Owns(config.UID, job):
			return fmt.Sprintf("it owns job/%s", job.Name)
		}
	}
	return ""
}

// Owns tells whether the object of a uid is an owner of a Job.
func Owns(uid types.UID, job *batchv1.Job) bool {
	return slices.ContainsFunc(job.OwnerReferences, func(ref metav1.OwnerReference) bool { return ref.UID == uid })
}

// AnchorRemoval is what Remove did. Without a Config there was no anchor.
type AnchorRemoval struct {
	Config *corev1.ConfigMap
	Stays  string // why it was left, "" when it was deleted
}

// AnchorTrial says how to remove an anchor only for show.
type AnchorTrial struct {
	Going map[types.UID]bool // Jobs that would be deleted first
	Send  bool               // let the server check the deletion
}

// Remove deletes an anchor when no run of its Work is left; without a trial it does. Nothing that the anchor owns ever goes
// with it. When somebody writes the anchor meanwhile it looks again.
func (a Anchor) Remove(ctx context.Context, c *cluster.Client, trial *AnchorTrial) (done AnchorRemoval, err error) {
	var going map[types.UID]bool
	if trial != nil {
		going = trial.Going
	}
	const rounds = 5
	for range rounds {
		config, err := c.ConfigMap(ctx, a.Namespace, a.Name())
		switch {
		case cluster.NotFound(err): // there was none, or the answer to its deletion was lost
			return done, nil
		case err != nil:
			return done, err
		}
		done.Config = config
		if config.DeletionTimestamp != nil {
			return done, nil
		}
		jobs, err := c.Jobs(ctx, a.Namespace, work.LabelWork+"="+mapping.LabelValue(a.Work))
		if err != nil {
			return done, err
		}
		if done.Stays = a.Decide(config, jobs, going); done.Stays != "" {
			return done, nil
		}
		if trial != nil && !trial.Send {
			return done, nil
		}
		if err := c.DeleteConfigMap(ctx, config, trial != nil); !lost(err) {
			return done, err
		}
	}
	return done, fmt.Errorf("configmap/%s is written by somebody else all the time", a.Name())
}
