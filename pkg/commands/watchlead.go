package commands

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// leading is the part of a watch in the election of the one that acts. It only saves requests: writes of two at once are right, too.
type leading struct {
	o      *watchOptions
	client *cluster.Client
	loop   *watch.Loop
	id     string

	mu    sync.Mutex
	while context.Context //nolint:containedctx // lives as long as this client leads; nil: not yet
	done  sync.WaitGroup
	end   context.CancelFunc
}

func newLeading(o *watchOptions, c *cluster.Client, loop *watch.Loop) *leading {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	l := &leading{o: o, client: c, loop: loop, id: fmt.Sprintf("%s_%d_%s", host, os.Getpid(), o.app.NewID())}
	loop.Acting = l.acting
	return l
}

// lease is the name of the Lease for what this watch is about: those about something else act beside it.
func (l *leading) lease() string {
	what := fmt.Sprintf("%t/%s/%s", l.o.all, l.o.selector, strings.Join(l.o.names, ","))
	sum := sha256.Sum256([]byte(what))
	const digits = 10
	return "kubectl-work-watch-" + hex.EncodeToString(sum[:])[:digits]
}

// start enters the election once the loop runs. Without the right to Leases this watch acts at once.
func (l *leading) start(ctx context.Context) {
	ctx, l.end = context.WithCancel(ctx)
	if err := l.client.MayHoldLeases(ctx, l.client.Namespace); err != nil {
		l.o.app.note("this watch acts beside any other: %s", message(err))
		l.leads(ctx)
		return
	}
	l.loop.Started = func() {
		l.done.Go(func() {
			err := l.client.TakePart(ctx, cluster.Election{
				Namespace: l.client.Namespace, Lease: l.lease(), Identity: l.id,
				Leads: l.leads, Sees: l.sees,
			})
			if err != nil {
				l.o.app.note("this watch acts beside any other: %s", message(err))
				l.leads(ctx)
			}
		})
	}
}

func (l *leading) leads(while context.Context) {
	l.mu.Lock()
	l.while = while
	l.mu.Unlock()
	l.loop.Again()
}

func (l *leading) sees(identity string) {
	switch identity {
	case "":
	case l.id:
		l.o.app.note("this watch acts")
	default:
		l.o.app.note("%s acts; this watch looks on, and takes over when it is gone", identity)
	}
}

func (l *leading) acting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.while != nil && l.while.Err() == nil
}

// stop leaves the election: the others may go on at once.
func (l *leading) stop() {
	l.end()
	l.done.Wait()
}
