package commands

import (
	"context"

	"github.com/kubectl-work/kubectl-work/pkg/debug"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// checkLoopback checks --debug-addr.
func checkLoopback(address string) error {
	if address == "" {
		return nil
	}
	if err := debug.CheckAddress(address); err != nil {
		return refuse("--debug-addr=%s: %w", address, err)
	}
	return nil
}

// shown is a loop as the debug server sees it.
type shown struct{ *watch.Loop }

// Rows implements debug.Source.
func (s shown) Rows() []render.Row {
	var rows []render.Row
	for _, run := range s.Runs() {
		rows = append(rows, render.Row{Job: run.Job, Verdict: run.Verdict})
	}
	return rows
}

// Acts implements debug.Source.
func (s shown) Acts() bool { return s.Acting == nil || s.Acting() }

// serve starts the debug server where it is asked for, once the loop runs. The returned function ends it.
func (o *watchOptions) serve(ctx context.Context, loop *watch.Loop, view *watchView) (stop func(), err error) {
	if o.debugAddr == "" {
		return func() {}, nil
	}
	server := debug.NewServer(shown{loop})
	address, err := server.Listen(ctx, o.debugAddr)
	if err != nil {
		return nil, refuse("--debug-addr: %w", err)
	}
	o.app.note("serving /healthz, /metrics and /debug/work-status at http://%s", address)
	view.seen = server.Changed
	loop.Passed = func(p watch.Pass) { server.Passed(o.app.Now(), p.Delay, p.Took, p.Err) }
	did := loop.Did
	loop.Did = func(d watch.Done) {
		server.Did(d.Err)
		if did != nil {
			did(d)
		}
	}
	started := loop.Started
	loop.Started = func() {
		server.Serve()
		if started != nil {
			started()
		}
	}
	return server.Close, nil
}
