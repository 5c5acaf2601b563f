package commands

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/render"
)

// app is what every command of one call shares.
type app struct {
	Env
	config   *genericclioptions.ConfigFlags
	retryFor time.Duration
	quiet    bool
	crash    func(value any)
	clients  []*cluster.Client // to be closed
	started  time.Time         // of this call
	summed   bool              // the last line of a waiting command was printed
	notes    sync.Mutex        // one line at a time
	hinted   bool              // the hint about a missing time limit was given
}

// retryForWait is how long waiting commands bear an unreachable server, unless told otherwise.
const retryForWait = 5 * time.Minute

// client connects to the cluster of the flags. It sends nothing yet.
func (a *app) client() (*cluster.Client, error) {
	c, err := cluster.New(cluster.Options{
		Getter: a.config, UserAgent: "kubectl-work/" + version, Now: a.Now, Crash: a.crash,
		RetryFor: a.retryFor,
		Warn:     func(text string) { fmt.Fprintln(a.Err, "Warning:", render.Line(text)) },
		Notice:   func(text string) { a.note("%s", text) },
	})
	if err == nil {
		a.clients = append(a.clients, c)
	}
	return c, err
}

// close ends what the command left open.
func (a *app) close() {
	for _, c := range a.clients {
		c.Close()
	}
}

// note tells a person something that is not the result, unless --quiet.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		a.notes.Lock()
		defer a.notes.Unlock()
		fmt.Fprintln(a.Err, render.Line(fmt.Sprintf(format, args...)))
	}
}

// colours tells whether the result may be coloured: only on a terminal, and never against NO_COLOR or TERM=dumb.
func (a *app) colours() bool { return printers.AllowsColorOutput(a.Out) }

// notFound is the answer for a Job that is not there: it names where we looked.
func notFound(c *cluster.Client, namespace, name string) error {
	where := fmt.Sprintf("namespace %s", namespace)
	if c.Context != "" {
		where += fmt.Sprintf(" of context %s", c.Context)
	}
	return &codeError{Code: CodeGone, Err: fmt.Errorf("job %q not found in %s, and no Work of that name has runs there", name, where)}
}

// cause is the error of a context that ended: why, not just that it did.
func cause(ctx context.Context) error { return context.Cause(ctx) }
