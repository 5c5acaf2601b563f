//go:build unix

// Command unprivileged runs the demo as a user without any rights on this machine.
//
// It shows that the demo needs no root: the sandbox then simulates its node. Run by root it gives up its rights for
// the parts that a user would run, in a folder that this user can read; it leaves nothing behind. The sandbox that it
// starts is a second one and does not touch another that is up.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// nobody is the user of the usual name; it owns no files.
const nobody = 65534

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "unprivileged:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) (err error) {
	folder, err := os.MkdirTemp("", "work-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	home := filepath.Join(folder, "home")
	if err := prepare(folder, home); err != nil {
		return err
	}

	// Whoever runs this has the modules and the build cache; the user without rights only gets what was built.
	cache := "SANDBOX_CACHE=" + filepath.Join(folder, "cache")
	builder := person{folder: folder, env: append(os.Environ(), cache, "SANDBOX_HOME="+filepath.Join(folder, "built"))}
	user := person{folder: folder, credential: credential(), env: []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "SANDBOX_HOME=" + filepath.Join(home, "sandbox"), cache,
	}}
	if err := builder.withSandbox(ctx, []string{"--runtime=kwok", "--wait=0"}); err != nil {
		return fmt.Errorf("build the sandbox: %w", err)
	}
	return user.withSandbox(ctx, nil, "bin/demo")
}

// prepare copies what a user needs into the folder and makes the home.
func prepare(folder, home string) error {
	for _, name := range []string{"bin", "examples"} {
		if err := os.CopyFS(filepath.Join(folder, name), os.DirFS(name)); err != nil {
			return err
		}
	}
	if err := os.Chmod(folder, 0o755); err != nil { // the user without rights has to get in
		return err
	}
	if err := os.Mkdir(home, 0o700); err != nil || os.Getuid() != 0 {
		return err
	}
	return os.Chown(home, nobody, nobody)
}

func credential() *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	return &syscall.Credential{Uid: nobody, Gid: nobody}
}

// person runs programs in a folder with an environment and a user's rights.
type person struct {
	folder     string
	env        []string
	credential *syscall.Credential
}

// withSandbox starts a sandbox, runs programs on it as long as they succeed, and stops it.
func (p person) withSandbox(ctx context.Context, flags []string, programs ...string) (err error) {
	defer func() { // also when starting failed half way or the context is over
		down, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, p.run(down, "bin/sandbox", "down"))
	}()
	if err := p.run(ctx, "bin/sandbox", append([]string{"up"}, flags...)...); err != nil {
		return err
	}
	for _, program := range programs {
		if err := p.run(ctx, program); err != nil {
			return err
		}
	}
	return nil
}

func (p person) run(ctx context.Context, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, filepath.Join(p.folder, name), args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.folder, p.env, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: p.credential}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
