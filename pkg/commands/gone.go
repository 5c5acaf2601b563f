package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/render"
)

// The pace of looking whether something is gone: at first often, because most is gone at once. A watch would tell
// sooner, but costs two connections for what is over after one or two looks.
const (
	firstLook = 100 * time.Millisecond
	slowLook  = 2 * time.Second
	firstBeat = 10 * time.Second // a deletion that takes longer is worth a word
	laterBeat = 30 * time.Second
)

// awaitGone returns when nothing is left of the Jobs, or with an error that names what is and what holds it.
func (o *deleteOptions) awaitGone(ctx context.Context, c *cluster.Client, jobs []*batchv1.Job) error {
	pause, beat := firstLook, o.app.Now().Add(firstBeat)
	var left []cluster.Remains
	for told := false; ; {
		now, hidden, err := c.Remaining(ctx, jobs[0].Namespace, jobs)
		switch {
		case ctx.Err() != nil:
			return o.still(ctx, left, c.Now())
		case err != nil:
			return err
		case hidden && !told:
			told = true
			o.app.note("no right to list pods: whether the Pods are gone is not known")
		}
		left = now
		switch {
		case len(left) == 0:
			return nil
		case o.limited && o.timeout == 0:
			return stillThere(left, c.Now())
		case !o.app.Now().Before(beat):
			beat = o.app.Now().Add(laterBeat)
			o.app.note("still waiting: %s", held(left, c.Now()))
		}
		select {
		case <-ctx.Done():
			return o.still(ctx, left, c.Now())
		case <-time.After(pause):
			pause = min(pause*3/2, slowLook)
		}
	}
}

// still is the end of waiting from outside: at the --timeout it says what holds the rest.
func (o *deleteOptions) still(ctx context.Context, left []cluster.Remains, at time.Time) error {
	if errors.Is(cause(ctx), errTimeout) && len(left) > 0 {
		return stillThere(left, at)
	}
	return cause(ctx)
}

func stillThere(left []cluster.Remains, at time.Time) error {
	lines := []string{"still there: " + held(left, at)}
	commands, reasons := map[string][]string{}, []string{}
	for _, r := range left {
		for _, h := range render.Holders(r.Job, r.Pods, at) {
			if h.Command == "" || len(commands[h.Why]) == maxHolders {
				continue
			}
			if commands[h.Why] == nil {
				reasons = append(reasons, h.Why)
			}
			commands[h.Why] = append(commands[h.Why], "  "+h.Command)
		}
	}
	for _, why := range reasons {
		lines = append(append(lines, why+":"), commands[why]...)
	}
	return &codeError{Code: CodeTimeout, Err: errors.New(strings.Join(lines, "\n"))}
}

// maxHolders bounds what one line names.
const maxHolders = 5

// held names what is left and what holds it.
func held(left []cluster.Remains, at time.Time) string {
	var texts []string
	for _, r := range left {
		for _, h := range render.Holders(r.Job, r.Pods, at) {
			texts = append(texts, h.Text)
		}
	}
	if more := len(texts) - maxHolders; more > 0 {
		texts = append(texts[:maxHolders], fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}
