// Command bench measures kubectl work beside kubectl: start-up, list, describe and wait on the same cluster in the same
// run. `make bench` runs it on the sandbox.
//
// Beside the pairs it measures a watch over many runs, creates many suspended Works from one file, counts the requests of a wait for all Jobs, and measures how long after a Job's end each program
// ends, from the server's answer to the write of the condition.
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
	jobs, rounds, ends, works, runs, turns int
	only                                   string
}

func main() {
	var o options
	flag.IntVar(&o.jobs, "jobs", 500, "Jobs in the namespace that is listed")
	flag.IntVar(&o.rounds, "rounds", 15, "runs of each command")
	flag.IntVar(&o.works, "works", 1000, "suspended Works that are created from one file")
	flag.IntVar(&o.ends, "ends", 30, "Jobs whose end each program waits for")
	flag.IntVar(&o.runs, "runs", 10_000, "runs, with a Pod each, that a watch is measured over; 0 leaves it out")
	flag.IntVar(&o.turns, "turns", 200, "runs of one group that a watch releases one after the other")
	flag.StringVar(&o.only, "only", "", "only this part: loop")
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
	switch o.only {
	case "":
	case "loop":
		return loop(ctx, c, o.runs, o.turns)
	default:
		return fmt.Errorf("-only=%s: the only part is loop", o.only)
	}
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
	if err := watches(ctx, p, c.namespace, o.jobs); err != nil {
		return err
	}
	if err := submits(ctx, c, o.works); err != nil {
		return err
	}
	if err := ends(ctx, c, o.ends); err != nil {
		return err
	}
	return loop(ctx, c, o.runs, o.turns)
}

// pair is one question, asked with both programs.
type pair struct {
	name         string
	ours, theirs []string
	and          []string // what kubectl needs besides, for as much
}

func pairs(namespace string) []pair {
	n := "--namespace=" + namespace
	return []pair{
		{name: "start: version", ours: []string{"version", "--client"}, theirs: []string{"version", "--client"}},
		{name: "start: --help", ours: []string{"--help"}, theirs: []string{"--help"}},
		{name: "list", ours: []string{"list", n}, theirs: []string{"get", "jobs", n}},
		{name: "list -o json", ours: []string{"list", n, "-o", "json"}, theirs: []string{"get", "jobs", n, "-o", "json"}},
		{name: "describe", ours: []string{"describe", doneJob, n}, theirs: []string{"describe", "job", doneJob, n}},
		{
			name: "describe, Pods", ours: []string{"describe", doneJob, n}, theirs: []string{"describe", "job", doneJob, n},
			and: []string{"describe", "pods", "-l", "batch.kubernetes.io/job-name=" + doneJob, n},
		},
		{name: "wait", ours: []string{"wait", doneJob, n, "--quiet"}, theirs: []string{"wait", "job/" + doneJob, n, "--for=condition=complete"}},
	}
}
