// Command sandbox runs a real Kubernetes on this machine, for the demo and the tests of kubectl work.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/kubectl-work/kubectl-work/sandbox/internal/commands"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends the program at once
	driver, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1)
	}
	// Some ways to become root leave out where Debian keeps what only root runs.
	if err := os.Setenv("PATH", os.Getenv("PATH")+":/usr/local/sbin:/usr/sbin:/sbin"); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox:", err)
		os.Exit(1)
	}
	os.Exit(commands.Main(ctx, os.Args[1:], commands.Env{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Terminal: term.IsTerminal(int(os.Stderr.Fd())),
		Getenv: os.Getenv, Environ: os.Environ(), CacheDir: os.UserCacheDir,
		Driver: driver, Root: os.Geteuid() == 0, Now: time.Now, Replace: syscall.Exec,
	}))
}
