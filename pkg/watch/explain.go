package watch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/redact"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// OutputLines is how many of a container's last lines explain a failure.
const OutputLines = 20

// Look reads what belongs to a Job: its Pods and the events of the namespace at the same time. What may not be read is left
// out, and the Snapshot says so.
func Look(ctx context.Context, c *cluster.Client, job *batchv1.Job) (status.Snapshot, error) {
	s := status.Snapshot{Job: job}
	var eventsErr error
	read := make(chan struct{})
	go func() {
		defer close(read)
		s.Events, eventsErr = c.Events(ctx, job.Namespace, "")
	}()
	pods, err := c.PodsLike(ctx, job)
	<-read
	s.Pods = pods
	switch {
	case cluster.Denied(err):
		s.PodsHidden = true
	case err != nil:
		return s, err
	}
	switch {
	case cluster.Denied(eventsErr):
		s.EventsHidden = true
	case eventsErr != nil:
		return s, eventsErr
	}
	redact.Events(s.Events)
	s.At = c.Now()
	return s, nil
}

// Explain completes a Snapshot with what status.Wants asks for, as far as the caller's rights and the time of ctx allow.
// What could not be read is named in Unread; it is never an error.
func Explain(ctx context.Context, c *cluster.Client, s *status.Snapshot) {
	explainObjects(ctx, c, s)
	if source := status.Wants(*s).Log; source != nil {
		s.Logs = append(s.Logs, tailOf(ctx, c, s.Job.Namespace, *source))
	}
}

// explainObjects is Explain without output.
func explainObjects(ctx context.Context, c *cluster.Client, s *status.Snapshot) {
	w := status.Wants(*s)
	e := &explaining{ctx: ctx, c: c, s: s}
	e.nodes(w)
	for _, name := range w.Claims {
		claim, err := c.Claim(ctx, s.Job.Namespace, name)
		if e.read("volume claims", err) {
			s.Claims = append(s.Claims, claim)
		}
	}
	if w.Related {
		related, err := relatedRuns(ctx, c, s.Job)
		if e.read("the runs that it waits for", err) {
			s.Related = related
		}
	}
	if w.Probe {
		refusal, err := c.ProbePod(ctx, s.Job)
		if e.read("a dry run of its Pod", err) {
			s.Probe = &status.Probe{Refusal: refusal}
		}
	}
	if w.Queue != "" {
		workload, err := c.WorkloadOf(ctx, s.Job, w.Queue)
		if e.read("Kueue's Workloads", err) && workload != nil {
			s.Queue = queueOf(workload)
		}
	}
}

// relatedRuns are the other runs that a held one waits for: of its group, and those that it depends on.
func relatedRuns(ctx context.Context, c *cluster.Client, job *batchv1.Job) ([]*batchv1.Job, error) {
	related := []*batchv1.Job{}
	holds, err := work.ParseHolds(job.Annotations[work.AnnotationHolds])
	if err != nil {
		return nil, err
	}
	for _, h := range holds {
		if h.On == nil || h.On.Job == "" {
			continue
		}
		run, err := c.Job(ctx, job.Namespace, h.On.Job)
		if err != nil && !cluster.NotFound(err) {
			return nil, err
		}
		if err == nil {
			related = append(related, run)
		}
	}
	slot, grouped := SlotOf(job)
	if !grouped {
		return related, nil
	}
	runs, err := slot.Runs(ctx, c)
	for i := range runs {
		if runs[i].UID != job.UID {
			related = append(related, &runs[i])
		}
	}
	return related, err
}

func tailOf(ctx context.Context, c *cluster.Client, namespace string, source status.LogSource) status.LogTail {
	lines, err := c.LogTail(ctx, namespace, source.Pod, source.Container, OutputLines, source.Previous)
	tail := status.LogTail{Pod: source.Pod, Container: source.Container, Lines: lines}
	if err != nil {
		tail.Error = err.Error()
	}
	return tail
}

// explaining is the state of one Explain.
type explaining struct {
	ctx context.Context //nolint:containedctx // lives as long as the call that made it
	c   *cluster.Client
	s   *status.Snapshot
}

