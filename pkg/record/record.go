// Package record is the flight recorder: what was seen of runs over time, as lines of JSON that can be replayed without
// a cluster, attached to a bug report, or used as a test.
//
// It owns the format. A recording is redacted when it is written (package redact), never when it is read. It reads no
// clock and touches no file: writers, readers and times come in.
//
// Format, kubectl-work.dev/record/v1: the first line is {apiVersion, kind: Recording, at}. Every other line is one Entry:
// what changed since the line before it of the same run. A last line that is cut off, by a kill, is passed over.
package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/redact"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Version is the apiVersion of a recording.
const Version = work.Group + "/record/v1"

const kind = "Recording"

// Header is the first line.
type Header struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	At         time.Time `json:"at"`
}

// Entry is one line: what changed for a run.
type Entry struct {
	At      time.Time        `json:"at"`
	Run     types.UID        `json:"run"`
	Job     *batchv1.Job     `json:"job,omitempty"`
	Pods    []*corev1.Pod    `json:"pods,omitempty"` // new or changed
	Gone    []types.UID      `json:"gone,omitempty"` // Pods that are not there any more
	Events  []corev1.Event   `json:"events,omitempty"`
	Around  *status.Snapshot `json:"around,omitempty"` // everything else of the Snapshot, whole
	Deleted bool             `json:"deleted,omitempty"`
}

// Writer records Snapshots.
type Writer struct {
	out     io.Writer
	begun   bool
	last    map[types.UID]*state
	failure error
}

// state is what the lines so far say about a run.
type state struct {
	job     string // resourceVersion
	pods    map[types.UID]string
	events  map[string]string // resourceVersion by name
	around  []byte
	deleted bool
}

// NewWriter records to out.
func NewWriter(out io.Writer) *Writer { return &Writer{out: out, last: map[types.UID]*state{}} }

// Err is the first error of a write; nothing is written after it.
func (w *Writer) Err() error { return w.failure }

// Add records what changed since the last Snapshot of the same run.
func (w *Writer) Add(s status.Snapshot) {
	if w.failure != nil {
		return
	}
	s.Events = status.RelatedEvents(s) // those of others are not ours to keep
	if !w.begun {
		w.begun = true
		w.line(Header{APIVersion: Version, Kind: kind, At: s.At})
	}
	was := w.last[s.Job.UID]
	if was == nil {
		was = &state{pods: map[types.UID]string{}, events: map[string]string{}}
		w.last[s.Job.UID] = was
	}
	if e, changed := was.entry(s); changed {
		w.line(e)
	}
}

func (w *Writer) line(v any) {
	data, err := json.Marshal(v)
	if err == nil {
		_, err = w.out.Write(append(data, '\n'))
	}
	if err != nil && w.failure == nil {
		w.failure = fmt.Errorf("write the recording: %w", err)
	}
}

// entry is the difference of s to the state, which it updates.
func (was *state) entry(s status.Snapshot) (e Entry, changed bool) {
	e = Entry{At: s.At, Run: s.Job.UID, Deleted: s.Deleted}
	changed = s.Deleted != was.deleted
	was.deleted = s.Deleted
	if s.Job.ResourceVersion != was.job || was.job == "" {
		e.Job, was.job, changed = redact.Job(s.Job), s.Job.ResourceVersion, true
	}
	there := map[types.UID]bool{}
	for _, pod := range s.Pods {
		there[pod.UID] = true
		if was.pods[pod.UID] != pod.ResourceVersion || pod.ResourceVersion == "" {
			e.Pods = append(e.Pods, redact.Pod(pod))
			was.pods[pod.UID], changed = pod.ResourceVersion, true
		}
	}
	for uid := range was.pods {
		if !there[uid] {
			e.Gone = append(e.Gone, uid)
			delete(was.pods, uid)
			changed = true
		}
	}
	slices.Sort(e.Gone)
	for _, event := range s.Events {
		if was.events[event.Name] != event.ResourceVersion || event.ResourceVersion == "" {
			event.ManagedFields = nil
			e.Events = append(e.Events, event)
			was.events[event.Name], changed = event.ResourceVersion, true
		}
	}
	redact.Events(e.Events)
	around := aroundOf(s)
	if data, err := json.Marshal(around); err == nil && !bytes.Equal(data, was.around) {
		e.Around, was.around, changed = &around, data, true
	}
	return e, changed
}

