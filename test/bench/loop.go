package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

// turn is a Work of a group whose Job nobody on the cluster runs: its end is written into its status, so that the moment is known.
const turn = `---
apiVersion: kubectl-work.dev/v1beta2
kind: Work
metadata: {name: %s}
spec:
  concurrencyPolicy: %s
  managedBy: example.com/bench
  template:
    spec:
      containers:
      - {name: main, image: "busybox:local"}
`

// body is a Pod that no scheduler and no node sees, controlled by a Job.
const body = `---
apiVersion: v1
kind: Pod
metadata:
  name: %[1]s-pod
  labels: {batch.kubernetes.io/job-name: %[1]s}
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: %[1]s, uid: %[2]s, controller: true}]
spec:
  schedulerName: none
  containers:
  - {name: main, image: "busybox:local"}
`

// loop measures a running watch: its size over many runs and Pods, and how long after the end of a run the next of its group is
// released.
func loop(ctx context.Context, c *cluster, runs, turns int) error {
	if runs > 0 {
		if err := c.size(ctx, runs); err != nil {
			return err
		}
	}
	return c.turns(ctx, turns)
}

// size makes runs with a Pod each, lets a watch write down how they stand, and measures another one over what is settled.
func (c *cluster) size(ctx context.Context, runs int) error {
	big := &cluster{programs: c.programs, namespace: c.namespace + "-size"}
	if err := big.kubectl(ctx, "", "create", "namespace", big.namespace); err != nil {
		return err
	}
	defer big.drop(context.WithoutCancel(ctx))
	var works strings.Builder
	for i := range runs {
		fmt.Fprintf(&works, turn, fmt.Sprintf("run-%05d", i), "Allow")
	}
	if _, err := big.plugin(ctx, works.String(), "submit", "-f", "-", "-o", "name"); err != nil {
		return err
	}
	if err := big.fillPods(ctx); err != nil {
		return err
	}
	if _, err := big.plugin(ctx, "", "watch", "--once"); err != nil {
		return err
	}
	w, err := big.watch(ctx, "-v=6")
	if err != nil {
		return err
	}
	defer w.stop()
	select { // whatever it has to do for what is settled, it has done by then
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(15 * time.Second):
	}
	now, most, err := memory(w.cmd.Process.Pid)
	if err != nil {
		return err
	}
	writes := 0
	for _, line := range w.said() {
		if strings.Contains(line, `verb="PATCH"`) || strings.Contains(line, `verb="POST"`) && !strings.Contains(line, "selfsubject") {
			writes++
		}
	}
	fmt.Printf("\nwatch over %d Jobs and as many Pods: %d MiB resident, %d MiB at most; %d writes over what is settled\n", runs, now>>10, most>>10, writes)
	return nil
}

func (c *cluster) fillPods(ctx context.Context) error {
	out, err := c.plugin(ctx, "", "list", "-o", "json")
	if err != nil {
		return err
	}
	var list struct {
		Items []struct{ Name, UID string }
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		return err
	}
	const several = 8
	parts := make([]strings.Builder, several)
	for i, item := range list.Items {
		fmt.Fprintf(&parts[i%several], body, item.Name, item.UID)
	}
	failed := make(chan error, several)
	for i := range parts {
		go func() { failed <- c.kubectl(ctx, parts[i].String(), "create", "--validate=false", "-f", "-") }()
	}
	for range parts {
		if err := <-failed; err != nil {
			return err
		}
	}
	return nil
}

// plugin runs the plugin and returns what it prints.
func (c *cluster) plugin(ctx context.Context, stdin string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.programs.ours, append(args, "--namespace="+c.namespace)...)
	cmd.Env = c.programs.environ()
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("kubectl work %s: %w\n%s", strings.Join(args, " "), err, errs.String())
	}
	return out.String(), nil
}

// watching is a running watch that acts.
type watching struct {
	cmd   *exec.Cmd
	lines chan string
}

func (c *cluster) watch(ctx context.Context, args ...string) (*watching, error) {
	cmd := exec.CommandContext(ctx, c.programs.ours, append([]string{"watch", "--debug-addr=127.0.0.1:0", "--namespace=" + c.namespace}, args...)...)
	cmd.Env = c.programs.environ()
	errs, err := cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	const many = 1 << 16
	w := &watching{cmd: cmd, lines: make(chan string, many)}
	go func() {
		defer close(w.lines)
		for lines := bufio.NewScanner(errs); lines.Scan(); {
			w.lines <- lines.Text()
		}
	}()
	address := ""
	for line := range w.lines {
		if _, after, is := strings.Cut(line, " at http://"); is {
			address = after
		}
		if line == "this watch acts" {
			return w, healthy(ctx, address)
		}
	}
	return nil, fmt.Errorf("the watch ended: %w", cmd.Wait())
}

