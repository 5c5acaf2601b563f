package commands

import (
	"context"
	"io"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// followJob prints output until the Job ends.
func (o *logsOptions) followJob(ctx context.Context, c *cluster.Client, job *batchv1.Job) error {
	run := &watch.Waited{Name: job.Name, Job: job, UID: job.UID}
	scope := cluster.Scope{Namespace: job.Namespace, Name: job.Name, Seed: job}
	waiter := &watch.Waiter{
		Client: c, RetryFor: o.app.retryFor,
		Changed: func(w *watch.Waited) {
			if w.Open() && w.Verdict.Phase != status.PhaseRunning {
				o.app.note("%s", render.State(w.Name, w.Verdict))
			}
		},
	}
	drain := o.app.streamLogs(ctx, c, waiter, o, o.app.Out, manySources(job))
	_, err := waiter.Wait(ctx, scope, []*watch.Waited{run})
	drain()
	if err != nil {
		return err
	}
	if !o.exitStatus {
		return nil
	}
	report := newWaitReport(o.app, "WaitResult", formatText)
	report.namespace = job.Namespace
	o.app.fetchOutput(ctx, c, []*watch.Waited{run})
	return report.done([]*watch.Waited{run}, nil, false)
}

// manySources tells whether a Job's output comes from several places even when nothing fails.
func manySources(job *batchv1.Job) bool {
	many := func(n *int32) bool { return n != nil && *n > 1 }
	return many(job.Spec.Parallelism) || many(job.Spec.Completions) || len(job.Spec.Template.Spec.Containers) > 1
}

// drainTime bounds how long the rest of the output may take once the result is known.
const drainTime = 10 * time.Second

// streamLogs prints the output of everything that waiter sees. The returned function waits, for a bounded time, until
// what was written so far is printed, and ends it.
func (a *app) streamLogs(ctx context.Context, c *cluster.Client, waiter *watch.Waiter, o *logsOptions, out io.Writer, many bool) func() {
	ctx, cancel := context.WithCancel(ctx)
	finish, done := make(chan struct{}), make(chan struct{})
	printer := o.printer(out, isTerminal(out))
	printer.Always = printer.Always || many
	var runs sync.Map // uids of the Jobs whose output is wanted; a namespace has others
	waiter.Pinned = func(uid types.UID) { runs.Store(uid, true) }
	wants := func(pod *corev1.Pod, container string) bool {
		owner := metav1.GetControllerOf(pod)
		if owner == nil {
			return false
		}
		_, ours := runs.Load(owner.UID)
		return ours && o.wants(pod, container)
	}
	started := false
	waiter.Observed = func(observer *cluster.Observer) {
		started = true
		follower := &cluster.LogFollower{
			Client: c, Observer: observer, Want: wants, Options: o.options(c.Now()), MaxStreams: o.maxStreams,
			Found: func(from cluster.LogSource) { printer.Expect(from.Pod, from.Container) },
			Emit: func(from cluster.LogSource, l cluster.LogLine) {
				printer.Print(from.Pod, from.Container, l.Time.UTC().Format(time.RFC3339Nano), l.Text)
			},
			Waiting: func(streams int) {
				a.note("more than %d containers: the others are printed as these end", streams)
			},
		}
		go func() {
			defer close(done)
			defer a.caught()
			follower.Follow(ctx, finish)
		}()
	}
	return func() {
		defer cancel()
		close(finish)
		if !started {
			return
		}
		select {
		case <-done:
		case <-ctx.Done():
			<-done
		case <-time.After(drainTime):
			cancel()
			<-done
		}
	}
}