// aroundOf is a Snapshot without what has entries of its own, redacted.
func aroundOf(s status.Snapshot) status.Snapshot {
	s.Job, s.Pods, s.Events, s.At, s.Deleted = nil, nil, nil, time.Time{}, false
	s.Logs = slices.Clone(s.Logs)
	for i := range s.Logs {
		s.Logs[i].Lines = slices.Clone(s.Logs[i].Lines)
		for j := range s.Logs[i].Lines {
			s.Logs[i].Lines[j] = redact.Text(s.Logs[i].Lines[j])
		}
	}
	s.Tasks = slices.Clone(s.Tasks)
	for i := range s.Tasks {
		s.Tasks[i].Text = redact.Text(s.Tasks[i].Text)
	}
	var placed []*corev1.Pod
	for _, pod := range s.NodePods { // only what they ask for, and where they are
		placed = append(placed, placedPod(pod))
	}
	s.NodePods = placed
	return s
}

// placedPod keeps of another one's Pod what room it takes, and no name.
func placedPod(pod *corev1.Pod) *corev1.Pod {
	thin := &corev1.Pod{Spec: corev1.PodSpec{NodeName: pod.Spec.NodeName, Overhead: pod.Spec.Overhead, Resources: pod.Spec.Resources}}
	thin.Status.Phase = pod.Status.Phase
	for _, c := range pod.Spec.InitContainers {
		thin.Spec.InitContainers = append(thin.Spec.InitContainers, corev1.Container{Resources: c.Resources, RestartPolicy: c.RestartPolicy})
	}
	for _, c := range pod.Spec.Containers {
		thin.Spec.Containers = append(thin.Spec.Containers, corev1.Container{Resources: c.Resources})
	}
	return thin
}

// Recording is what was read: the Snapshots of all runs over time.
type Recording struct {
	Start   time.Time
	entries []Entry
}

// maxLine bounds one line, in bytes: a Job with thousands of Pods in one entry.
const maxLine = 256 << 20

// Read reads a recording. An error names the line.
func Read(in io.Reader) (*Recording, error) {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxLine)
	var r Recording
	var pending error
	n := 0
	for lines.Scan() {
		n++
		if pending != nil {
			return nil, pending
		}
		if n == 1 {
			var h Header
			if err := json.Unmarshal(lines.Bytes(), &h); err != nil || h.APIVersion != Version || h.Kind != kind {
				return nil, fmt.Errorf("line 1: not a recording of %s", Version)
			}
			r.Start = h.At
			continue
		}
		var e Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			pending = fmt.Errorf("line %d: %w", n, err) // the last one may be cut off
			continue
		}
		r.entries = append(r.entries, e)
	}
	switch {
	case lines.Err() != nil:
		return nil, fmt.Errorf("line %d: %w", n+1, lines.Err())
	case len(r.entries) == 0:
		return nil, errors.New("the recording holds nothing")
	}
	slices.SortStableFunc(r.entries, func(a, b Entry) int { return a.At.Compare(b.At) }) // runs take turns, and a look takes time
	return &r, nil
}

// End is the time of the last entry.
func (r *Recording) End() time.Time { return r.entries[len(r.entries)-1].At }

// At returns the Snapshot of every run as it was known at a time, in the order in which the runs were first seen. Runs that
// were not seen yet are left out.
func (r *Recording) At(at time.Time) []status.Snapshot {
	var order []types.UID
	runs := map[types.UID]*status.Snapshot{}
	for _, e := range r.entries {
		if e.At.After(at) {
			break
		}
		s := runs[e.Run]
		if s == nil {
			if e.Job == nil { // the line that began the run is missing
				continue
			}
			s = &status.Snapshot{}
			runs[e.Run] = s
			order = append(order, e.Run)
		}
		apply(s, e)
	}
	var all []status.Snapshot
	for _, uid := range order {
		s := *runs[uid]
		if at.Before(r.End()) {
			s.At = at
		}
		all = append(all, s)
	}
	return all
}

func apply(s *status.Snapshot, e Entry) {
	if e.Around != nil {
		around := *e.Around
		around.Job, around.Pods, around.Events = s.Job, s.Pods, s.Events
		*s = around
	}
	s.At, s.Deleted = e.At, e.Deleted
	if e.Job != nil {
		s.Job = e.Job
	}
	s.Pods = slices.DeleteFunc(s.Pods, func(pod *corev1.Pod) bool {
		return slices.Contains(e.Gone, pod.UID) || slices.ContainsFunc(e.Pods, func(p *corev1.Pod) bool { return p.UID == pod.UID })
	})
	s.Pods = append(s.Pods, e.Pods...)
	s.Events = slices.DeleteFunc(s.Events, func(old corev1.Event) bool {
		return slices.ContainsFunc(e.Events, func(n corev1.Event) bool { return n.Name == old.Name })
	})
	s.Events = append(s.Events, e.Events...)
}
