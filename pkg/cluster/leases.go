package cluster

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Lease reads a Lease, and makes an empty one with these labels when there is none.
func (c *Client) Lease(ctx context.Context, namespace, name string, labels map[string]string) (lease *coordinationv1.Lease, err error) {
	const rounds = 3 // it may vanish between "exists" and the next look
	for range rounds {
		err = c.retry(ctx, request{verb: "get", resource: "leases", namespace: namespace}, func(ctx context.Context) error {
			lease, err = c.leases.Leases(namespace).Get(ctx, name, metav1.GetOptions{})
			return err
		})
		if !apierrors.IsNotFound(err) {
			return lease, err
		}
		empty := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, Labels: labels}}
		err = c.retry(ctx, request{verb: "create", resource: "leases", namespace: namespace}, func(ctx context.Context) error {
			lease, err = c.leases.Leases(namespace).Create(ctx, empty, metav1.CreateOptions{FieldManager: manager})
			return err
		})
		if !apierrors.IsAlreadyExists(err) {
			return lease, err
		}
	}
	return lease, err
}

// HoldLease writes a holder. The Lease's resourceVersion guards it: whoever wrote it meanwhile makes it a conflict.
func (c *Client) HoldLease(ctx context.Context, lease *coordinationv1.Lease, holder string) (*coordinationv1.Lease, error) {
	held := lease.DeepCopy()
	now := metav1.NewMicroTime(c.Now())
	held.Spec.HolderIdentity, held.Spec.AcquireTime = &holder, &now
	transitions := int32(1)
	if n := lease.Spec.LeaseTransitions; n != nil {
		transitions += *n
	}
	held.Spec.LeaseTransitions = &transitions
	var made *coordinationv1.Lease
	err := c.retry(ctx, request{verb: "update", resource: "leases", namespace: lease.Namespace}, func(ctx context.Context) (err error) {
		made, err = c.leases.Leases(lease.Namespace).Update(ctx, held, metav1.UpdateOptions{FieldManager: manager})
		return err
	})
	return made, err
}

// MayHoldLeases asks whether the caller may read, make and write Leases: an *AccessError names the first right that is
// missing. An answer that does not come counts as yes.
func (c *Client) MayHoldLeases(ctx context.Context, namespace string) error {
	for _, verb := range []string{"get", "create", "update"} {
		r := request{verb: verb, resource: "leases", namespace: namespace}
		if c.mayNot(ctx, r) {
			return &AccessError{Verb: verb, Resource: r.String(), Namespace: namespace}
		}
	}
	return nil
}

// Leases lists Leases by label selector; namespace "" is all namespaces.
func (c *Client) Leases(ctx context.Context, namespace, selector string) ([]*coordinationv1.Lease, error) {
	var all []*coordinationv1.Lease
	err := c.pages(ctx, request{verb: "list", resource: "leases", namespace: namespace}, metav1.ListOptions{LabelSelector: selector},
		func() { all = nil },
		func(ctx context.Context, o metav1.ListOptions) (string, error) {
			list, err := c.leases.Leases(namespace).List(ctx, o)
			if err != nil {
				return "", err
			}
			for i := range list.Items {
				all = append(all, &list.Items[i])
			}
			return list.Continue, nil
		})
	return all, err
}

// DeleteLease deletes the given Lease as it was read: who wrote it meanwhile makes it a conflict.
func (c *Client) DeleteLease(ctx context.Context, lease *coordinationv1.Lease) error {
	return c.retry(ctx, request{verb: "delete", resource: "leases", namespace: lease.Namespace}, func(ctx context.Context) error {
		return c.leases.Leases(lease.Namespace).Delete(ctx, lease.Name, metav1.DeleteOptions{Preconditions: asRead(lease)})
	})
}
