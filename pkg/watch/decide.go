// Package watch observes runs, decides and acts: waiting, holds, the reconcile loop.
//
// It owns decisions and the order of observation and action. Decisions are pure functions over a judged Snapshot and are
// tested as values. It never prints: what a person should see goes to callbacks.
package watch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Goal is what a waiter waits for.
type Goal string

// The goals. The zero value is GoalFinished.
const (
	GoalFinished  Goal = "finished"  // Complete, or the failure is decided
	GoalSucceeded Goal = "succeeded" // the same; another end is a failure
	GoalFailed    Goal = "failed"    // the failure is decided; success means it was not reached
	GoalRunning   Goal = "running"   // a container runs
	GoalStarted   Goal = "started"   // a Pod is scheduled
	GoalReleased  Goal = "released"  // not suspended
	GoalDeleted   Goal = "deleted"   // the Job is gone
)

// Goals lists all goals that are one word; phase=PHASE and condition=TYPE[=STATUS] are goals too.
func Goals() []Goal {
	return []Goal{GoalFinished, GoalSucceeded, GoalFailed, GoalRunning, GoalStarted, GoalReleased, GoalDeleted}
}

const (
	goalPhase     = "phase="
	goalCondition = "condition="
)

// ParseGoal checks what a person typed. Phases and conditions are matched whatever their case, as kubectl wait does.
func ParseGoal(text string) (Goal, error) {
	if slices.Contains(Goals(), Goal(text)) {
		return Goal(text), nil
	}
	if want, ok := strings.CutPrefix(text, goalPhase); ok {
		for _, p := range status.Phases() {
			if strings.EqualFold(want, string(p)) {
				return Goal(goalPhase + string(p)), nil
			}
		}
		return "", fmt.Errorf("%q is not a phase; the phases are %s", want, joined(status.Phases()))
	}
	if want, ok := strings.CutPrefix(text, goalCondition); ok {
		name, value, given := strings.Cut(want, "=")
		if name == "" || given && !slices.Contains([]string{"true", "false", "unknown"}, strings.ToLower(value)) {
			return "", fmt.Errorf("write it like %sSuspended, or %sSuspended=False", goalCondition, goalCondition)
		}
		return Goal(text), nil
	}
	return "", fmt.Errorf("give one of %s, phase=PHASE or condition=TYPE[=STATUS]", joined(Goals()))
}

func joined[T ~string](list []T) string {
	var names []string
	for _, one := range list {
		names = append(names, string(one))
	}
	return strings.Join(names, ", ")
}

// state tells whether a goal is a phase or a condition, and whether that is there.
func (g Goal) state(v status.Verdict, conditions []batchv1.JobCondition) (is, there bool) {
	if want, ok := strings.CutPrefix(string(g), goalPhase); ok {
		return true, string(v.Phase) == want
	}
	want, ok := strings.CutPrefix(string(g), goalCondition)
	if !ok {
		return false, false
	}
	name, value, given := strings.Cut(want, "=")
	if !given {
		value = string(corev1.ConditionTrue)
	}
	return true, slices.ContainsFunc(conditions, func(c batchv1.JobCondition) bool {
		return strings.EqualFold(string(c.Type), name) && strings.EqualFold(string(c.Status), value)
	})
}

// Result is how waiting for one run ended.
type Result string

// The results. The zero value means that it has not ended.
const (
	ResultOpen    Result = ""
	ResultReached Result = "Reached" // the goal
	ResultFailed  Result = "Failed"  // the API server recorded Failed or FailureTarget
	ResultGone    Result = "Gone"    // deleted, or never there, with no known outcome
	ResultStuck   Result = "Stuck"   // the grace of a finding is over
	ResultHeld    Result = "Held"
	ResultTimeout Result = "Timeout"
	ResultMissed  Result = "Missed"     // finished without reaching the goal
	ResultCut     Result = "Unfinished" // waiting was cut off: an interrupt, a lost connection; the last known state is told
)

// WaitOptions say what counts as the end of waiting.
type WaitOptions struct {
	Goal     Goal
	Early    bool // success counts as soon as it is decided
	FailFast bool // findings whose grace is over end the wait
	FailHeld bool // a held run ends the wait
	Grace    map[status.Class]time.Duration

	RunTimeout time.Duration // from the release of a run, 0 for none
}

// Decision is one verdict's meaning for a waiter.
type Decision struct {
	Result Result
	Reason string        // CamelCase
	Remark string        // one sentence about the result that the verdict does not say
	Recall time.Duration // when to decide again although nothing changed; 0 for never
}

