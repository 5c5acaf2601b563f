// Package doctor finds what is left behind in a namespace and what stands in the way there: a Survey in, Troubles out.
//
// It owns the rules about more than one run; what is wrong with one run alone is package status's. Examine is a pure
// function: it reads no clock and asks nobody. Look reads a Survey with a handful of lists, never run by run, and Repair does
// what is safe: every write is guarded by the version that was read, so nothing is undone that changed since.
package doctor

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Survey is what was read at one moment. What could not be read is empty, and no rule takes that for "there is none".
type Survey struct {
	At        time.Time // by the server's clock
	Namespace string    // "" is all

	Jobs    []*batchv1.Job
	Pods    []*corev1.Pod // those with the label of a Job
	Anchors []*corev1.ConfigMap
	Leases  []*coordinationv1.Lease // of groups
	Owners  map[Owner]OwnerState    // of Jobs, those that no list here has

	PodsHidden, LeasesHidden bool

	Lacking []cluster.Right
	Drift   time.Duration // of the server's clock ahead of ours
	Server  string        // version, "" when not known
	Unread  []string      // what could not be read, and why
}

// Trouble is one thing that was found.
type Trouble struct {
	Namespace string // "" for what is in none
	Object    string // kind/name
	status.Finding
	Fix Fix // nil when only a person can decide
}

// rule finds one kind of trouble.
type rule struct {
	status.Rule
	find func(v view) []Trouble
}

// Rules lists all rules in their order.
func Rules() []status.Rule {
	var all []status.Rule
	for _, r := range rules() {
		all = append(all, r.Rule)
	}
	return all
}

// Examine says what is wrong: errors first, then in the order of the rules, of namespaces and names.
func Examine(s Survey) []Trouble {
	v := newView(s)
	all := []Trouble{}
	for _, r := range rules() {
		var found []Trouble
		for _, t := range r.find(v) {
			t.ID, t.Confidence = r.ID, ""
			if slices.ContainsFunc(r.Reasons, func(reason status.Reason) bool { return reason.Name == t.Reason && reason.Proof == status.Unseen }) {
				t.Confidence = status.ConfidenceLow
			}
			found = append(found, t)
		}
		slices.SortStableFunc(found, func(a, b Trouble) int {
			return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Object, b.Object))
		})
		all = append(all, found...)
	}
	order := []status.Severity{status.SeverityError, status.SeverityWarning, status.SeverityInfo}
	slices.SortStableFunc(all, func(a, b Trouble) int {
		return cmp.Compare(slices.Index(order, a.Severity), slices.Index(order, b.Severity))
	})
	return all
}

// view is a Survey prepared for the rules.
type view struct {
	Survey
	byUID    map[types.UID]*batchv1.Job
	verdicts map[types.UID]status.Verdict // as far as the Jobs alone tell
}

func newView(s Survey) view {
	v := view{Survey: s, byUID: map[types.UID]*batchv1.Job{}, verdicts: map[types.UID]status.Verdict{}}
	for _, job := range s.Jobs {
		v.byUID[job.UID] = job
		v.verdicts[job.UID] = status.Of(status.Snapshot{Job: job, PodsHidden: true, EventsHidden: true, At: s.At})
	}
	return v
}

const (
	settled  = 10 * time.Second // what is younger may be half of something that somebody is about to finish
	patience = time.Minute      // how long a run that could go on may stand before somebody has to move it
)

// old tells whether something has been so for a while.
func (v view) old(since time.Time, d time.Duration) bool { return v.At.Sub(since) > d }

func aboutJob(job *batchv1.Job, f status.Finding) Trouble {
	return Trouble{Namespace: job.Namespace, Object: "job/" + job.Name, Finding: f}
}

// in is a command in a namespace.
func in(namespace, command string) string { return command + " -n " + namespace }

// fixes is the advice for what Repair does.
func fixes(namespace, why string) status.Advice {
	return status.Advice{Command: in(namespace, "kubectl work doctor --fix"), Risk: status.RiskSafe, Why: why}
}

func inspect(namespace, command, why string) status.Advice {
	return status.Advice{Command: in(namespace, command), Risk: status.RiskInspect, Why: why}
}

func changes(namespace, command, why string) status.Advice {
	return status.Advice{Command: in(namespace, command), Risk: status.RiskChanges, Why: why}
}
