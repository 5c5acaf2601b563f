package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	authenticationv1 "k8s.io/api/authentication/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
)

// pageSize is how many objects one answer of a list holds at most, as in kubectl.
const pageSize = 500

// Job reads one Job.
func (c *Client) Job(ctx context.Context, namespace, name string) (job *batchv1.Job, err error) {
	err = c.retry(ctx, request{verb: "get", resource: "jobs", namespace: namespace}, func(ctx context.Context) error {
		job, err = c.batch.Jobs(namespace).Get(ctx, name, metav1.GetOptions{})
		return err
	})
	return job, err
}

// Jobs lists Jobs by label selector, page by page; namespace "" is all namespaces. managedFields are dropped.
func (c *Client) Jobs(ctx context.Context, namespace, selector string) ([]batchv1.Job, error) {
	var all []batchv1.Job
	err := c.pages(ctx, request{verb: "list", resource: "jobs", namespace: namespace}, metav1.ListOptions{LabelSelector: selector},
		func() { all = nil },
		func(ctx context.Context, o metav1.ListOptions) (string, error) {
			list, err := c.batch.Jobs(namespace).List(ctx, o)
			if err != nil {
				return "", err
			}
			for i := range list.Items {
				list.Items[i].ManagedFields = nil
			}
			all = append(all, list.Items...)
			return list.Continue, nil
		})
	return all, err
}

// LivePods lists the Pods of a namespace that have not ended; namespace "" is all namespaces.
func (c *Client) LivePods(ctx context.Context, namespace string) ([]*corev1.Pod, error) {
	return c.pods(ctx, namespace, metav1.ListOptions{FieldSelector: unfinishedPods().String()})
}

// AllPods lists the Pods of a namespace; namespace "" is all namespaces.
func (c *Client) AllPods(ctx context.Context, namespace string) ([]*corev1.Pod, error) {
	return c.pods(ctx, namespace, metav1.ListOptions{})
}

// PodsWith lists the Pods that a label selector matches.
func (c *Client) PodsWith(ctx context.Context, namespace, selector string) ([]*corev1.Pod, error) {
	return c.pods(ctx, namespace, metav1.ListOptions{LabelSelector: selector})
}

func unfinishedPods() fields.Selector {
	return fields.AndSelectors(
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
		fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)))
}

// PodsOf lists the Pods that a Job controls, of all its tries that are still there. Labels only narrow the list; the
// controller reference decides.
func (c *Client) PodsOf(ctx context.Context, job *batchv1.Job) ([]*corev1.Pod, error) {
	pods, err := c.PodsLike(ctx, job)
	if err != nil {
		return nil, err
	}
	var ours []*corev1.Pod
	for _, pod := range pods {
		if metav1.IsControlledBy(pod, job) {
			ours = append(ours, pod)
		}
	}
	return ours, nil
}

// PodsLike lists the Pods that a Job's selector matches, those of others included: with a selector of its own making a Job
// may meet some.
func (c *Client) PodsLike(ctx context.Context, job *batchv1.Job) ([]*corev1.Pod, error) {
	selector, err := podSelector(job)
	if err != nil {
		return nil, err
	}
	return c.pods(ctx, job.Namespace, metav1.ListOptions{LabelSelector: selector})
}

func podSelector(job *batchv1.Job) (string, error) {
	selector, err := metav1.LabelSelectorAsSelector(job.Spec.Selector)
	if err != nil {
		return "", fmt.Errorf("selector of job/%s: %w", job.Name, err)
	}
	return selector.String(), nil
}

func (c *Client) pods(ctx context.Context, namespace string, o metav1.ListOptions) ([]*corev1.Pod, error) {
	var all []*corev1.Pod
	err := c.pages(ctx, request{verb: "list", resource: "pods", namespace: namespace}, o,
		func() { all = nil },
		func(ctx context.Context, o metav1.ListOptions) (string, error) {
			list, err := c.core.Pods(namespace).List(ctx, o)
			if err != nil {
				return "", err
			}
			for i := range list.Items {
				list.Items[i].ManagedFields = nil
				all = append(all, &list.Items[i])
			}
			return list.Continue, nil
		})
	return all, err
}

// Events lists events of a namespace; fieldSelector may narrow them ("involvedObject.uid=…").
func (c *Client) Events(ctx context.Context, namespace, fieldSelector string) ([]corev1.Event, error) {
	var all []corev1.Event
	err := c.pages(ctx, request{verb: "list", resource: "events", namespace: namespace}, metav1.ListOptions{FieldSelector: fieldSelector},
		func() { all = nil },
		func(ctx context.Context, o metav1.ListOptions) (string, error) {
			list, err := c.core.Events(namespace).List(ctx, o)
			if err != nil {
				return "", err
			}
			all = append(all, list.Items...)
			return list.Continue, nil
		})
	return all, err
}