// Decide says whether waiting for a run is over, by its judged Snapshot.
func Decide(s status.Snapshot, v status.Verdict, o WaitOptions) Decision {
	if s.Deleted {
		return decideDeleted(s, v, o)
	}
	is, there := o.Goal.state(v, s.Job.Status.Conditions)
	switch {
	case there, !is && reached(v, o):
		return Decision{Result: ResultReached, Reason: v.Reason}
	case is && v.Phase == status.PhaseSucceeded:
		return Decision{Result: ResultMissed, Reason: v.Reason, Remark: "it succeeded without getting there"}
	case o.FailHeld && held(v.Phase) && !Moves(s.Job):
		return Decision{Result: ResultHeld, Reason: v.Reason}
	case is && !v.Phase.Finished(): // a decided end may be on its way to the goal
	case v.Outcome == status.OutcomeFailed && o.Goal != GoalDeleted:
		return Decision{Result: ResultFailed, Reason: v.Reason}
	case v.Phase == status.PhaseSucceeded && o.Goal == GoalFailed:
		return Decision{Result: ResultMissed, Reason: v.Reason, Remark: "it succeeded"}
	}
	return decideLimits(v, s.At, o)
}

// decideLimits looks for what ends waiting although the run goes on: its own time limit, a finding that has lasted too long.
func decideLimits(v status.Verdict, at time.Time, o WaitOptions) Decision {
	d := decideStuck(v, at, o)
	if o.RunTimeout == 0 || v.Released.IsZero() || d.Result != ResultOpen {
		return d
	}
	left := o.RunTimeout - at.Sub(v.Released)
	if left <= 0 {
		return Decision{Result: ResultTimeout, Reason: "RunTimeout", Remark: fmt.Sprintf("it has run for %s since its release", o.RunTimeout)}
	}
	d.Recall = soonest(d.Recall, left)
	return d
}

func reached(v status.Verdict, o WaitOptions) bool {
	ended := v.Phase == status.PhaseSucceeded || o.Early && v.Outcome == status.OutcomeSucceeded
	switch o.Goal {
	case GoalFailed:
		return v.Outcome == status.OutcomeFailed
	case GoalRunning:
		return ended || v.Phase == status.PhaseRunning || v.Progress.Ready > 0
	case GoalStarted:
		return ended || v.Phase == status.PhaseRunning || v.Phase == status.PhaseInitializing && v.Scheduled
	case GoalReleased:
		return ended || !held(v.Phase)
	case GoalDeleted:
		return false
	case GoalFinished, GoalSucceeded:
	}
	return ended
}

func held(p status.Phase) bool {
	return p == status.PhasePaused || p == status.PhaseQueued || p == status.PhaseWaiting
}

// decideDeleted: the last state of a deleted Job still tells how it ended (kubernetes/kubectl#1482).
func decideDeleted(s status.Snapshot, v status.Verdict, o WaitOptions) Decision {
	_, there := o.Goal.state(v, s.Job.Status.Conditions)
	switch {
	case there:
		return Decision{Result: ResultReached, Reason: v.Reason}
	case o.Goal == GoalDeleted:
		return Decision{Result: ResultReached, Reason: "Deleted"}
	case v.Outcome == status.OutcomeFailed && o.Goal == GoalFailed:
		return Decision{Result: ResultReached, Reason: v.Reason}
	case v.Outcome == status.OutcomeFailed:
		return Decision{Result: ResultFailed, Reason: v.Reason}
	case v.Outcome == status.OutcomeSucceeded && o.Goal == GoalFailed:
		return Decision{Result: ResultMissed, Reason: v.Reason, Remark: "it succeeded"}
	case v.Outcome == status.OutcomeSucceeded:
		return Decision{Result: ResultReached, Reason: v.Reason, Remark: "already cleaned up by its TTL"}
	}
	return Decision{Result: ResultGone, Reason: "Deleted", Remark: "it was deleted while " + doing(v.Phase)}
}

func doing(p status.Phase) string {
	if p == status.PhaseRunning {
		return "running"
	}
	return string(p)
}

// decideStuck looks for a finding that has lasted longer than the grace of its class.
func decideStuck(v status.Verdict, at time.Time, o WaitOptions) Decision {
	var d Decision
	if !o.FailFast || o.Goal == GoalDeleted {
		return d
	}
	for _, f := range v.Findings {
		grace, limited := o.Grace[f.Class]
		if f.Class == status.ClassNone || !limited {
			continue
		}
		left := grace - at.Sub(f.Since)
		if f.Since.IsZero() {
			left = grace
		}
		if left <= 0 {
			return Decision{Result: ResultStuck, Reason: f.Reason, Remark: f.Message}
		}
		if d.Recall == 0 || left < d.Recall {
			d.Recall = left
		}
	}
	return d
}
