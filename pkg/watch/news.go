package watch

import (
	"time"

	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// settle is how long a change must last before it is told: between two tries a run looks idle for up to a second.
const settle = 1200 * time.Millisecond

// news is what was told of a run, and since when its verdict differs from that.
type news struct {
	told    status.Verdict
	wasTold bool
	since   time.Time
}

// due tells whether a verdict is to be told now: the first, one that is final, and any that has lasted. left is when to look
// again at one that is too young; 0 when there is none.
func (n *news) due(v status.Verdict, final bool, now time.Time) (tell bool, left time.Duration) {
	switch {
	case final, !n.wasTold:
	case !changed(n.told, v):
		n.since = time.Time{}
		return false, 0
	case n.since.IsZero():
		n.since = now
		return false, settle
	case now.Sub(n.since) < settle:
		return false, settle - now.Sub(n.since)
	}
	n.told, n.wasTold, n.since = digest(v), true, time.Time{}
	return true, 0
}

// tell calls Changed for news that lasts, and returns when to look again at news that is too young.
func (l *waiting) tell(run *Waited) time.Duration {
	if l.Changed == nil {
		return 0
	}
	tell, left := run.news.due(run.Verdict, !run.Open(), l.Client.Local())
	if tell {
		l.Changed(run)
	}
	return left
}

// digest is what changed compares of a verdict: the rest need not be kept.
func digest(v status.Verdict) status.Verdict {
	return status.Verdict{Phase: v.Phase, Outcome: v.Outcome, Reason: v.Reason, Progress: status.Progress{Succeeded: v.Progress.Succeeded, Failed: v.Progress.Failed}}
}

// soonest is the shorter of two times to look again; 0 is never.
func soonest(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// changed tells whether a person would call it news.
func changed(a, b status.Verdict) bool {
	return a.Phase != b.Phase || a.Outcome != b.Outcome || a.Reason != b.Reason || a.Progress.Succeeded != b.Progress.Succeeded ||
		a.Progress.Failed != b.Progress.Failed
}