// pages walks a paged list. When the server forgets where it was (410), the list starts over, once more from reset.
func (c *Client) pages(ctx context.Context, r request, o metav1.ListOptions, reset func(), page func(context.Context, metav1.ListOptions) (string, error)) error {
	o.Limit = pageSize
	for restarts := 0; ; {
		var next string
		err := c.retry(ctx, r, func(ctx context.Context) (err error) {
			next, err = page(ctx, o)
			return err
		})
		switch {
		case apierrors.IsResourceExpired(err) && o.Continue != "" && restarts < 3:
			restarts++
			o.Continue = ""
			reset()
			continue
		case err != nil:
			return err
		case next == "":
			return nil
		}
		o.Continue = next
	}
}

// User is the caller's user name as the API server sees it, "" when it does not tell. It is asked once, without
// retries: nothing depends on it.
func (c *Client) User(ctx context.Context) string {
	review, err := c.authn.SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	if err != nil {
		return ""
	}
	return review.Status.UserInfo.Username
}

// PatchJob sends a merge patch. The patch must name the resourceVersion (or carry a uid) that it was decided on, so
// that repeating it changes nothing twice.
func (c *Client) PatchJob(ctx context.Context, namespace, name string, patch []byte, dryRun bool) (job *batchv1.Job, err error) {
	err = c.retry(ctx, request{verb: "patch", resource: "jobs", namespace: namespace}, func(ctx context.Context) error {
		job, err = c.batch.Jobs(namespace).Patch(ctx, name, types.MergePatchType, patch,
			metav1.PatchOptions{FieldManager: manager, FieldValidation: metav1.FieldValidationStrict, DryRun: dry(dryRun)})
		return err
	})
	return job, err
}

// RemoveFinalizer takes one finalizer off a Job, and touches nothing else: tests in the patch (RFC 6902) hold the Job to its uid
// and the list to what was read. When either is another, or the finalizer is gone, it is a conflict.
func (c *Client) RemoveFinalizer(ctx context.Context, job *batchv1.Job, finalizer string) (left *batchv1.Job, err error) {
	i := slices.Index(job.Finalizers, finalizer)
	if i < 0 {
		return job, nil
	}
	at := fmt.Sprintf("/metadata/finalizers/%d", i)
	patch, err := json.Marshal([]map[string]any{
		{"op": "test", "path": "/metadata/uid", "value": job.UID}, {"op": "test", "path": at, "value": finalizer}, {"op": "remove", "path": at},
	})
	if err != nil {
		return nil, fmt.Errorf("encode patch: %w", err)
	}
	err = c.retry(ctx, request{verb: "patch", resource: "jobs", namespace: job.Namespace}, func(ctx context.Context) error {
		left, err = c.batch.Jobs(job.Namespace).Patch(ctx, job.Name, types.JSONPatchType, patch, metav1.PatchOptions{FieldManager: manager})
		return err
	})
	if apierrors.IsInvalid(err) { // a test failed
		return nil, apierrors.NewConflict(batchv1.Resource("jobs"), job.Name, err)
	}
	return left, err
}

// DeleteJob deletes exactly the given Job with its Pods; propagation says in which order. A Job that is already gone,
// or another one of its name, is no error: the one that was meant is gone.
func (c *Client) DeleteJob(ctx context.Context, job *batchv1.Job, propagation metav1.DeletionPropagation, dryRun bool) (err error) {
	const rounds = 3 // of a conflict that is not about the uid
	for range rounds {
		err = c.retry(ctx, request{verb: "delete", resource: "jobs", namespace: job.Namespace}, func(ctx context.Context) error {
			return c.batch.Jobs(job.Namespace).Delete(ctx, job.Name, metav1.DeleteOptions{
				Preconditions: metav1.NewUIDPreconditions(string(job.UID)), PropagationPolicy: &propagation, DryRun: dry(dryRun),
			})
		})
		if !apierrors.IsConflict(err) {
			return ignoreNotFound(err)
		}
		now, getErr := c.Job(ctx, job.Namespace, job.Name)
		if getErr != nil || now.UID != job.UID {
			return ignoreNotFound(getErr)
		}
	}
	return err
}

func dry(on bool) []string {
	if on {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// NotFound tells whether err says that an object is not there.
func NotFound(err error) bool { return apierrors.IsNotFound(err) }

// Conflict tells whether err says that a precondition of a write did not hold.
func Conflict(err error) bool { return apierrors.IsConflict(err) }

// Denied tells whether err says that the caller lacks a right. Callers use it where a right is not needed for the main
// thing.
func Denied(err error) bool {
	var access *AccessError
	return errors.As(err, &access) && access.Verb != ""
}
