// Command bench measures kubectl work beside kubectl: start-up, list, describe and wait on the same cluster in the same
// run. `make bench` runs it on the sandbox.
//
// Each pair of programs is run in turns, so that whatever else the machine does meets both. It prints medians of wall
// time, processor time and peak memory, and the ratio: below 1 is better than kubectl. It judges nothing; numbers on a
// busy machine say more about the machine.
//
// Environment: SANDBOX_KUBECONFIG (default: what `bin/sandbox kubeconfig` prints), KUBECTL_WORK_BIN (default:
// bin/kubectl-work), KUBECTL_BIN (default: the kubectl of the sandbox's version, built by itself, because the one
// inside the sandbox's program also starts up the rest of Kubernetes).
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

type options struct {
	jobs, rounds int
}

func main() {
	var o options
	flag.IntVar(&o.jobs, "jobs", 300, "Jobs in the namespace that is listed")
	flag.IntVar(&o.rounds, "rounds", 15, "runs of each command")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(o options) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p, err := findPrograms(ctx)
	if err != nil {
		return err
	}
	defer p.cleanup()
	c := &cluster{programs: p, namespace: fmt.Sprintf("bench-%d", os.Getpid())}
	fmt.Printf("preparing namespace %s with %d Jobs ...\n", c.namespace, o.jobs)
	defer func() {
		after, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
		defer cancel()
		c.drop(after)
	}()
	if err := c.fill(ctx, o.jobs); err != nil {
		return err
	}
	fmt.Printf("%d runs each, in turns; medians\n\n", o.rounds)
	fmt.Printf("%-16s   %-25s   %-25s   %s\n", "", "kubectl work", "kubectl", "ratio")
	cost := fmt.Sprintf("%8s %8s %7s", "wall", "cpu", "memory")
	fmt.Printf("%-16s   %s   %s   %5s %5s %6s\n", "", cost, cost, "wall", "cpu", "memory")
	for _, pair := range pairs(c.namespace) {
		ours, theirs, err := p.compare(ctx, pair, o.rounds)
		if err != nil {
			return fmt.Errorf("%s: %w", pair.name, err)
		}
		fmt.Printf("%-16s   %s   %s   %s\n", pair.name, ours, theirs, ours.over(theirs))
	}
	return nil
}

// pair is one question, asked with both programs.
type pair struct {
	name         string
	ours, theirs []string
}

func pairs(namespace string) []pair {
	n := "--namespace=" + namespace
	return []pair{
		{"start: version", []string{"version", "--client"}, []string{"version", "--client"}},
		{"start: --help", []string{"--help"}, []string{"--help"}},
		{"list", []string{"list", n}, []string{"get", "jobs", n}},
		{"list -o json", []string{"list", n, "-o", "json"}, []string{"get", "jobs", n, "-o", "json"}},
		{"describe", []string{"describe", doneJob, n}, []string{"describe", "job", doneJob, n}},
		{"wait", []string{"wait", doneJob, n, "--quiet"}, []string{"wait", "job/" + doneJob, n, "--for=condition=complete"}},
	}
}
