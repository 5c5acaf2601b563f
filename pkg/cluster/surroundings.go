package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// What surrounds a Job and may explain it. Every call here needs a right beyond Jobs and Pods; without it the error is an
// *AccessError, for which Denied is true, and a caller goes on without.

// Node reads one node.
func (c *Client) Node(ctx context.Context, name string) (node *corev1.Node, err error) {
	err = c.retry(ctx, request{verb: "get", resource: "nodes"}, func(ctx context.Context) error {
		node, err = c.core.Nodes().Get(ctx, name, metav1.GetOptions{})
		return err
	})
	return node, err
}

// Nodes lists all nodes.
func (c *Client) Nodes(ctx context.Context) ([]*corev1.Node, error) {
	all := []*corev1.Node{}
	err := c.pages(ctx, request{verb: "list", resource: "nodes"}, metav1.ListOptions{}, func() { all = all[:0] },
		func(ctx context.Context, o metav1.ListOptions) (string, error) {
			list, err := c.core.Nodes().List(ctx, o)
			if err != nil {
				return "", err
			}
			for i := range list.Items {
				list.Items[i].ManagedFields = nil
				list.Items[i].Status.Images = nil
				all = append(all, &list.Items[i])
			}
			return list.Continue, nil
		})
	return all, err
}

// NodeLease reads the heartbeat of a node's kubelet
// (https://kubernetes.io/docs/concepts/architecture/leases/#node-heart-beats).
func (c *Client) NodeLease(ctx context.Context, name string) (lease *coordinationv1.Lease, err error) {
	err = c.retry(ctx, request{verb: "get", resource: "leases", namespace: corev1.NamespaceNodeLease}, func(ctx context.Context) error {
		lease, err = c.leases.Leases(corev1.NamespaceNodeLease).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	return lease, err
}

// PlacedPods lists the Pods of all namespaces that have a node and have not ended: what takes room there.
func (c *Client) PlacedPods(ctx context.Context) ([]*corev1.Pod, error) {
	placed := fields.AndSelectors(unfinishedPods(), fields.OneTermNotEqualSelector("spec.nodeName", ""))
	pods, err := c.pods(ctx, metav1.NamespaceAll, metav1.ListOptions{FieldSelector: placed.String()})
	if err == nil && pods == nil { // none, which is not the same as not known
		pods = []*corev1.Pod{}
	}
	return pods, err
}

// Claim reads one PersistentVolumeClaim.
func (c *Client) Claim(ctx context.Context, namespace, name string) (claim *corev1.PersistentVolumeClaim, err error) {
	err = c.retry(ctx, request{verb: "get", resource: "persistentvolumeclaims", namespace: namespace}, func(ctx context.Context) error {
		claim, err = c.core.PersistentVolumeClaims(namespace).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	return claim, err
}

// ProbePod asks, with a dry run, whether the server would take the Pod that a Job's template makes. refusal is the
// server's answer when it says no.
func (c *Client) ProbePod(ctx context.Context, job *batchv1.Job) (refusal string, err error) {
	pod := &corev1.Pod{ObjectMeta: *job.Spec.Template.ObjectMeta.DeepCopy(), Spec: *job.Spec.Template.Spec.DeepCopy()}
	pod.Name, pod.GenerateName, pod.Namespace = "", job.Name+"-", job.Namespace
	err = c.retry(ctx, request{verb: "create", resource: "pods", namespace: job.Namespace}, func(ctx context.Context) error {
		_, err := c.core.Pods(job.Namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: dry(true)})
		return err
	})
	var status apierrors.APIStatus
	if !Denied(err) && errors.As(err, &status) {
		return status.Status().Message, nil
	}
	return "", err
}

// Workload is Kueue's record of a Job, as far as it is read here.
type Workload struct {
	Name       string
	Conditions []metav1.Condition
	Position   *int32 // in its LocalQueue, from 0; nil where the visibility API does not answer
}

// kueueVersions are the versions of Kueue's API in which a Workload has the fields read here, newest first.
func kueueVersions() []string { return []string{"v1beta2", "v1beta1"} }

// WorkloadOf finds the Workload that Kueue made for a Job. Nil when there is none, or no Kueue.
func (c *Client) WorkloadOf(ctx context.Context, job *batchv1.Job, queue string) (*Workload, error) {
	var list struct {
		Items []struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
			Status   struct {
				Conditions []metav1.Condition `json:"conditions"`
			} `json:"status"`
		} `json:"items"`
	}
	err := c.firstVersion(ctx, "workloads", "/apis/kueue.x-k8s.io/%s/namespaces/"+job.Namespace+"/workloads", &list)
	if err != nil {
		return nil, err
	}
	for _, item := range list.Items {
		if metav1.IsControlledBy(&item.Metadata, job) {
			w := &Workload{Name: item.Metadata.Name, Conditions: item.Status.Conditions}
			w.Position = c.queuePosition(ctx, job.Namespace, queue, w.Name)
			return w, nil
		}
	}
	return nil, nil //nolint:nilnil // documented: no Workload and no error
}

// queuePosition asks Kueue's visibility API, which need not be there
// (https://kueue.sigs.k8s.io/docs/tasks/manage/monitor_pending_workloads).
func (c *Client) queuePosition(ctx context.Context, namespace, queue, workload string) *int32 {
	var pending struct {
		Items []struct {
			Metadata metav1.ObjectMeta `json:"metadata"`
			Position int32             `json:"positionInLocalQueue"`
		} `json:"items"`
	}
	path := "/apis/visibility.kueue.x-k8s.io/%s/namespaces/" + namespace + "/localqueues/" + queue + "/pendingworkloads"
	if err := c.firstVersion(ctx, "pendingworkloads", path, &pending); err != nil {
		return nil
	}
	for _, item := range pending.Items {
		if item.Metadata.Name == workload {
			return &item.Position
		}
	}
	return nil
}

// firstVersion reads a path in the first version of Kueue's API that the server has; none is no error.
func (c *Client) firstVersion(ctx context.Context, resource, path string, into any) error {
	for _, version := range kueueVersions() {
		data, err := c.raw(ctx, request{verb: "get", resource: resource}, fmt.Sprintf(path, version), rawLimit)
		if NotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		if err := json.Unmarshal(data, into); err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
		return nil
	}
	return nil
}
