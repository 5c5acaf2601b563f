package cluster

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Remains is what is still there of a Job that is being deleted.
type Remains struct {
	Was  *batchv1.Job  // as it was before
	Job  *batchv1.Job  // as it is, nil when it is gone (or another one has its name)
	Pods []*corev1.Pod // those that it controls, ended ones too
}

// Gone tells whether nothing is left.
func (r Remains) Gone() bool { return r.Job == nil && len(r.Pods) == 0 }

// fewJobs is up to how many Jobs are looked at one by one; for more, two lists of the namespace cost less.
const fewJobs = 5

// Remaining looks at what is left of Jobs of one namespace. Pods that the caller may not list count as gone: hidden then
// says so.
func (c *Client) Remaining(ctx context.Context, namespace string, jobs []*batchv1.Job) (left []Remains, hidden bool, err error) {
	look := c.remainingOfNamespace
	if len(jobs) <= fewJobs {
		look = c.remainingOneByOne
	}
	all, hidden, err := look(ctx, namespace, jobs)
	for _, r := range all {
		if !r.Gone() {
			left = append(left, r)
		}
	}
	return left, hidden, err
}

func (c *Client) remainingOneByOne(ctx context.Context, namespace string, jobs []*batchv1.Job) (all []Remains, hidden bool, err error) {
	for _, was := range jobs {
		r := Remains{Was: was}
		job, err := c.Job(ctx, namespace, was.Name)
		switch {
		case err == nil && job.UID == was.UID:
			r.Job = job
		case err != nil && !NotFound(err):
			return nil, hidden, err
		}
		if !hidden {
			r.Pods, err = c.PodsOf(ctx, was)
			if hidden = Denied(err); err != nil && !hidden {
				return nil, hidden, err
			}
		}
		all = append(all, r)
	}
	return all, hidden, nil
}

func (c *Client) remainingOfNamespace(ctx context.Context, namespace string, jobs []*batchv1.Job) (all []Remains, hidden bool, err error) {
	list, err := c.Jobs(ctx, namespace, "")
	if err != nil {
		return nil, false, err
	}
	there := map[types.UID]*batchv1.Job{}
	for i := range list {
		there[list[i].UID] = &list[i]
	}
	pods, err := c.pods(ctx, namespace, metav1.ListOptions{})
	if hidden = Denied(err); err != nil && !hidden {
		return nil, hidden, err
	}
	owned := map[types.UID][]*corev1.Pod{}
	for _, pod := range pods {
		if ref := metav1.GetControllerOf(pod); ref != nil {
			owned[ref.UID] = append(owned[ref.UID], pod)
		}
	}
	for _, was := range jobs {
		all = append(all, Remains{Was: was, Job: there[was.UID], Pods: owned[was.UID]})
	}
	return all, hidden, nil
}
