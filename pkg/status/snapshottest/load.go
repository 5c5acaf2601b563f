// Package snapshottest holds snapshots of Jobs, their Pods and events, captured from a real v1.37.2 cluster 7 and 33
// seconds after each Job was created, as ground truth for tests. Nothing but tests imports it.
package snapshottest

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/status"
)

//go:embed testdata/*.json
var files embed.FS

// Names lists all captures: "01-fails-once.7s" …
func Names() []string {
	var names []string
	paths, err := fs.Glob(files, "testdata/*.json")
	if err != nil {
		return nil
	}
	for _, p := range paths {
		names = append(names, strings.TrimSuffix(strings.TrimPrefix(p, "testdata/"), ".json"))
	}
	return names
}

// Load reads one capture: a Snapshot a Job, none when the Job was gone. At is one second after the newest stamp in it.
func Load(name string) ([]status.Snapshot, error) {
	data, err := files.ReadFile("testdata/" + name + ".json")
	if err != nil {
		return nil, fmt.Errorf("capture %s: %w", name, err)
	}
	var captured struct {
		Jobs   []batchv1.Job           `json:"jobs"`
		Pods   []*corev1.Pod           `json:"pods"`
		Events []corev1.Event          `json:"events"`
		Nodes  []*corev1.Node          `json:"nodes"`
		Leases []*coordinationv1.Lease `json:"leases"`
	}
	if err := json.Unmarshal(data, &captured); err != nil {
		return nil, fmt.Errorf("capture %s: %w", name, err)
	}
	at := newest(captured.Jobs, captured.Pods, captured.Events).Add(time.Second)
	var all []status.Snapshot
	for i := range captured.Jobs {
		s := status.Snapshot{
			Job: &captured.Jobs[i], Pods: captured.Pods, Events: captured.Events, Nodes: captured.Nodes, Leases: captured.Leases, At: at,
		}
		for j := range captured.Jobs {
			if j != i {
				s.Related = append(s.Related, &captured.Jobs[j])
			}
		}
		all = append(all, s)
	}
	return all, nil
}

func newest(jobs []batchv1.Job, pods []*corev1.Pod, events []corev1.Event) time.Time {
	var at time.Time
	see := func(t time.Time) {
		if t.After(at) {
			at = t
		}
	}
	for _, j := range jobs {
		see(j.CreationTimestamp.Time)
		for _, c := range j.Status.Conditions {
			see(c.LastTransitionTime.Time)
		}
	}
	for _, p := range pods {
		see(p.CreationTimestamp.Time)
		for _, c := range p.Status.Conditions {
			see(c.LastTransitionTime.Time)
		}
	}
	for i := range events {
		see(status.EventTime(&events[i]))
	}
	return at
}