// healthy returns when a watch has read everything.
func healthy(ctx context.Context, address string) error {
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", nil)
		if err != nil {
			return err
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if answer.StatusCode == http.StatusOK {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// said is what it has printed to stderr since the last call.
func (w *watching) said() []string {
	var all []string
	for {
		select {
		case line, is := <-w.lines:
			if !is {
				return all
			}
			all = append(all, line)
		default:
			return all
		}
	}
}

func (w *watching) stop() {
	_ = w.cmd.Process.Signal(os.Interrupt)
	for range w.lines {
	}
	_ = w.cmd.Wait() // interrupted
}

// memory is the resident memory of a process, and the most that it was, in KiB.
func memory(pid int) (now, most int, err error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(fields) < 2 { //nolint:mnd // a name and a value
			continue
		}
		switch fields[0] {
		case "VmRSS:":
			now, err = strconv.Atoi(fields[1])
		case "VmHWM:":
			most, err = strconv.Atoi(fields[1])
		}
		if err != nil {
			return 0, 0, err
		}
	}
	return now, most, nil
}

// turns ends the runs of a group one after the other, and measures until a watch has released the next.
func (c *cluster) turns(ctx context.Context, turns int) error {
	group := &cluster{programs: c.programs, namespace: c.namespace + "-turns"}
	if err := group.kubectl(ctx, "", "create", "namespace", group.namespace); err != nil {
		return err
	}
	defer group.drop(context.WithoutCancel(ctx))
	proxy, err := startProxy(ctx, c.programs)
	if err != nil {
		return err
	}
	defer proxy.stop()
	var works strings.Builder
	for i := range turns + 1 {
		fmt.Fprintf(&works, strings.Replace(turn, "managedBy", "concurrencyGroup: one\n  managedBy", 1), fmt.Sprintf("turn-%04d", i), "Forbid")
	}
	if _, err := group.plugin(ctx, works.String(), "submit", "-f", "-", "-o", "name"); err != nil {
		return err
	}
	w, err := group.watch(ctx)
	if err != nil {
		return err
	}
	defer w.stop()
	var took []time.Duration
	jobs := "/apis/batch/v1/namespaces/" + group.namespace + "/jobs"
	started, err := proxy.starts(ctx, jobs)
	if err != nil {
		return err
	}
	running := <-started
	for range turns {
		if err := proxy.end(ctx, jobs+"/"+running); err != nil {
			return err
		}
		ended := time.Now()
		next, more := <-started
		if !more {
			return fmt.Errorf("nothing is released after %s", running)
		}
		took, running = append(took, time.Since(ended)), next
	}
	slices.Sort(took)
	fmt.Printf("from the end of a run to the release of the next of its group, %d times: median %d ms, p99 %d ms, most %d ms\n",
		len(took), at(took, 50).Milliseconds(), at(took, 99).Milliseconds(), at(took, 100).Milliseconds())
	return nil
}

// starts watches Jobs, and sends the name of each as it is seen not suspended and not ended for the first time. The channel is
// closed when that takes longer than a minute.
func (p *proxy) starts(ctx context.Context, jobs string) (<-chan string, error) {
	ctx, cancel := context.WithCancel(ctx)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+jobs+"?watch=true", nil)
	if err != nil {
		cancel()
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		cancel()
		return nil, err
	}
	started := make(chan string, 1)
	go func() {
		defer cancel()
		defer close(started)
		defer func() { _ = answer.Body.Close() }()
		late := time.AfterFunc(time.Minute, cancel)
		seen := map[string]bool{}
		for events := json.NewDecoder(answer.Body); ; {
			var event struct {
				Object struct {
					Metadata struct{ Name string }
					Spec     struct{ Suspend bool }
					Status   struct{ CompletionTime string }
				}
			}
			if err := events.Decode(&event); err != nil {
				return
			}
			job := event.Object
			if !job.Spec.Suspend && job.Status.CompletionTime == "" && !seen[job.Metadata.Name] {
				seen[job.Metadata.Name] = true
				late.Reset(time.Minute)
				started <- job.Metadata.Name
			}
		}
	}()
	return started, nil
}
