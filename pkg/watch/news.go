package watch

import (
	"time"

	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// settle is how long a change must last before it is told: between two tries a run looks idle for up to a second.
const settle = 1200 * time.Millisecond

// tell calls Changed for news that lasts, and returns when to look again at news that is too young.
func (l *waiting) tell(run *Waited) time.Duration {
	now := l.Client.Local()
	switch {
	case l.Changed == nil:
		return 0
	case !run.Open(), !run.wasTold:
	case !changed(run.told, run.Verdict):
		run.news = time.Time{}
		return 0
	case run.news.IsZero():
		run.news = now
		return settle
	case now.Sub(run.news) < settle:
		return settle - now.Sub(run.news)
	}
	run.told, run.wasTold, run.news = run.Verdict, true, time.Time{}
	l.Changed(run)
	return 0
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
