// Command kubectl-work is the kubectl plugin `kubectl work`.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/kubectl-work/kubectl-work/pkg/commands"
)

func main() {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		first := &commands.InterruptError{Signal: <-signals}
		cancel(first)
		select { // the first signal ends the command in good order, within 2 s; the second ends it at once
		case <-signals:
		case <-time.After(2 * time.Second):
		}
		os.Exit(first.ExitCode())
	}()
	os.Exit(commands.Main(ctx, commands.CommandLine(os.Args), commands.Env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Now: time.Now, Getenv: os.Getenv,
		NewID: uuid.NewString,
	}))
}
