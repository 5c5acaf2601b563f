package commands

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// What becomes of a run when waiting for it is given up.
const (
	onEndLeave  = "leave"
	onEndStop   = "stop"
	onEndDelete = "delete"
)

const (
	endTime       = 10 * time.Second        // for what is done to runs at the end of a wait
	interruptTime = 1500 * time.Millisecond // the same after a signal, which ends the process within 2 s
)

// atEnd stops or deletes the runs that a wait gave up on, as its flags say, and returns what became of each.
func (a *app) atEnd(ctx context.Context, c *cluster.Client, runs []*watch.Waited, f waitFlags, err error) map[types.UID]string {
	var interrupt *InterruptError
	interrupted := errors.As(err, &interrupt)
	limit := endTime
	if interrupted {
		limit = interruptTime
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	done := map[types.UID]string{}
	for _, w := range runs {
		action, why := onEndLeave, ""
		switch {
		case w.Job == nil, w.Snapshot.Deleted:
		case interrupted && w.Open():
			action, why = f.onInterrupt, "kubectl work wait was interrupted"
		case w.Decision.Result == watch.ResultStuck:
			action, why = f.onStuck, "stuck: "+w.Decision.Reason
		case w.Decision.Result == watch.ResultTimeout, errors.Is(err, errTimeout) && w.Open():
			action, why = f.onTimeout, "the time limit of kubectl work wait is over"
		}
		if action == onEndLeave {
			continue
		}
		text, err := a.end(ctx, c, w, action, why)
		if err != nil {
			text = fmt.Sprintf("could not %s it: %v", action, cluster.Plain(err))
		}
		a.note("job/%s: %s", w.Name, text)
		done[w.Job.UID] = text
	}
	return done
}

// end stops or deletes one run; deleting goes on in the background.
func (a *app) end(ctx context.Context, c *cluster.Client, w *watch.Waited, action, why string) (string, error) {
	if action == onEndDelete {
		return "deleted", c.DeleteJob(ctx, w.Job, metav1.DeletePropagationBackground, false)
	}
	o := &holdOptions{app: a, decide: watch.DecideStop, event: "Stopped", dryRun: "none"}
	return o.hold(ctx, c, w.Job, watch.HoldRequest{Reason: why, Now: c.Now()})
}
