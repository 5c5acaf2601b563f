package watch_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

var at = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func stuck(class status.Class, since time.Duration) status.Verdict {
	return status.Verdict{Phase: status.PhaseInitializing, Reason: "Why", Findings: []status.Finding{
		{Class: class, Reason: "Why", Message: "because", Since: at.Add(-since)},
	}}
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
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, watch.Decide(c.verdict, c.deleted, at, c.options).Result)
		})
	}
}

// The waiter must wake by itself when a grace is over: nothing may change on the cluster any more.
func TestDecideSaysWhenToLookAgain(t *testing.T) {
	t.Parallel()
	d := watch.Decide(stuck(status.ClassImage, 45*time.Second), false, at, watch.WaitOptions{FailFast: true, Grace: status.DefaultGrace()})
	require.Equal(t, 15*time.Second, d.Recall)
}
