package commands

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

// jobName reads an argument: NAME, or a kind that means a Job and a name: job/NAME, jobs.batch/NAME, work/NAME.
func jobName(arg string) (string, error) {
	kind, name, found := strings.Cut(arg, "/")
	if !found {
		kind, name = "job", arg
	}
	switch strings.ToLower(kind) {
	case "job", "jobs", "job.batch", "jobs.batch", "jobs.v1.batch", "work", "works":
	default:
		return "", refuse("%q: %q is not a kind that this command knows; give NAME or job/NAME", arg, kind)
	}
	if wrong := validation.IsDNS1123Subdomain(name); len(wrong) > 0 {
		why, _, _ := strings.Cut(wrong[0], " (e.g.")
		return "", refuse("%q is not the name of a Job: %s; give NAME or job/NAME", arg, why)
	}
	return name, nil
}

// checkSelector refuses a label selector that cannot be read.
func checkSelector(text string) error {
	if _, err := labels.Parse(text); err != nil {
		return refuse("-l %q is not a label selector (%w); write it like app=etl,tier!=test", text, err)
	}
	return nil
}

func jobNames(args []string) ([]string, error) {
	var names []string
	for _, arg := range args {
		name, err := jobName(arg)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// findJob resolves a name: the Job of exactly that name, else the newest run of that Work.
func findJob(ctx context.Context, c *cluster.Client, namespace, name string) (*batchv1.Job, error) {
	job, err := c.Job(ctx, namespace, name)
	if !cluster.NotFound(err) {
		return job, err
	}
	runs, err := c.Jobs(ctx, namespace, work.LabelWork+"="+mapping.LabelValue(name))
	if err != nil {
		return nil, err
	}
	if newest := newestRun(runs, name); newest != nil {
		return newest, nil
	}
	return nil, notFound(c, namespace, name)
}

// findRun resolves the run of a Work with a number; 0 asks for what findJob finds.
func findRun(ctx context.Context, c *cluster.Client, namespace, name string, number int) (*batchv1.Job, error) {
	if number == 0 {
		return findJob(ctx, c, namespace, name)
	}
	runs, err := c.Jobs(ctx, namespace, work.LabelWork+"="+mapping.LabelValue(name))
	if err != nil {
		return nil, err
	}
	for i := range runs {
		if job := &runs[i]; mapping.Ours(job) && mapping.WorkName(job) == name && mapping.RunNumber(job) == number {
			return job, nil
		}
	}
	return nil, &codeError{Code: CodeGone, Err: fmt.Errorf("no run %d of Work %q in namespace %s", number, name, namespace)}
}

// newestRun is the run of a Work with the highest number; nil when it has none.
func newestRun(jobs []batchv1.Job, name string) *batchv1.Job {
	var newest *batchv1.Job
	for i := range jobs {
		job := &jobs[i]
		if !mapping.Ours(job) || mapping.WorkName(job) != name {
			continue
		}
		if newest == nil || mapping.RunNumber(job) > mapping.RunNumber(newest) {
			newest = job
		}
	}
	return newest
}

// selected connects and resolves the arguments of a command that works on Jobs by name or by label selector.
func (a *app) selected(ctx context.Context, args []string, selector string) (*cluster.Client, []*batchv1.Job, error) {
	names, err := jobNames(args)
	if err := errors.Join(err, checkSelector(selector)); err != nil {
		return nil, nil, err
	}
	client, err := a.client()
	if err != nil {
		return nil, nil, err
	}
	jobs, err := selectJobs(ctx, client, names, selector)
	return client, jobs, err
}

// selectJobs resolves names, or a label selector, to Jobs. All names that are not there are told at once.
func selectJobs(ctx context.Context, c *cluster.Client, names []string, selector string) ([]*batchv1.Job, error) {
	var jobs []*batchv1.Job
	if len(names) == 0 {
		list, err := c.Jobs(ctx, c.Namespace, selector)
		if err != nil {
			return nil, err
		}
		if len(list) == 0 {
			return nil, &codeError{Code: CodeGone, Err: fmt.Errorf("no Job with labels %q in namespace %s", selector, c.Namespace)}
		}
		for i := range list {
			jobs = append(jobs, &list[i])
		}
		return jobs, nil
	}
	var errs []error
	for _, name := range names {
		job, err := findJob(ctx, c, c.Namespace, name)
		switch {
		case err == nil:
			jobs = append(jobs, job)
		case exitCode(err) == CodeGone:
			errs = append(errs, err)
		default:
			return nil, err
		}
	}
	if len(errs) > 0 {
		return nil, &codeError{Code: CodeGone, Err: errors.Join(errs...)}
	}
	return jobs, nil
}
