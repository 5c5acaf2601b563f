package watch

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/redact"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

const (
	extrasPause  = 5 * time.Second // between looks at what no watch brings
	deniedPause  = time.Minute     // the same, when something may not be read
	extrasBound  = 2 * time.Second // a look only explains: the verdict must not wait for it
	extrasEvents = 3               // Pods of a run whose events are read
	extrasRuns   = 4               // runs that are looked at in one go
	fewRuns      = 5               // up to how many runs events are read one by one; for more, of the whole namespace
	settling     = 5 * time.Second // a run that is younger explains itself
)

// extras are what explains runs and comes through no watch: events, nodes, claims. They are read only for runs whose
// Snapshot asks for them, and then in paces.
type extras struct {
	client *cluster.Client
	cached map[types.UID]extra
	left   int // how many more runs may be looked at in this go
	many   bool
	all    []corev1.Event // of the namespace, when there are many runs
	allAt  time.Time
}

// begin starts a go over some runs.
func (x *extras) begin(runs int) { x.left, x.many = extrasRuns, runs > fewRuns }

type extra struct {
	at time.Time
	s  status.Snapshot
}

// add completes a Snapshot.
func (x *extras) add(ctx context.Context, s *status.Snapshot) {
	uid := s.Job.UID
	wantsEvents, wants := status.WantsEvents(*s), status.Wants(*s)
	if !wantsEvents && wants.Objects() == 0 || s.At.Sub(s.Job.CreationTimestamp.Time) < settling {
		delete(x.cached, uid)
		return
	}
	last, known := x.cached[uid]
	pause := extrasPause
	if len(last.s.Unread) > 0 {
		pause = deniedPause
	}
	costs := !x.many || wants.Objects() > 0 // the namespace's events are read for all at once
	if known && s.At.Sub(last.at) < pause || costs && x.left == 0 {
		fill(s, last.s)
		return
	}
	if costs {
		x.left--
	}
	ctx, cancel := context.WithTimeout(ctx, extrasBound)
	defer cancel()
	fresh := *s
	if wantsEvents {
		fresh.Events, fresh.EventsHidden = x.events(ctx, *s)
		if fresh.Events == nil {
			fresh.Events = last.s.Events
		}
	}
	explainObjects(ctx, x.client, &fresh) // output is read at the end only
	if x.cached == nil {
		x.cached = map[types.UID]extra{}
	}
	x.cached[uid] = extra{at: s.At, s: fresh}
	fill(s, fresh)
}

// fill takes over what was read for an earlier Snapshot of the same run.
func fill(s *status.Snapshot, from status.Snapshot) {
	s.Events, s.EventsHidden = from.Events, from.EventsHidden
	s.Nodes, s.Leases, s.NodePods, s.Claims = from.Nodes, from.Leases, from.NodePods, from.Claims
	s.Probe, s.Queue, s.Related, s.Unread = from.Probe, from.Queue, from.Related, from.Unread
}

// events are those that explain a run: read for it alone, or for all runs of the namespace at once.
func (x *extras) events(ctx context.Context, s status.Snapshot) (events []corev1.Event, hidden bool) {
	if !x.many {
		return eventsFor(ctx, x.client, s)
	}
	if s.At.Sub(x.allAt) >= extrasPause {
		all, err := x.client.Events(ctx, s.Job.Namespace, "")
		if cluster.Denied(err) {
			return nil, true
		}
		if err == nil {
			redact.Events(all)
			x.all, x.allAt = all, s.At
		}
	}
	whole := s
	whole.Events = x.all
	return status.RelatedEvents(whole), false
}

// eventsFor reads the events of a Job and of the Pods that events explain, by uid. Without the right to it the cause
// stays unknown.
func eventsFor(ctx context.Context, c *cluster.Client, s status.Snapshot) (events []corev1.Event, hidden bool) {
	uids := []types.UID{s.Job.UID}
	pods := status.Owned(s)
	for _, pod := range slices.Backward(pods) {
		if pod.Status.Phase != corev1.PodSucceeded && len(uids) <= extrasEvents {
			uids = append(uids, pod.UID)
		}
	}
	for _, uid := range uids {
		list, err := c.Events(ctx, s.Job.Namespace, "involvedObject.uid="+string(uid))
		if cluster.Denied(err) {
			return nil, true
		}
		events = append(events, list...)
	}
	redact.Events(events)
	return events, false
}
