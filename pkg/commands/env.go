// Package commands is the command tree: one file a subcommand, flags → options → call → print.
//
// It owns flags, exit codes and the order in which a command does things. It judges nothing, draws nothing and speaks to
// no API server itself: those are status, render and cluster. Main can be called as often as a test likes; the exit
// codes are an API that TestExitCodesPage keeps.
package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"
)

// Env is everything that a command reads of its process.
type Env struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Now    func() time.Time
	Getenv func(string) string
	NewID  func() string // random, for submit ids
}

// InterruptError is the cause of a context that a signal ended.
type InterruptError struct{ Signal os.Signal }

func (e *InterruptError) Error() string {
	if e.Signal == syscall.SIGTERM {
		return "interrupted (SIGTERM)"
	}
	return "interrupted (SIGINT)"
}

// ExitCode is 128 and the number of the signal.
func (e *InterruptError) ExitCode() int { return int(e.code()) }

func (e *InterruptError) code() Code {
	if e.Signal == syscall.SIGTERM {
		return CodeTerminated
	}
	return CodeInterrupted
}

// panicError is a panic that was caught.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf(`internal error: %v

This is a bug in kubectl work %s. What was done on the cluster so far stands; the same command can be run again.
Please report it with the command line and these lines:

%s`, e.value, version, e.stack)
}

// waits tells whether a command line is one whose last line on stderr is the summary, whatever happens: also when its
// flags could not be read.
func waits(cmd *cobra.Command, args []string) bool {
	return cmd.Name() == "wait" || (cmd.Name() == "submit" || cmd.Name() == "retry") && slices.Contains(args, "--wait")
}

// Main runs one command line and returns its exit code. Errors are printed here, once.
func Main(ctx context.Context, args []string, env Env) (code int) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	app := &app{Env: env, started: env.Now(), crash: func(value any) { cancel(&panicError{value: value, stack: debug.Stack()}) }}
	defer func() {
		if value := recover(); value != nil {
			err := &panicError{value: value, stack: debug.Stack()}
			fmt.Fprintln(env.Err, "error:", err)
			code = int(CodeInternal)
		}
	}()
	defer app.close()
	klog.SetLogger(logr.Discard())
	root := newRootCommand(app) //nolint:contextcheck // commands are given their context when they run
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if caught, ok := errors.AsType[*panicError](context.Cause(ctx)); ok {
		err = caught
	}
	if err == nil {
		return int(CodeOK)
	}
	if text := message(err); text != "" {
		fmt.Fprintln(env.Err, "error:", text)
	}
	if waits(cmd, args) && !app.summed {
		report := &waitReport{app: app}
		fmt.Fprintln(env.Err, report.summary(nil, exitCode(err), err))
	}
	return int(exitCode(err))
}