// read tells whether a read worked. One that is not there is an answer, too; anything else is named as not read.
func (e *explaining) read(what string, err error) bool {
	switch {
	case err == nil:
		return true
	case cluster.NotFound(err):
		return false
	}
	if text := fmt.Sprintf("%s (%v)", what, cluster.Plain(err)); !slices.Contains(e.s.Unread, text) {
		e.s.Unread = append(e.s.Unread, text)
	}
	return false
}

// nodes reads all nodes and what takes their room, or those that look lost and their heartbeats.
func (e *explaining) nodes(w status.Wanted) {
	if w.AllNodes {
		nodes, err := e.c.Nodes(e.ctx)
		if !e.read("nodes", err) {
			return
		}
		e.s.Nodes = nodes
		pods, err := e.c.PlacedPods(e.ctx)
		if e.read("the Pods of other namespaces, for the nodes' free room", err) {
			e.s.NodePods = pods
		}
		return
	}
	for _, name := range w.Nodes {
		node, err := e.c.Node(e.ctx, name)
		if e.s.Nodes == nil && (err == nil || cluster.NotFound(err)) {
			e.s.Nodes = []*corev1.Node{} // looked for, if not found
		}
		if !e.read("nodes", err) {
			continue
		}
		e.s.Nodes = append(e.s.Nodes, node)
		lease, err := e.c.NodeLease(e.ctx, name)
		if e.read("the nodes' Leases", err) {
			e.s.Leases = append(e.s.Leases, lease)
		}
	}
}

// Conditions of Kueue's Workload (https://kueue.sigs.k8s.io/docs/concepts/workload).
const (
	conditionAdmitted      = "Admitted"
	conditionEvicted       = "Evicted"
	conditionQuotaReserved = "QuotaReserved"
)

// queueOf reads where a run stands out of its Workload's conditions: an eviction that is newer than the rest explains
// best, then why no quota is reserved.
func queueOf(w *cluster.Workload) *status.Queue {
	q := &status.Queue{Workload: w.Name, Position: w.Position}
	find := func(t string, s metav1.ConditionStatus) *metav1.Condition {
		for i := range w.Conditions {
			if c := &w.Conditions[i]; c.Type == t && c.Status == s {
				return c
			}
		}
		return nil
	}
	if find(conditionAdmitted, metav1.ConditionTrue) != nil {
		q.Admitted = true
		return q
	}
	for _, c := range []*metav1.Condition{
		find(conditionQuotaReserved, metav1.ConditionFalse), find(conditionEvicted, metav1.ConditionTrue), find(conditionAdmitted, metav1.ConditionFalse),
	} {
		if c != nil {
			q.Reason, q.Message = c.Reason, c.Message
			break
		}
	}
	return q
}

// taskStatusLimit bounds what a task may say about itself, in bytes; taskStatusTime how long it may take.
const (
	taskStatusLimit = 64 << 10
	taskStatusTime  = 3 * time.Second
)

// Usage adds what the containers of running Pods use.
func Usage(ctx context.Context, c *cluster.Client, s *status.Snapshot) {
	var running []*corev1.Pod
	for _, pod := range status.Owned(*s) {
		if pod.Status.Phase == corev1.PodRunning {
			running = append(running, pod)
		}
	}
	e := &explaining{ctx: ctx, c: c, s: s}
	used, err := c.UsageOf(ctx, s.Job.Namespace, running)
	if !e.read("usage", err) {
		return
	}
	for _, u := range used {
		s.Usage = append(s.Usage, status.Usage(u))
	}
}

// Tasks adds what the tasks in running Pods serve about themselves, at the port and path that their annotation names.
func Tasks(ctx context.Context, c *cluster.Client, s *status.Snapshot) {
	for _, pod := range status.Owned(*s) {
		from := pod.Annotations[work.AnnotationDebug]
		if from == "" || pod.Status.Phase != corev1.PodRunning {
			continue
		}
		task := status.TaskStatus{Pod: pod.Name, From: from}
		port, path, _ := strings.Cut(from, "/")
		bounded, cancel := context.WithTimeout(ctx, taskStatusTime)
		data, err := c.TaskStatus(bounded, pod, port, path, taskStatusLimit)
		cancel()
		if err != nil {
			task.Error = cluster.Plain(err).Error()
		} else {
			task.Text = redact.Text(string(data))
		}
		s.Tasks = append(s.Tasks, task)
	}
}
