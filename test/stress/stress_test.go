// Package stress lets many clients of the built plugin work on one concurrency group, kills some of them all the time, and asks
// the Pods themselves whether two of them were ever at work at once. It needs the sandbox, like test/e2e.
package stress

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

const (
	submitters = 50
	watchers   = 3
	waiters    = 5
	killEvery  = 3 * time.Second
	patience   = 12 * time.Minute
)

// A task takes the lock that all of the group share, on the node's own disk, and gives it back when it ends or is told to.
// Whoever finds it taken fails for good.
const task = `
apiVersion: kubectl-work.dev/v1beta2
kind: Work
metadata: {name: %s}
spec:
  concurrencyPolicy: %s
  concurrencyGroup: one
  schedulingPolicy: {priority: %d}
  maxRetries: 0
  template:
    spec:
      terminationGracePeriodSeconds: 5
      volumes:
      - {name: lock, hostPath: {path: %s, type: DirectoryOrCreate}}
      containers:
      - name: main
        image: busybox:local
        volumeMounts: [{name: lock, mountPath: /lock}]
        command:
        - sh
        - -c
        - |
          mkdir /lock/held || { echo "the lock is taken"; exit 9; }
          trap 'rmdir /lock/held; exit 0' TERM
          sleep 0.2 & wait
          rmdir /lock/held
`

func TestForbidNeverRunsTwoAtOnce(t *testing.T) {
	c := newCrowd(t)
	c.submit("Forbid")
	c.finish()
	for _, run := range c.runs() {
		require.Equal(t, "Succeeded", run.Verdict.Phase, "%s: %s", run.Name, run.Verdict.Message)
	}
}

func TestReplaceLeavesOnlyTheNewest(t *testing.T) {
	c := newCrowd(t)
	c.submit("Replace")
	c.finish()
	runs := c.runs()
	newest := slices.MaxFunc(runs, func(a, b run) int {
		if order := a.Created.Compare(b.Created); order != 0 {
			return order
		}
		return strings.Compare(a.UID, b.UID)
	})
	require.Equal(t, "Succeeded", newest.Verdict.Phase, newest.Verdict.Message)
	for _, run := range runs {
		require.NotContains(t, run.Verdict.Message, "lock is taken")
		if run.Verdict.Phase != "Succeeded" {
			require.Equal(t, "Replaced", run.Verdict.Reason, "%s: %s", run.Name, run.Verdict.Message)
		}
	}
}

// run is a row of list -o json.
type run struct {
	Name    string
	UID     string
	Created time.Time
	Verdict struct{ Phase, Reason, Message string }
}

// crowd are the clients of one test.
type crowd struct {
	t          *testing.T
	plugin     string
	kubectl    []string
	namespace  string
	kubeconfig string
	ctx        context.Context //nolint:containedctx // of the test
	end        context.CancelFunc
	clients    sync.WaitGroup
	mu         sync.Mutex
	alive      []*exec.Cmd
	killed     int
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := newNamespace(t)
	for range watchers {
		c.keep("watch")
	}
	for range waiters {
		c.keep("wait", "-l", "kubectl-work.dev/group=one", "--absent=wait", "--timeout=1m")
	}
	c.clients.Go(c.kill)
	return c
}

// newNamespace is a crowd of nobody yet.
func newNamespace(t *testing.T) *crowd {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	c := &crowd{t: t, plugin: os.Getenv("KUBECTL_WORK_BIN"), kubectl: []string{root + "/bin/sandbox", "kubectl"}, kubeconfig: os.Getenv("SANDBOX_KUBECONFIG")}
	if c.plugin == "" {
		c.plugin = root + "/bin/kubectl-work"
	}
	if c.kubeconfig == "" {
		out, err := exec.CommandContext(t.Context(), root+"/bin/sandbox", "kubeconfig").Output()
		require.NoError(t, err, "this test needs the sandbox: make sandbox-up")
		c.kubeconfig = strings.TrimSpace(string(out))
	}
	c.ctx, c.end = context.WithTimeout(t.Context(), patience)
	c.namespace = fmt.Sprintf("stress-%d-%d", os.Getpid(), rand.IntN(10_000)) //nolint:gosec,mnd // a name
	c.run(c.kubectl[0], append(c.kubectl[1:], "create", "namespace", c.namespace)...)
	t.Cleanup(func() {
		c.end()
		c.clients.Wait()
		drop := exec.Command(c.kubectl[0], append(c.kubectl[1:], "delete", "namespace", c.namespace, "--wait=false")...) //nolint:noctx // the test's own has ended
		drop.Env = c.env()
		require.NoError(t, drop.Run())
	})
	return c
}

