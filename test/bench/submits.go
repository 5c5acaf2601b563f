package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// submits creates as many suspended Jobs from one file with each program, a few times in turns, and prints the medians.
func submits(ctx context.Context, c *cluster, works int) error {
	const rounds = 3
	var ours, theirs []time.Duration
	for round := range rounds {
		for _, program := range []string{c.programs.ours, c.programs.theirs} {
			prefix := fmt.Sprintf("many-%d-%d", round, len(ours)+len(theirs))
			args := []string{"create", "-f"}
			if program == c.programs.ours {
				args = []string{"submit", "-f"}
			}
			took, err := c.create(ctx, program, args, prefix, works)
			if err != nil {
				return err
			}
			if program == c.programs.ours {
				ours = append(ours, took)
			} else {
				theirs = append(theirs, took)
			}
		}
	}
	slices.Sort(ours)
	slices.Sort(theirs)
	a, b := at(ours, 50), at(theirs, 50)
	fmt.Printf("\n%d suspended Jobs from one file, median of %d: submit %.2f s, kubectl create %.2f s, ratio %.2f\n", works, rounds, a.Seconds(), b.Seconds(), float64(a)/float64(b))
	return nil
}

// create writes the file, makes a namespace for it, and times the program.
func (c *cluster) create(ctx context.Context, program string, args []string, prefix string, works int) (time.Duration, error) {
	var manifest strings.Builder
	for i := range works {
		manifest.WriteString(job(fmt.Sprintf("%s-%d", prefix, i), true))
	}
	path := filepath.Join(c.programs.home, prefix+".yaml")
	if err := os.WriteFile(path, []byte(manifest.String()), 0o600); err != nil {
		return 0, err
	}
	namespace := c.namespace + "-" + prefix
	if err := c.kubectl(ctx, "", "create", "namespace", namespace); err != nil {
		return 0, err
	}
	defer func() {
		_ = c.kubectl(context.WithoutCancel(ctx), "", "delete", "namespace", namespace, "--wait=false")
	}()
	cmd := exec.CommandContext(ctx, program, append(args, path, "--namespace="+namespace)...)
	cmd.Env = c.programs.environ()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, stderr.String())
	}
	return time.Since(began), nil
}
