package watch

import (
	"context"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Resolve finds out which run each dependency of a document means: wanted is the Job that it becomes, same are the runs that
// the same call made for some of them, nil elsewhere, and runs are those of a Work by its name. again says that the document
// has run before: the newest run will do then, whether it has ended or not.
func Resolve(w *v1beta2.Work, wanted *batchv1.Job, same []*batchv1.Job, runs map[string][]batchv1.Job, again bool) ([]work.Dependency, []error) {
	all := mapping.Dependencies(w)
	var problems []error
	for i := range all {
		asked := &w.Spec.DependsOn[i]
		run, err := same[i], error(nil)
		if run == nil {
			run, err = resolveOne(&all[i], asked, runs[asked.Work], again)
		}
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("spec.dependsOn[%d]: %w", i, err))
		case run != nil && run.Labels[work.LabelTenant] != wanted.Labels[work.LabelTenant]:
			problems = append(problems, fmt.Errorf("spec.dependsOn[%d]: job/%s belongs to another tenant (%s)", i, run.Name, tenantOf(run)))
		case run != nil:
			all[i].Job, all[i].UID = run.Name, run.UID
		}
	}
	return all, problems
}

func tenantOf(run *batchv1.Job) string {
	if t := run.Labels[work.LabelTenant]; t != "" {
		return t
	}
	return "none"
}

// resolveOne chooses among the runs that are there. nil without an error: the run is to come.
func resolveOne(d *work.Dependency, asked *v1beta2.Dependency, runs []batchv1.Job, again bool) (*batchv1.Job, error) {
	byNumber := ofWork(runs, asked.Work)
	var newest *batchv1.Job
	if len(byNumber) > 0 {
		newest = byNumber[len(byNumber)-1]
	}
	const next = "run: next"
	switch word := asked.Run; {
	case word != nil && word.String() == v1beta2.RunNext:
		if newest != nil {
			d.After = mapping.RunNumber(newest)
		}
		return nil, nil
	case newest == nil:
		return nil, fmt.Errorf("there are no runs of Work %s; submit it first or in the same call, or wait for its first run with %s", asked.Work, next)
	case word == nil && status.Ended(newest) && !again:
		return nil, fmt.Errorf("all runs of Work %s have ended (the newest is job/%s); say which is meant: run: latest, or %s", asked.Work, newest.Name, next)
	case word == nil, word.String() == v1beta2.RunLatest:
		return newest, nil
	}
	for _, run := range byNumber {
		if fmt.Sprint(mapping.RunNumber(run)) == asked.Run.String() {
			return run, nil
		}
	}
	return nil, fmt.Errorf("there is no run %[2]s of Work %[1]s; the newest is job/%[3]s", asked.Work, asked.Run, newest.Name)
}

// ofWork are the runs of a Work in the order of their numbers. A Job that somebody else made counts under its own name.
func ofWork(runs []batchv1.Job, name string) []*batchv1.Job {
	var out []*batchv1.Job
	for i := range runs {
		if run := &runs[i]; mapping.WorkName(run) == name && (mapping.Ours(run) || run.Name == name) {
			out = append(out, run)
		}
	}
	slices.SortStableFunc(out, func(a, b *batchv1.Job) int { return mapping.RunNumber(a) - mapping.RunNumber(b) })
	return out
}

// Met is where a dependency stands. The zero value is open.
type Met struct {
	Run    *batchv1.Job // the run that is meant, as soon as it is there
	Gone   bool         // the run that was meant is not there any more
	Ended  status.Outcome
	Inputs map[string]string // by environment variable, once it has ended
	Lack   string            // why there are none
}

// DecideDependency says what a dependency means for the run that waits for it: satisfied, or why it never can be.
func DecideDependency(d work.Dependency, m Met) (satisfied bool, reason, message string) {
	name := "job/" + d.Job
	if d.Job == "" && m.Run != nil {
		name = "job/" + m.Run.Name
	}
	want := v1beta2.DependencyOutcome(d.Outcome)
	switch {
	case m.Ended == status.OutcomeNone && m.Gone:
		return false, work.ReasonDependencyLost, name + " is gone, and nobody saw how it ended"
	case m.Ended == status.OutcomeNone:
		return false, "", ""
	case want == v1beta2.DependencySucceeded && m.Ended != status.OutcomeSucceeded, want == v1beta2.DependencyFailed && m.Ended != status.OutcomeFailed:
		return false, work.ReasonDependencyFailed, fmt.Sprintf("%s ended %s, and %s was waited for", name, m.Ended, want)
	case m.Lack != "":
		return false, work.ReasonDependencyFailed, fmt.Sprintf("%s ended %s, but %s", name, m.Ended, m.Lack)
	}
	return true, "", ""
}