func (c *crowd) env() []string { return append(os.Environ(), "KUBECONFIG="+c.kubeconfig) }

func (c *crowd) run(program string, args ...string) string {
	c.t.Helper()
	out, err := c.try(program, args...)
	require.NoError(c.t, err, out)
	return out
}

func (c *crowd) try(program string, args ...string) (string, error) {
	cmd := exec.CommandContext(c.ctx, program, args...)
	cmd.Env = c.env()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return out.String(), fmt.Errorf("%s %s: %w\n%s", program, strings.Join(args, " "), err, errs.String())
	}
	return out.String(), nil
}

// keep runs a client, and another one whenever it has ended or was killed.
func (c *crowd) keep(args ...string) {
	c.clients.Go(func() {
		for c.ctx.Err() == nil {
			cmd := exec.CommandContext(c.ctx, c.plugin, append(args, "-n", c.namespace)...) //nolint:gosec // ours
			cmd.Env = c.env()
			if err := cmd.Start(); err != nil {
				return
			}
			c.mu.Lock()
			c.alive = append(c.alive, cmd)
			c.mu.Unlock()
			_ = cmd.Wait() // killed, or done with what it saw
			c.mu.Lock()
			c.alive = slices.DeleteFunc(c.alive, func(other *exec.Cmd) bool { return other == cmd })
			c.mu.Unlock()
		}
	})
}

// kill ends one of the clients every few seconds, without a chance to clean up.
func (c *crowd) kill() {
	tick := time.NewTicker(killEvery)
	defer tick.Stop()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		}
		c.mu.Lock()
		if n := len(c.alive); n > 0 {
			_ = c.alive[rand.IntN(n)].Process.Kill() //nolint:gosec // any one; it may have just ended
			c.killed++
		}
		c.mu.Unlock()
	}
}

// submit lets all submitters submit at once, each with a priority of its own. Those that are killed say the same again.
func (c *crowd) submit(policy string) {
	c.t.Helper()
	folder := c.t.TempDir()
	lock := "/tmp/" + c.namespace // on the node
	const priorities, others = 5, 10
	group, ctx := errgroup.WithContext(c.ctx)
	group.SetLimit(others)
	for i := range submitters {
		group.Go(func() error {
			name := fmt.Sprintf("task-%02d", i)
			file := filepath.Join(folder, name+".yaml")
			if err := os.WriteFile(file, fmt.Appendf(nil, task, name, policy, i%priorities, lock), 0o600); err != nil {
				return err
			}
			for ctx.Err() == nil {
				_, err := c.try(c.plugin, "submit", "-n", c.namespace, "-f", file, "--submit-id", name)
				if err == nil {
					return nil
				}
				c.t.Log(err)
			}
			return ctx.Err()
		})
	}
	require.NoError(c.t, group.Wait())
}

// finish waits until every run has ended. Whoever waits moves the line on, too, however often the others are killed.
func (c *crowd) finish() {
	c.t.Helper()
	start := time.Now()
	out, err := c.try(c.plugin, "wait", "--all", "-n", c.namespace, "--fail-fast=off", "--timeout=11m", "-o", "name")
	c.mu.Lock()
	c.t.Logf("%d runs ended %s after the last submit; %d clients were killed", len(strings.Fields(out)), time.Since(start).Round(time.Second), c.killed)
	c.mu.Unlock()
	const failed = 2 // some runs failed: which may is for the test to say
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != failed {
		require.NoError(c.t, err)
	}
}

func (c *crowd) runs() []run {
	c.t.Helper()
	var list struct{ Items []run }
	require.NoError(c.t, json.Unmarshal([]byte(c.run(c.plugin, "list", "-n", c.namespace, "-o", "json")), &list))
	require.Len(c.t, list.Items, submitters)
	return list.Items
}
