// Package commands is the command line of the sandbox: flags in, text and exit codes out.
//
// It owns no logic of its own. Exit codes: 0 done; 1 failed; 2 wrong usage; 3 from `status` when the sandbox is not up;
// 130 interrupted;
// from `kubectl` those of kubectl.
package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/build"
	"github.com/kubectl-work/kubectl-work/sandbox/internal/cluster"
)

// The exit codes.
const (
	exitFailed = 1
	exitUsage  = 2
	exitNotUp  = 3
	// exitInterrupted is what shells say of a program that Ctrl-C ended.
	exitInterrupted = 130
)

// Env is what the program gets from its surroundings.
type Env struct {
	In       io.Reader
	Out, Err io.Writer
	Terminal bool // whether Err is one
	Getenv   func(string) string
	Environ  []string
	CacheDir func() (string, error)
	Driver   string // path of this program
	Root     bool
	Now      func() time.Time
	Replace  func(path string, args, environ []string) error // becomes another program
}

// codeError ends the program with a code. Without text there is nothing to say that was not said.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *codeError) Unwrap() error { return e.err }

// Main runs one command line and returns the exit code.
func Main(ctx context.Context, args []string, env Env) int {
	root := newRootCommand(env)
	root.SetArgs(args)
	root.SetIn(env.In)
	root.SetOut(env.Out)
	root.SetErr(env.Err)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	if ctx.Err() != nil {
		fmt.Fprintln(env.Err, "sandbox: interrupted; `sandbox down` removes what was started")
		return exitInterrupted
	}
	if text := err.Error(); text != "" {
		fmt.Fprintln(env.Err, "sandbox:", text)
	}
	if coded, ok := errors.AsType[*codeError](err); ok {
		return coded.code
	}
	return exitFailed
}

func newRootCommand(env Env) *cobra.Command {
	root := &cobra.Command{
		Use:   "sandbox",
		Short: "A real Kubernetes on this machine, for the demo and the tests",
		Long: `A real Kubernetes on this machine, for the demo and the tests: etcd, API server, controllers and scheduler built from
source, and a node. As root on Linux the node is real (containerd, runc, kubelet); otherwise kwok simulates it.

Environment:
  SANDBOX_HOME   where this sandbox lives (default: kubectl-work/sandbox/run in your cache directory);
                 with another home a second sandbox runs beside the first
  SANDBOX_CACHE  where built programs are (default: kubectl-work/sandbox in your cache directory)`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cmd.Help()
		},
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return &codeError{exitUsage, err} })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(
		newUpCommand(env), newDownCommand(env), newStatusCommand(env), newResetCommand(env), newKubeconfigCommand(env),
		newKubectlCommand(env), newImageCommand(env), newStopCommand(env), newStartCommand(env), newForwardCommand(),
	)
	usageArgs(root)
	return root
}

// usageArgs makes wrong arguments a wrong usage, in a command and those below it.
func usageArgs(cmd *cobra.Command) {
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return &codeError{exitUsage, err}
			}
			return nil
		}
	}
	for _, command := range cmd.Commands() {
		usageArgs(command)
	}
}

// open finds the sandbox that the environment names.
func (env Env) open() (cluster.Cluster, error) {
	home, cache := env.Getenv("SANDBOX_HOME"), env.Getenv("SANDBOX_CACHE")
	if home == "" || cache == "" {
		user, err := env.CacheDir()
		if err != nil {
			return cluster.Cluster{}, fmt.Errorf("no cache directory: %w; set SANDBOX_HOME and SANDBOX_CACHE", err)
		}
		base := filepath.Join(user, "kubectl-work", "sandbox")
		if home == "" {
			home = filepath.Join(base, "run")
		}
		if cache == "" {
			cache = base
		}
	}
	home, err := filepath.Abs(home)
	if err != nil {
		return cluster.Cluster{}, err
	}
	cache, err = filepath.Abs(cache)
	return cluster.Cluster{
		Home: home, Driver: env.Driver, Say: env.Err, Now: env.Now, Root: env.Root, Environ: env.Environ,
		Builder: build.Builder{Cache: cache, Say: env.Err, Terminal: env.Terminal},
	}, err
}
