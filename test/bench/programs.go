package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// programs are the two that are compared, and where they find the cluster.
type programs struct {
	ours, theirs string
	kubeconfig   string
	home         string // HOME of both, with a discovery cache that the first round warms
}

func findPrograms(ctx context.Context) (*programs, error) {
	home, err := os.MkdirTemp("", "kubectl-work-bench-")
	if err != nil {
		return nil, err
	}
	p := &programs{home: home, ours: os.Getenv("KUBECTL_WORK_BIN"), theirs: os.Getenv("KUBECTL_BIN"), kubeconfig: os.Getenv("SANDBOX_KUBECONFIG")}
	if err := p.fill(ctx); err != nil {
		p.cleanup()
		return nil, err
	}
	return p, nil
}

func (p *programs) fill(ctx context.Context) error {
	if p.ours == "" {
		p.ours = "bin/kubectl-work"
	}
	if _, err := os.Stat(p.ours); err != nil {
		return fmt.Errorf("no plugin to measure, run `make build` first: %w", err)
	}
	if p.kubeconfig == "" {
		out, err := exec.CommandContext(ctx, "bin/sandbox", "kubeconfig").Output()
		if err != nil {
			return fmt.Errorf("no cluster to measure on, run `make bench` or `make sandbox-up` first: %w", err)
		}
		p.kubeconfig = strings.TrimSpace(string(out))
	}
	if p.theirs != "" {
		return nil
	}
	fmt.Println("building kubectl ...")
	p.theirs = filepath.Join(p.home, "kubectl")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", p.theirs, "k8s.io/kubernetes/cmd/kubectl")
	build.Dir = "sandbox"
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building kubectl: %w\n%s", err, out)
	}
	return nil
}

func (p *programs) cleanup() { _ = os.RemoveAll(p.home) } // a left-over folder in /tmp is no failure

func (p *programs) environ() []string {
	return []string{"HOME=" + p.home, "KUBECONFIG=" + p.kubeconfig, "PATH=" + os.Getenv("PATH")}
}

// compare runs both programs in turns.
func (p *programs) compare(ctx context.Context, q pair, rounds int) (ours, theirs sample, err error) {
	var a, b []sample
	for round := range rounds + 1 {
		one, err := p.measure(ctx, p.ours, q.ours)
		if err != nil {
			return sample{}, sample{}, err
		}
		two, err := p.measure(ctx, p.theirs, q.theirs)
		if err != nil {
			return sample{}, sample{}, err
		}
		if q.and != nil {
			more, err := p.measure(ctx, p.theirs, q.and)
			if err != nil {
				return sample{}, sample{}, err
			}
			two = two.plus(more)
		}
		if round > 0 { // the first one warms caches
			a, b = append(a, one), append(b, two)
		}
	}
	return median(a), median(b), nil
}

func (p *programs) measure(ctx context.Context, program string, args []string) (sample, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.Env = p.environ()
	took, err := clock(cmd)
	if err != nil {
		return sample{}, fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, stderr.String())
	}
	if stdout.Len() == 0 {
		return sample{}, fmt.Errorf("%s %s: %w", filepath.Base(program), strings.Join(args, " "), errors.New("no output"))
	}
	return took, nil
}
