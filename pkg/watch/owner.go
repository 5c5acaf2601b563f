package watch

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

// AnchorPrefix and the name of a Work are the name of its anchor.
const AnchorPrefix = "kubectl-work-anchor-"

// Owner is what spec.owner means on the cluster.
type Owner struct {
	Reference metav1.OwnerReference
	Warning   string // why blockOwnerDeletion was left out
}

// OwnerError says that a run cannot have the owner that its document names.
type OwnerError struct{ Text string }

func (e *OwnerError) Error() string { return "spec.owner: " + e.Text }

// ResolveOwner finds the owner that the Work of a Job names, and makes an anchor where there is none; nil when it names none.
// With make unset nothing is made, and an anchor that is not there is no owner yet.
func ResolveOwner(ctx context.Context, c *cluster.Client, w *v1beta2.Work, job *batchv1.Job, create bool) (*Owner, error) {
	switch o := w.Spec.Owner; {
	case o == nil:
		return nil, nil
	case o.Anchor:
		return anchorOf(ctx, c, job, create)
	default:
		object, err := c.Object(ctx, o.APIVersion, o.Kind, job.Namespace, o.Name)
		if cluster.NotFound(err) {
			return nil, &OwnerError{Text: fmt.Sprintf("there is no %s %s in namespace %s; make it first", o.Kind, o.Name, job.Namespace)}
		}
		if err != nil {
			return nil, fmt.Errorf("spec.owner: %w", err)
		}
		u := unstructured.Unstructured{Object: object}
		if u.GetNamespace() != job.Namespace { // the garbage collector would delete the run
			return nil, &OwnerError{Text: fmt.Sprintf("%s %s is in no namespace, and cannot own a Job of namespace %s", o.Kind, o.Name, job.Namespace)}
		}
		return owner(ctx, c, job, o.APIVersion, u.GetKind(), u.GetName(), u.GetUID(), u.GetLabels(), u.GetDeletionTimestamp())
	}
}

// anchorOf gets or makes the ConfigMap that owns all runs of a Work. One that is not ours is never taken.
func anchorOf(ctx context.Context, c *cluster.Client, job *batchv1.Job, create bool) (*Owner, error) {
	label := mapping.LabelValue(mapping.WorkName(job))
	wanted := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: AnchorPrefix + mapping.WorkName(job), Namespace: job.Namespace, Labels: map[string]string{work.LabelAnchor: label},
	}}
	if tenant := job.Labels[work.LabelTenant]; tenant != "" {
		wanted.Labels[work.LabelTenant] = tenant
	}
	var config *corev1.ConfigMap
	var err error
	if create {
		config, err = c.MakeConfigMap(ctx, wanted)
	} else {
		config, err = c.ConfigMap(ctx, wanted.Namespace, wanted.Name)
	}
	switch {
	case cluster.NotFound(err) && !create:
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("spec.owner.anchor: %w", err)
	case config.Labels[work.LabelAnchor] != label:
		return nil, &OwnerError{Text: fmt.Sprintf("ConfigMap %s is there and is no anchor of ours (label %s); rename or delete it", config.Name, work.LabelAnchor)}
	}
	return owner(ctx, c, job, "v1", "ConfigMap", config.Name, config.UID, config.Labels, config.DeletionTimestamp)
}

func owner(ctx context.Context, c *cluster.Client, job *batchv1.Job, apiVersion, kind, name string, uid types.UID, labels map[string]string, deleted *metav1.Time) (*Owner, error) {
	switch tenant := labels[work.LabelTenant]; {
	case deleted != nil:
		return nil, &OwnerError{Text: fmt.Sprintf("%s %s is being deleted, and the run would go with it; try again when it is gone", kind, name)}
	case tenant != "" && tenant != job.Labels[work.LabelTenant]:
		return nil, &OwnerError{Text: fmt.Sprintf("%s %s belongs to another tenant (%s)", kind, name, tenant)}
	}
	o := &Owner{Reference: metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: new(true), BlockOwnerDeletion: new(true)}}
	may, err := c.MayBlock(ctx, apiVersion, kind, job.Namespace)
	if err == nil && !may {
		o.Reference.BlockOwnerDeletion = nil
		o.Warning = fmt.Sprintf("without the right to update the finalizers of %s %s its deletion does not wait for the run (blockOwnerDeletion is left out)", kind, name)
	}
	return o, nil
}

// OwnerLost reads the owner of a run again: whether it is another one than the run names, or about to go. What is not known
// of it undoes nothing.
func OwnerLost(ctx context.Context, c *cluster.Client, namespace string, ref metav1.OwnerReference) bool {
	object, err := c.Object(ctx, ref.APIVersion, ref.Kind, namespace, ref.Name)
	if err != nil {
		return cluster.NotFound(err)
	}
	u := unstructured.Unstructured{Object: object}
	return u.GetUID() != ref.UID || u.GetDeletionTimestamp() != nil
}
