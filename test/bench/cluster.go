package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// doneJob has run; the other Jobs are suspended, which is enough to list them.
const doneJob = "done"

// cluster prepares what is measured, with kubectl and not with a client of its own: on Linux the peak memory of a child
// begins at the memory of its parent, so this program has to be smaller than what it measures.
type cluster struct {
	programs  *programs
	namespace string
}

func (c *cluster) fill(ctx context.Context, jobs int) error {
	if err := c.kubectl(ctx, "", "create", "namespace", c.namespace); err != nil {
		return err
	}
	var manifest strings.Builder
	manifest.WriteString(job(doneJob, false))
	for i := range jobs - 1 {
		manifest.WriteString(job(fmt.Sprintf("job-%04d", i), true))
	}
	if err := c.kubectl(ctx, manifest.String(), "create", "--validate=false", "-f", "-"); err != nil {
		return err
	}
	return c.kubectl(ctx, "", "wait", "job/"+doneJob, "--for=condition=complete", "--timeout=60s")
}

func (c *cluster) drop(ctx context.Context) {
	if err := c.kubectl(ctx, "", "delete", "namespace", c.namespace, "--wait=false"); err != nil {
		fmt.Fprintln(os.Stderr, "bench: namespace", c.namespace, "is left:", err)
	}
}

func (c *cluster) kubectl(ctx context.Context, stdin string, args ...string) error {
	cmd := exec.CommandContext(ctx, c.programs.theirs, append([]string{"--namespace=" + c.namespace}, args...)...)
	cmd.Env = c.programs.environ()
	cmd.Stdin = strings.NewReader(stdin)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

func job(name string, suspended bool) string {
	return fmt.Sprintf(`---
apiVersion: batch/v1
kind: Job
metadata:
  name: %s
spec:
  suspend: %t
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: busybox:local
        command: [echo, done]
`, name, suspended)
}
