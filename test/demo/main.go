// Command demo shows the main job of kubectl work on a cluster: a Work that succeeds, one that fails, and why it failed.
//
// It prints every command it runs and fails when one answers with another exit code than the page docs/exit-codes.md
// promises. It works in a namespace of its own that it deletes again, and starts or stops no cluster.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	exampleImage = "busybox:local" // built into the sandbox
	publicImage  = "busybox"       // the same on any other cluster
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

// demo is one run of the show.
type demo struct {
	bin            string // the plugin
	namespace      string
	env            []string
	kubectl        []string
	folder         string // for examples with another image
	current        bool
	stdout, stderr io.Writer
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("demo", flag.ContinueOnError)
	cluster := flags.String("cluster", "sandbox", "sandbox, or current for the cluster of the current context")
	bin := flags.String("bin", "bin/kubectl-work", "the plugin")
	sandbox := flags.String("sandbox", "bin/sandbox", "the program that runs the sandbox")
	if err := flags.Parse(args); err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "kubectl-work-demo-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a left folder under the temporary one harms nobody

	d := &demo{
		bin:       *bin,
		namespace: "kubectl-work-demo-" + strings.ToLower(rand.Text()[:6]),
		env:       os.Environ(),
		folder:    folder,
		stdout:    stdout,
		stderr:    stderr,
	}
	switch *cluster {
	case "sandbox":
		path, err := exec.CommandContext(ctx, *sandbox, "kubeconfig").Output()
		if err != nil {
			return fmt.Errorf("no sandbox is up (make sandbox-up): %w", err)
		}
		d.env = append(d.env, "KUBECONFIG="+strings.TrimSpace(string(path)))
		d.kubectl = []string{*sandbox, "kubectl"}
	case "current":
		d.current = true
		d.kubectl = []string{"kubectl"}
	default:
		return fmt.Errorf("-cluster=%s: want sandbox or current", *cluster)
	}
	return d.show(ctx)
}

func (d *demo) show(ctx context.Context) error {
	if err := d.administer(ctx, "create", "namespace", d.namespace); err != nil {
		return fmt.Errorf("cannot make a namespace for the demo: %w", err)
	}
	defer func() { // also after Ctrl-C, hence not with ctx
		cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		if err := d.administer(cleanup, "delete", "namespace", d.namespace, "--wait=false"); err != nil {
			fmt.Fprintf(d.stderr, "demo: namespace %s is still there: %v\n", d.namespace, err)
		}
	}()

	d.say("A Work file becomes a Job, and --wait answers when it is done, with its outcome as the exit code.")
	if err := d.submit(ctx, "examples/hello.yaml", 0); err != nil {
		return err
	}
	if err := d.work(ctx, 0, "logs", "hello"); err != nil {
		return err
	}
	d.say("This one fails. Exit code 2 means just that: the task failed, not the tool and not the cluster.")
	if err := d.submit(ctx, "examples/fails.yaml", 2); err != nil {
		return err
	}
	d.say("And here is why.")
	if err := d.work(ctx, 0, "describe", "fails"); err != nil {
		return err
	}
	return d.work(ctx, 0, "list")
}

// submit submits an example and waits for its end.
func (d *demo) submit(ctx context.Context, example string, wantCode int) error {
	file := example
	if d.current {
		text, err := os.ReadFile(example)
		if err != nil {
			return err
		}
		file = filepath.Join(d.folder, filepath.Base(example))
		text = []byte(strings.ReplaceAll(string(text), exampleImage, publicImage))
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
	}
	return d.work(ctx, wantCode, "submit", "-f", file, "--wait")
}

// work runs the plugin, shows the command as a user would type it, and holds it to its exit code.
func (d *demo) work(ctx context.Context, wantCode int, args ...string) error {
	fmt.Fprintf(d.stdout, "\n$ kubectl work %s\n", strings.Join(args, " "))
	code, err := d.exec(ctx, d.stdout, d.bin, append(args, "--namespace", d.namespace)...)
	if err != nil {
		return err
	}
	if code != 0 {
		fmt.Fprintf(d.stdout, "(exit code %d)\n", code)
	}
	if code != wantCode {
		return fmt.Errorf("kubectl work %s ended with exit code %d, want %d", args[0], code, wantCode)
	}
	return nil
}

// administer runs kubectl; what it says is shown only when it fails.
func (d *demo) administer(ctx context.Context, args ...string) error {
	var out strings.Builder
	code, err := d.exec(ctx, &out, d.kubectl[0], append(d.kubectl[1:], args...)...)
	if err == nil && code != 0 {
		err = fmt.Errorf("kubectl %s: exit code %d: %s", strings.Join(args, " "), code, strings.TrimSpace(out.String()))
	}
	return err
}

// exec runs a program and gives its exit code. Both of its streams go to out, so that they stay in order.
func (d *demo) exec(ctx context.Context, out io.Writer, name string, args ...string) (int, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = d.env, out, out
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it gets the chance to say where things stand
	cmd.WaitDelay = 5 * time.Second
	err := cmd.Run()
	if cause := context.Cause(ctx); cause != nil {
		return 0, cause
	}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

func (d *demo) say(text string) {
	fmt.Fprintf(d.stdout, "\n# %s\n", text)
}
