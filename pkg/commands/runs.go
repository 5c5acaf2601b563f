package commands

import (
	"context"
	"errors"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
)

// listed is what was read for a list.
type listed struct {
	jobs       []*batchv1.Job
	pods       map[types.UID][]*corev1.Pod // by their Job
	podsHidden bool
}

// read gets the Jobs and their Pods. missing tells of names that are not there, beside the others.
func (o *listOptions) read(ctx context.Context, c *cluster.Client, names []string) (found listed, missing, err error) {
	if len(names) > 0 {
		return readNamed(ctx, c, names)
	}
	namespace := c.Namespace
	if o.all {
		namespace = metav1.NamespaceAll
	}
	found, err = o.app.readRuns(ctx, c, namespace, o.selector, o.output == formatWide)
	return found, nil, err
}

// readRuns lists Jobs and living Pods at the same time: two round trips become one. Pods that have ended do not change a
// phase and are most of what a namespace holds; they only tell causes, which every asks for.
func (a *app) readRuns(ctx context.Context, c *cluster.Client, namespace, selector string, every bool) (listed, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		jobs             []batchv1.Job
		pods             []*corev1.Pod
		jobsErr, podsErr error
		both             sync.WaitGroup
	)
	both.Go(func() {
		defer a.caught()
		if jobs, jobsErr = c.Jobs(ctx, namespace, selector); jobsErr != nil {
			cancel() // without Jobs nobody wants the Pods
		}
	})
	both.Go(func() {
		defer a.caught()
		if every {
			pods, podsErr = c.AllPods(ctx, namespace)
			return
		}
		pods, podsErr = c.LivePods(ctx, namespace)
	})
	both.Wait()
	found := listed{pods: byOwner(pods), podsHidden: cluster.Denied(podsErr)}
	for i := range jobs {
		found.jobs = append(found.jobs, &jobs[i])
	}
	switch {
	case jobsErr != nil:
		return found, jobsErr
	case podsErr != nil && !found.podsHidden:
		return found, podsErr
	}
	return found, nil
}

// caught ends the command when its goroutine panics, instead of the process.
func (a *app) caught() {
	if value := recover(); value != nil {
		a.crash(value)
	}
}

func readNamed(ctx context.Context, c *cluster.Client, names []string) (found listed, missing, err error) {
	found.pods = map[types.UID][]*corev1.Pod{}
	jobs, gone, err := findJobs(ctx, c, names)
	if err != nil {
		return found, nil, err
	}
	found.jobs = jobs
	for _, job := range jobs {
		pods, err := c.PodsOf(ctx, job)
		if cluster.Denied(err) {
			found.podsHidden = true
			break
		}
		if err != nil {
			return found, nil, err
		}
		found.pods[job.UID] = pods
	}
	return found, together(gone), nil
}

// findJobs resolves names, each to one Job and no Job twice. missing has an error for each name that is not there.
func findJobs(ctx context.Context, c *cluster.Client, names []string) (jobs []*batchv1.Job, missing []error, err error) {
	for _, name := range names {
		job, err := findJob(ctx, c, c.Namespace, name)
		switch {
		case exitCode(err) == CodeGone:
			missing = append(missing, err)
		case err != nil:
			return nil, nil, err
		case !slices.ContainsFunc(jobs, func(other *batchv1.Job) bool { return other.UID == job.UID }): // not a Work beside its run
			jobs = append(jobs, job)
		}
	}
	return jobs, missing, nil
}

// together makes one error of several; its code is the worst of theirs.
func together(problems []error) error {
	if len(problems) == 0 {
		return nil
	}
	var codes []Code
	for _, err := range problems {
		codes = append(codes, exitCode(err))
	}
	return &codeError{Code: worst(codes), Err: errors.Join(problems...)}
}

func byOwner(pods []*corev1.Pod) map[types.UID][]*corev1.Pod {
	owned := map[types.UID][]*corev1.Pod{}
	for _, pod := range pods {
		if ref := metav1.GetControllerOf(pod); ref != nil {
			owned[ref.UID] = append(owned[ref.UID], pod)
		}
	}
	return owned
}
