package commands

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// errTimeout is the cause of a context that --timeout ended, so that no other limit looks like it.
var errTimeout = errors.New("the --timeout is over")

// deadline bounds ctx by --timeout. A timeout of 0 looks once and is no bound.
func (f *waitFlags) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	if !f.limited || f.timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, f.timeout, errTimeout)
}

func (f *waitFlags) validate() error {
	var problems []error
	if f.timeout < 0 {
		problems = append(problems, refuse("--timeout %s: a time limit cannot be negative", f.timeout))
	}
	if !slices.Contains([]string{"wait", "fail"}, f.onHold) {
		problems = append(problems, refuse("--on-hold=%s: give wait or fail", f.onHold))
	}
	if !slices.Contains([]string{"on", "off"}, f.failFast) {
		problems = append(problems, refuse("--fail-fast=%s: give on or off", f.failFast))
	}
	if f.runTimeout < 0 {
		problems = append(problems, refuse("--run-timeout %s: a time limit cannot be negative", f.runTimeout))
	}
	for flag, value := range map[string]string{"on-interrupt": f.onInterrupt, "on-stuck": f.onStuck, "on-timeout": f.onTimeout} {
		if !slices.Contains([]string{onEndLeave, onEndStop, onEndDelete}, value) {
			problems = append(problems, refuse("--%s=%s: give leave, stop or delete", flag, value))
		}
	}
	for _, report := range f.reports {
		if kind, file, found := strings.Cut(report, "="); !found || kind != reportGitLab || file == "" {
			problems = append(problems, refuse("--report %s: write it like %s=FILE; there is no other kind", report, reportGitLab))
		}
	}
	_, err := f.options()
	return errors.Join(append(problems, err)...)
}

// options resolves the flags.
func (f *waitFlags) options() (watch.WaitOptions, error) {
	o := watch.WaitOptions{
		Early: f.early, FailHeld: f.onHold == "fail", FailFast: f.failFast == "on", Grace: status.DefaultGrace(), RunTimeout: f.runTimeout,
	}
	if f.goal != "" {
		goal, err := watch.ParseGoal(f.goal)
		if err != nil {
			return o, refuse("--for=%s: %w", f.goal, err)
		}
		o.Goal = goal
	}
	for class, text := range f.grace {
		if _, known := o.Grace[status.Class(class)]; !known {
			return o, refuse("--grace %s=%s: the classes are %s", class, text, graceClasses())
		}
		grace, err := time.ParseDuration(text)
		if err != nil || grace < 0 {
			return o, refuse("--grace %s=%s: %q is not a duration; write it like 90s or 5m", class, text, text)
		}
		o.Grace[status.Class(class)] = grace
	}
	return o, nil
}

func graceClasses() string {
	var names []string
	for class := range maps.Keys(status.DefaultGrace()) {
		names = append(names, string(class))
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func goalNames() string {
	var names []string
	for _, g := range watch.Goals() {
		names = append(names, string(g))
	}
	return strings.Join(names, ", ")
}

// hintAfter is when a wait without any limit says that it has none.
const hintAfter = 10 * time.Minute

// awaited is what a wait is about, besides its flags.
type awaited struct {
	anyOne bool // one that got there is enough
	min    int  // runs to wait for to appear
}

// await waits for runs, tells what happens on stderr and reports the result. It returns the error that carries the exit
// code.
func (a *app) await(ctx context.Context, c *cluster.Client, scope cluster.Scope, runs []*watch.Waited, f waitFlags, report *waitReport, what awaited) error {
	options, err := f.options()
	if err != nil {
		return report.refused(err)
	}
	recorder, err := openRecorder(f.record)
	if err := errors.Join(err, checkReports(f.reports)); err != nil {
		return report.refused(err)
	}
	waiter := &watch.Waiter{
		Client: c, Options: options, RetryFor: a.retryFor, Once: f.limited && f.timeout == 0, Any: what.anyOne, Min: what.min, Record: recorder.add,
		Changed: func(w *watch.Waited) {
			if w.Open() {
				a.note("%s", render.State(w.Name, w.Verdict))
			}
		},
		Added: func(w *watch.Waited) { a.note("job/%s is there; waiting for it", w.Name) },
		Moved: a.tellMoved, Unable: func(err error) { a.note("Warning: what is held cannot be moved on from here: %v", err) },
		Beat: func(open []*watch.Waited) { a.beat(open, f.limited) },
		Lost: func(since time.Time, err error) {
			a.note("no contact with %s for %s (%v); trying again for up to %s", c.Host, a.Now().Sub(since).Round(time.Second), cluster.Plain(err), a.retryFor)
		},
	}
	drain := func() {}
	if f.logs {
		several := len(runs) != 1 || runs[0].Job != nil && manySources(runs[0].Job)
		drain = a.streamLogs(ctx, c, waiter, &logsOptions{tail: -1, prefix: "auto", maxStreams: maxStreams}, report.logs(), several)
	}
	runs, err = waiter.Wait(ctx, scope, runs)
	drain()
	a.fetchOutput(ctx, c, runs)
	if f.record != "" {
		a.recordEnds(ctx, c, recorder, runs)
	}
	report.codeFrom, report.reports, report.min = f.codeFrom, f.reports, what.min
	report.ended = a.atEnd(ctx, c, runs, f, err)
	if failed := recorder.close(); failed != nil { // the result is not touched by it
		fmt.Fprintln(a.Err, "error:", failed)
	}
	return report.done(runs, err, what.anyOne)
}

// recordEnds records the last state of each run, with its events, which are read only for this.
func (a *app) recordEnds(ctx context.Context, c *cluster.Client, r *recorder, runs []*watch.Waited) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outputTime)
	defer cancel()
	for _, w := range runs {
		if w.Job == nil {
			continue
		}
		last := w.Snapshot
		if now, err := watch.Look(ctx, c, w.Job); err == nil && !now.EventsHidden {
			last.Events, last.EventsHidden = now.Events, false
		}
		r.add(last)
	}
}