// meet reads where a dependency stands.
func meet(ctx context.Context, c *cluster.Client, run *batchv1.Job, d work.Dependency) (m Met, err error) {
	if d.UID == "" {
		m.Run, err = firstAfter(ctx, c, run, d)
	} else {
		m.Run, err = c.Job(ctx, run.Namespace, d.Job)
	}
	switch {
	case cluster.NotFound(err), err == nil && d.UID != "" && m.Run.UID != d.UID:
		m.Run, m.Gone = nil, true
		m.Ended = byEvents(ctx, c, run.Namespace, d)
		if m.Ended != status.OutcomeNone && len(d.Inputs) > 0 {
			m.Lack = "it is cleaned up, and its output with it"
		}
		return m, nil
	case err != nil || m.Run == nil:
		return m, err
	}
	switch v := judge(m.Run, c.Now()); v.Phase { //nolint:exhaustive // the others have not ended
	case status.PhaseSucceeded:
		m.Ended = status.OutcomeSucceeded
	case status.PhaseFailed:
		m.Ended = status.OutcomeFailed
	}
	if m.Ended != status.OutcomeNone && len(d.Inputs) > 0 {
		pods, err := c.PodsOf(ctx, m.Run)
		if err != nil {
			return m, err
		}
		m.Inputs, m.Lack = inputs(d, pods, m.Ended)
	}
	return m, nil
}

// firstAfter is the first run of a Work that came after another one waited for it.
func firstAfter(ctx context.Context, c *cluster.Client, run *batchv1.Job, d work.Dependency) (*batchv1.Job, error) {
	runs, err := c.Jobs(ctx, run.Namespace, work.LabelWork+"="+mapping.LabelValue(d.Work))
	if err != nil {
		return nil, err
	}
	for _, other := range ofWork(runs, d.Work) {
		if mapping.RunNumber(other) > d.After && other.UID != run.UID && other.Labels[work.LabelTenant] == run.Labels[work.LabelTenant] {
			return other, nil
		}
	}
	return nil, nil
}

// byEvents is the end of a Job that is gone, as far as events tell: only success has an event of its own.
func byEvents(ctx context.Context, c *cluster.Client, namespace string, d work.Dependency) status.Outcome {
	events, err := c.Events(ctx, namespace, "involvedObject.uid="+string(d.UID))
	if err == nil && slices.ContainsFunc(events, func(e corev1.Event) bool { return e.Reason == "Completed" }) {
		return status.OutcomeSucceeded
	}
	return status.OutcomeNone
}

// inputs are the values that a run hands on: what the newest of its Pods that ended like the run left as its termination
// message (https://kubernetes.io/docs/tasks/debug/debug-application/determine-reason-pod-failure).
func inputs(d work.Dependency, pods []*corev1.Pod, ended status.Outcome) (values map[string]string, lack string) {
	phase := corev1.PodSucceeded
	if ended == status.OutcomeFailed {
		phase = corev1.PodFailed
	}
	var newest *corev1.Pod
	for _, pod := range pods {
		if pod.Status.Phase == phase && (newest == nil || newest.CreationTimestamp.Before(&pod.CreationTimestamp)) {
			newest = pod
		}
	}
	if newest == nil {
		return nil, "its Pods are gone, and their termination messages with them"
	}
	message := ""
	for _, st := range newest.Status.ContainerStatuses {
		if t := st.State.Terminated; t != nil && message == "" {
			message = strings.TrimSpace(t.Message)
		}
	}
	if message == "" {
		return nil, fmt.Sprintf("pod %s left no termination message (terminationMessagePath)", newest.Name)
	}
	values = map[string]string{}
	for name := range d.Inputs {
		values[name] = message
	}
	return values, ""
}
