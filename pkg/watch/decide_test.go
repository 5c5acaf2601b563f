package watch_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

var at = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func stuck(class status.Class, since time.Duration) status.Verdict {
	return status.Verdict{Phase: status.PhaseInitializing, Reason: "Why", Findings: []status.Finding{
		{Class: class, Reason: "Why", Message: "because", Since: at.Add(-since)},
	}}
}

func released(ago time.Duration) status.Verdict {
	return status.Verdict{Phase: status.PhaseRunning, Released: at.Add(-ago)}
}

func TestDecide(t *testing.T) {
	t.Parallel()
	succeeded := status.Verdict{Phase: status.PhaseSucceeded, Outcome: status.OutcomeSucceeded, Reason: "CompletionsReached"}
	deciding := status.Verdict{Phase: status.PhaseTerminating, Outcome: status.OutcomeSucceeded}
	failed := status.Verdict{Phase: status.PhaseFailed, Outcome: status.OutcomeFailed, Reason: "BackoffLimitExceeded"}
	failing := status.Verdict{Phase: status.PhaseTerminating, Outcome: status.OutcomeFailed, Reason: "BackoffLimitExceeded"}
	running := status.Verdict{Phase: status.PhaseRunning}
	paused := status.Verdict{Phase: status.PhasePaused, Reason: "Paused"}
	grace := status.DefaultGrace()
	for _, c := range []struct {
		name    string
		verdict status.Verdict
		deleted bool
		options watch.WaitOptions
		want    watch.Result
	}{
		{"success at Complete", succeeded, false, watch.WaitOptions{}, watch.ResultReached},
		{"success that is only decided goes on", deciding, false, watch.WaitOptions{}, watch.ResultOpen},
		{"success that is decided is enough with early", deciding, false, watch.WaitOptions{Early: true}, watch.ResultReached},
		{"failure at Failed", failed, false, watch.WaitOptions{}, watch.ResultFailed},
		{"failure as soon as it is decided", failing, false, watch.WaitOptions{}, watch.ResultFailed},
		{"running goes on", running, false, watch.WaitOptions{FailFast: true, Grace: grace}, watch.ResultOpen},
		{"paused goes on", paused, false, watch.WaitOptions{}, watch.ResultOpen},
		{"paused ends with --on-hold=fail", paused, false, watch.WaitOptions{FailHeld: true}, watch.ResultHeld},
		{"a queue holds too", status.Verdict{Phase: status.PhaseQueued}, false, watch.WaitOptions{FailHeld: true}, watch.ResultHeld},
		{"deleted after Complete is success", succeeded, true, watch.WaitOptions{}, watch.ResultReached},
		{"deleted after Failed is a failure", failed, true, watch.WaitOptions{}, watch.ResultFailed},
		{"deleted after the failure was decided is a failure", failing, true, watch.WaitOptions{}, watch.ResultFailed},
		{"deleted while running is gone", running, true, watch.WaitOptions{}, watch.ResultGone},
		{"an invalid image name is stuck at once", stuck(status.ClassNever, 0), false, watch.WaitOptions{FailFast: true, Grace: grace}, watch.ResultStuck},
		{"a missing image within its grace", stuck(status.ClassImage, 59*time.Second), false, watch.WaitOptions{FailFast: true, Grace: grace}, watch.ResultOpen},
		{"a missing image after its grace", stuck(status.ClassImage, 60*time.Second), false, watch.WaitOptions{FailFast: true, Grace: grace}, watch.ResultStuck},
		{"never stuck with fail-fast off", stuck(status.ClassNever, time.Hour), false, watch.WaitOptions{Grace: grace}, watch.ResultOpen},
		{"no node within 5 minutes", stuck(status.ClassUnschedulable, 4*time.Minute), false, watch.WaitOptions{FailFast: true, Grace: grace}, watch.ResultOpen},
		{"no node after 5 minutes", stuck(status.ClassUnschedulable, 5*time.Minute), false, watch.WaitOptions{FailFast: true, Grace: grace}, watch.ResultStuck},
		{"for running", running, false, watch.WaitOptions{Goal: watch.GoalRunning}, watch.ResultReached},
		{"for started is not reached without a node", stuck(status.ClassUnschedulable, 0), false, watch.WaitOptions{Goal: watch.GoalStarted}, watch.ResultOpen},
		{"for released", stuck(status.ClassUnschedulable, 0), false, watch.WaitOptions{Goal: watch.GoalReleased}, watch.ResultReached},
		{"for released while paused", paused, false, watch.WaitOptions{Goal: watch.GoalReleased}, watch.ResultOpen},
		{"for failed, and it failed", failing, false, watch.WaitOptions{Goal: watch.GoalFailed}, watch.ResultReached},
		{"for failed, and it succeeded", succeeded, false, watch.WaitOptions{Goal: watch.GoalFailed}, watch.ResultMissed},
		{"for running, and it failed before", failed, false, watch.WaitOptions{Goal: watch.GoalRunning}, watch.ResultFailed},
		{"for deleted while it is there", failed, false, watch.WaitOptions{Goal: watch.GoalDeleted}, watch.ResultOpen},
		{"for deleted", running, true, watch.WaitOptions{Goal: watch.GoalDeleted}, watch.ResultReached},
		{"a phase that is there", running, false, watch.WaitOptions{Goal: "phase=Running"}, watch.ResultReached},
		{"a phase that is not there", running, false, watch.WaitOptions{Goal: "phase=Paused"}, watch.ResultOpen},
		{"a decided failure is on its way to phase=Failed", failing, false, watch.WaitOptions{Goal: "phase=Failed"}, watch.ResultOpen},
		{"phase=Failed", failed, false, watch.WaitOptions{Goal: "phase=Failed"}, watch.ResultReached},
		{"phase=Paused of a run that failed", failed, false, watch.WaitOptions{Goal: "phase=Paused"}, watch.ResultFailed},
		{"phase=Paused of a run that succeeded", succeeded, false, watch.WaitOptions{Goal: "phase=Paused"}, watch.ResultMissed},
		{"a condition that is there", paused, false, watch.WaitOptions{Goal: "condition=suspended"}, watch.ResultReached},
		{"a condition of another status", paused, false, watch.WaitOptions{Goal: "condition=Suspended=false"}, watch.ResultOpen},
		{"a state of a held run under --on-hold=fail", paused, false, watch.WaitOptions{Goal: "phase=Running", FailHeld: true}, watch.ResultHeld},
		{"its own time is not over", released(time.Minute), false, watch.WaitOptions{RunTimeout: 2 * time.Minute}, watch.ResultOpen},
		{"its own time is over", released(time.Minute), false, watch.WaitOptions{RunTimeout: time.Minute}, watch.ResultTimeout},
		{"its own time does not count while it is held", paused, false, watch.WaitOptions{RunTimeout: time.Nanosecond}, watch.ResultOpen},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			job := &batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue}}}}
			if c.verdict.Phase != status.PhasePaused {
				job.Status.Conditions = nil
			}
			require.Equal(t, c.want, watch.Decide(status.Snapshot{Job: job, Deleted: c.deleted, At: at}, c.verdict, c.options).Result)
		})
	}
}

// The waiter must wake by itself when a grace is over: nothing may change on the cluster any more.
func TestDecideSaysWhenToLookAgain(t *testing.T) {
	t.Parallel()
	s := status.Snapshot{Job: &batchv1.Job{}, At: at}
	d := watch.Decide(s, stuck(status.ClassImage, 45*time.Second), watch.WaitOptions{FailFast: true, Grace: status.DefaultGrace()})
	require.Equal(t, 15*time.Second, d.Recall)
}

func TestParseGoal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"finished": "finished", "phase=running": "phase=Running", "phase=Terminating": "phase=Terminating",
		"condition=Complete": "condition=Complete", "condition=Suspended=false": "condition=Suspended=false",
	} {
		goal, err := watch.ParseGoal(text)
		require.NoError(t, err)
		require.EqualValues(t, want, goal)
	}
	for _, text := range []string{"done", "phase=", "phase=Gone", "condition=", "condition=Complete=maybe", "jsonpath={.x}"} {
		_, err := watch.ParseGoal(text)
		require.Error(t, err, text)
	}
}