// beat says that waiting goes on, and once that it has no end.
func (a *app) beat(open []*watch.Waited, limited bool) {
	for _, w := range open {
		if w.Job == nil {
			a.note("still waiting: job/%s is not there", w.Name)
			continue
		}
		a.note("still waiting: %s", render.ShortState(w.Name, w.Verdict))
	}
	if waited := a.Now().Sub(a.started); !limited && !a.hinted && waited >= hintAfter {
		a.hinted = true
		a.note("hint: waited %s without a limit; --timeout sets one, and activeDeadlineSeconds ends the Job itself", waited.Round(time.Minute))
	}
}

// outputTime bounds the reading of output that explains a failure: the verdict must not wait for it.
const outputTime = 1500 * time.Millisecond

// fetchOutput reads the last lines of the containers that explain failures, and judges again with them.
func (a *app) fetchOutput(ctx context.Context, c *cluster.Client, runs []*watch.Waited) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), outputTime)
	defer cancel()
	for _, w := range runs {
		if w.Job == nil || w.Verdict.Outcome != status.OutcomeFailed {
			continue
		}
		a.explain(ctx, c, &w.Snapshot)
		w.Verdict = status.Of(w.Snapshot)
	}
}

// explain completes a snapshot of a failed run: its Pods when the watch was behind, and what explains it.
func (a *app) explain(ctx context.Context, c *cluster.Client, s *status.Snapshot) {
	if status.Wants(*s).Log == nil && !s.PodsHidden {
		if pods, err := c.PodsOf(ctx, s.Job); err == nil && len(pods) > 0 {
			s.Pods = pods
		}
	}
	watch.Explain(ctx, c, s)
}

// maxStreams is how many containers --logs follows at the same time.
const maxStreams = 20

// codeOf is the exit code of one run's result.
func codeOf(r watch.Result) Code {
	switch r {
	case watch.ResultReached:
		return CodeOK
	case watch.ResultFailed:
		return CodeFailed
	case watch.ResultGone:
		return CodeGone
	case watch.ResultStuck, watch.ResultMissed: // it cannot get there any more
		return CodeStuck
	case watch.ResultHeld:
		return CodeHeld
	case watch.ResultOpen, watch.ResultTimeout, watch.ResultCut:
		return CodeTimeout
	}
	return CodeInternal
}

// resultLine is one run's result in a sentence: job/NAME RESULT: REASON - what is known.
func resultLine(w *watch.Waited) string {
	d := w.Decision
	known := w.Job != nil && w.Verdict.Outcome != status.OutcomeNone
	switch {
	case d.Result == watch.ResultFailed, d.Result == watch.ResultReached && known:
		text := render.Outcome(w.Name, w.Verdict)
		if d.Remark != "" {
			text += " (" + render.Line(d.Remark) + ")"
		}
		return text
	case d.Result == watch.ResultReached && w.Job != nil && d.Remark == "":
		return render.Verdict(w.Name, w.Verdict)
	case (d.Result == watch.ResultTimeout || d.Result == watch.ResultCut) && w.Job == nil:
		return fmt.Sprintf("job/%s %s: NotFound - it is not there", w.Name, d.Result)
	case d.Result == watch.ResultReached && d.Reason == "Deleted":
		return render.Result(w.Name, "Deleted", "", "")
	case d.Result == watch.ResultTimeout && d.Remark != "":
		return render.Result(w.Name, string(d.Result), d.Reason, d.Remark)
	case d.Result == watch.ResultTimeout, d.Result == watch.ResultCut:
		return render.Result(w.Name, string(d.Result), string(w.Verdict.Phase), or(w.Verdict.Message, render.Progress(w.Verdict.Progress)))
	}
	return render.Result(w.Name, string(d.Result), d.Reason, or(d.Remark, w.Verdict.Message))
}
