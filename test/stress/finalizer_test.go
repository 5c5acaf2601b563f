package stress

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const raced = 1000

// A run that never starts, and has a finalizer of somebody else before and behind ours.
const finalized = `---
apiVersion: kubectl-work.dev/v1beta2
kind: Work
metadata: {name: held-%04d, labels: {stress: finalizer}, finalizers: [example.com/first, example.com/second]}
spec:
  suspend: true
  cleanupPolicy: {finalizer: true}
  template:
    spec:
      containers:
      - {name: main, image: "busybox:local"}
`

// Two watches that may not use Leases both act on everything.
const rights = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: plain}
rules:
- {apiGroups: [batch], resources: [jobs], verbs: [get, list, watch, patch]}
- {apiGroups: [""], resources: [pods], verbs: [get, list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: plain}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: plain}
subjects: [{kind: ServiceAccount, name: plain}]
`

// Two clients race for the finalizer of each of a thousand runs: ours goes once, and no other does.
func TestFinalizersAreTakenOffOnce(t *testing.T) {
	c := newNamespace(t)
	begun := time.Now()
	c.apply(rights)
	var works strings.Builder
	for i := range raced {
		fmt.Fprintf(&works, finalized, i)
	}
	file := filepath.Join(t.TempDir(), "works.yaml")
	require.NoError(t, os.WriteFile(file, []byte(works.String()), 0o600))
	c.run(c.plugin, "submit", "-n", c.namespace, "-f", file, "-o", "name")
	defer c.letGo()
	for range 2 {
		c.keep("watch", "-q", "--as=system:serviceaccount:"+c.namespace+":plain")
	}
	c.t.Log("submitted", time.Since(begun).Round(time.Second))
	c.run(c.plugin, "stop", "-n", c.namespace, "-l", "stress=finalizer", "-y", "-o", "name")

	c.t.Log("stopped", time.Since(begun).Round(time.Second))
	start := time.Now()
	for {
		counts := map[string]int{}
		for _, list := range c.finalizers() {
			counts[strings.Join(list, " ")]++
		}
		if counts["example.com/first example.com/second"] == raced {
			t.Logf("%d finalizers were taken off %s after the last stop", raced, time.Since(start).Round(time.Second))
			return
		}
		require.NotContains(t, counts, "")
		require.NotContains(t, counts, "example.com/first")
		require.NotContains(t, counts, "example.com/second")
		require.NoError(t, c.ctx.Err(), "%v", counts)
		select {
		case <-c.ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

func (c *crowd) apply(manifest string) {
	c.t.Helper()
	cmd := exec.CommandContext(c.ctx, c.kubectl[0], append(c.kubectl[1:], "apply", "-n", c.namespace, "-f", "-")...)
	cmd.Env = c.env()
	cmd.Stdin = strings.NewReader(manifest)
	out, err := cmd.CombinedOutput()
	require.NoError(c.t, err, string(out))
}

// finalizers are those of each Job.
func (c *crowd) finalizers() map[string][]string {
	c.t.Helper()
	var list struct {
		Items []struct {
			Metadata struct {
				Name       string
				Finalizers []string
			}
		}
	}
	out := c.run(c.kubectl[0], append(c.kubectl[1:], "get", "jobs", "-n", c.namespace, "-o", "json")...)
	require.NoError(c.t, json.Unmarshal([]byte(out), &list))
	all := map[string][]string{}
	for _, item := range list.Items {
		all[item.Metadata.Name] = item.Metadata.Finalizers
	}
	return all
}

// letGo takes off the finalizers of somebody else, several at a time, so that the namespace can be deleted.
func (c *crowd) letGo() {
	const several = 8
	var all sync.WaitGroup
	for part := range several {
		args := slices.Concat(c.kubectl[1:], []string{"patch", "jobs", "-n", c.namespace, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`})
		for i := part; i < raced; i += several {
			args = append(args, fmt.Sprintf("held-%04d", i))
		}
		all.Go(func() {
			patch := exec.Command(c.kubectl[0], args...) //nolint:noctx,gosec // the test's own may have ended; these are ours
			patch.Env = c.env()
			if out, err := patch.CombinedOutput(); err != nil {
				c.t.Log(err, string(out[:min(len(out), 1000)])) //nolint:mnd // enough to see why
			}
		})
	}
	all.Wait()
}
