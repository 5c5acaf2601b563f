package commands

import (
	"context"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// targets resolves what was asked for. missing tells of names that are not there, beside the others.
func (o *deleteOptions) targets(ctx context.Context, c *cluster.Client) (jobs []*batchv1.Job, missing []error, err error) {
	if o.selects() {
		jobs, err = selectJobs(ctx, c, nil, o.selector)
		switch {
		case exitCode(err) == CodeGone && o.narrow.filter().Given():
			return nil, nil, nil
		case exitCode(err) == CodeGone && o.all:
			return nil, nil, &codeError{Code: CodeGone, Err: fmt.Errorf("no Jobs in namespace %s", c.Namespace)}
		}
		return jobs, nil, err
	}
	names, err := jobNames(o.names)
	if err != nil {
		return nil, nil, err
	}
	if o.files.given() {
		documents, err := readDocuments(ctx, o.app, o.files, mapping.DecodeOptions{SkipOtherKinds: true})
		if err != nil {
			return nil, nil, err
		}
		var namespace string
		if names, namespace, err = namesOf(documents, c, o.app.Getenv(submitIDEnv)); err != nil {
			return nil, nil, err
		}
		c.Namespace = namespace
	}
	return findJobs(ctx, c, names)
}

// selects tells whether the Jobs were not chosen one by one: by labels, all, or all that a filter lets pass.
func (o *deleteOptions) selects() bool { return len(o.names) == 0 && !o.files.given() }

// agreed shows what a selection would delete and asks, unless --yes or a dry run. Names were chosen one by one: nobody
// is asked about those.
func (o *deleteOptions) agreed(ctx context.Context, c *cluster.Client, jobs []*batchv1.Job) error {
	if !o.selects() || o.yes || o.dryRun != "none" {
		return nil
	}
	if !isTerminal(o.app.In) {
		return refuse("this would delete %s in namespace %s, and there is no terminal to ask at; --yes does it, --dry-run=client lists them",
			count(len(jobs), "Job"), c.Namespace)
	}
	fmt.Fprint(o.app.Err, deletionText(jobs, c.Namespace, o.cascade, c.Now()))
	yes, err := o.app.confirm(ctx, "Delete?")
	switch {
	case err != nil:
		return err
	case !yes:
		return refuse("nothing was deleted")
	}
	return nil
}

// maxShown bounds the names in a question.
const maxShown = 20

// deletionText says what goes: names, where each stands, how old it is, and which still have Pods.
func deletionText(jobs []*batchv1.Job, namespace, cascade string, at time.Time) string {
	var b strings.Builder
	pods := "with their Pods"
	if cascade == cascadeOrphan {
		pods = "but not their Pods"
	}
	fmt.Fprintf(&b, "This deletes %s in namespace %s, %s:\n", count(len(jobs), "Job"), render.Line(namespace), pods)
	for i, job := range jobs {
		if i == maxShown {
			fmt.Fprintf(&b, "  and %d more\n", len(jobs)-maxShown)
			break
		}
		v := status.Of(status.Snapshot{Job: job, PodsHidden: true, At: at})
		text := fmt.Sprintf("  %s (%s, age %s", render.Line(job.Name), v.Phase, render.Age(job.CreationTimestamp.Time, at))
		if n := job.Status.Active; n > 0 {
			text += fmt.Sprintf(", %s active", count(int(n), "Pod"))
		}
		fmt.Fprintln(&b, text+")")
	}
	return b.String()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// tellOrphans names the Pods that stay: nothing will ever clean them up.
func (o *deleteOptions) tellOrphans(ctx context.Context, c *cluster.Client, jobs []*batchv1.Job) {
	for _, job := range jobs {
		pods, err := c.PodsOf(ctx, job)
		if err != nil {
			o.app.note("the Pods of job/%s that stay cannot be listed: %v", job.Name, err)
			continue
		}
		for _, pod := range pods {
			o.app.note("pod/%s of job/%s stays (%s)", pod.Name, job.Name, pod.Status.Phase)
		}
	}
}

// delete sends the requests. One that is refused does not stop the others; a server that is out of reach, missing rights
// and an interrupt do.
func (o *deleteOptions) delete(ctx context.Context, c *cluster.Client, jobs []*batchv1.Job) (deleted []*batchv1.Job, problems []error) {
	for _, job := range jobs {
		var err error
		if o.dryRun != "client" {
			err = c.DeleteJob(ctx, job, propagations()[o.cascade], o.dryRun == "server")
		}
		switch code := exitCode(err); {
		case err == nil:
			deleted = append(deleted, job)
			fmt.Fprintln(o.app.Out, o.line("job.batch", job))
			continue
		case ctx.Err() != nil, code == CodeUnreachable, code == CodeAccess:
			return deleted, append(problems, err)
		}
		problems = append(problems, fmt.Errorf("job/%s: %w", job.Name, err))
	}
	return deleted, problems
}

// line is the answer about one object, in kubectl's words.
func (o *deleteOptions) line(kind string, object metav1.Object) string {
	if o.output == formatName {
		return kind + "/" + render.Line(object.GetName())
	}
	text := fmt.Sprintf("%s %q deleted from %s namespace", kind, object.GetName(), object.GetNamespace())
	switch o.dryRun {
	case "client":
		text += " (dry run)"
	case "server":
		text += " (server dry run)"
	}
	return text
}
