package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// watches counts what a wait for many Jobs asks the server, by the client library's own log.
func watches(ctx context.Context, p *programs, namespace string, jobs int) error {
	cmd := exec.CommandContext(ctx, p.ours, "wait", "--all", "--namespace="+namespace, "--timeout=3s", "--quiet", "-v=6", "-o", "name")
	cmd.Env = p.environ()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		return fmt.Errorf("wait --all: want code 3: %w\n%s", err, stderr.String())
	}
	requests, watching := 0, 0
	for line := range strings.Lines(stderr.String()) {
		if !strings.Contains(line, "verb=") && !strings.Contains(line, "GET http") {
			continue
		}
		requests++
		if strings.Contains(line, "watch=true") {
			watching++
		}
	}
	fmt.Printf("\nwait --all, %d Jobs: %d requests, %d of them watches\n", jobs, requests, watching)
	return nil
}

// ends measures how long after the end of a Job each program ends. The Jobs are suspended ones whose end is written into
// their status, so that the moment is known: the server's answer to that write.
func ends(ctx context.Context, c *cluster, rounds int) error {
	proxy, err := startProxy(ctx, c.programs)
	if err != nil {
		return err
	}
	defer proxy.stop()
	var ours, theirs []time.Duration
	for round := range rounds {
		for _, program := range []string{c.programs.ours, c.programs.theirs} {
			name := fmt.Sprintf("end-%d-%d", round, len(ours)+len(theirs))
			if err := c.kubectl(ctx, job(name, true), "create", "--validate=false", "-f", "-"); err != nil {
				return err
			}
			args := []string{"wait", "job/" + name, "--for=condition=complete", "--timeout=60s", "--namespace=" + c.namespace}
			if program == c.programs.ours {
				args = []string{"wait", name, "--timeout=60s", "--quiet", "--namespace=" + c.namespace}
			}
			took, err := c.end(ctx, proxy, program, args, name)
			if err != nil {
				return fmt.Errorf("%s: %w", strings.Join(args, " "), err)
			}
			if program == c.programs.ours {
				ours = append(ours, took)
			} else {
				theirs = append(theirs, took)
			}
		}
	}
	fmt.Printf("\nfrom a Job's end to the program's, %d each: median, p99, most\n", rounds)
	for _, p := range []struct {
		name string
		all  []time.Duration
	}{{"kubectl work wait", ours}, {"kubectl wait", theirs}} {
		slices.Sort(p.all)
		fmt.Printf("  %-18s %4d ms %4d ms %4d ms\n", p.name, at(p.all, 50).Milliseconds(), at(p.all, 99).Milliseconds(), at(p.all, 100).Milliseconds())
	}
	fmt.Printf("  ratio of the p99   %.2f\n", float64(at(ours, 99))/float64(at(theirs, 99)))
	return nil
}

// at is the value below which percent of a sorted list are.
func at(sorted []time.Duration, percent int) time.Duration {
	return sorted[max(0, (len(sorted)*percent+99)/100-1)]
}

// end starts a program that waits, gives it a second to look, ends the Job, and returns how long the program took from then.
func (c *cluster) end(ctx context.Context, p *proxy, program string, args []string, name string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = c.programs.environ()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	select {
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	case <-time.After(time.Second):
	}
	if err := p.end(ctx, "/apis/batch/v1/namespaces/"+c.namespace+"/jobs/"+name); err != nil {
		_ = cmd.Process.Kill() // the error tells
		_ = cmd.Wait()
		return 0, err
	}
	ended := time.Now()
	if err := cmd.Wait(); err != nil {
		return 0, err
	}
	return time.Since(ended), nil
}

// end writes into the status of a Job that it is complete.
func (p *proxy) end(ctx context.Context, job string) error {
	now := time.Now().UTC().Format(time.RFC3339)
	condition := `{"type":%q,"status":"True","reason":"CompletionsReached","message":"","lastProbeTime":"` + now + `","lastTransitionTime":"` + now + `"}`
	status := fmt.Sprintf(`{"status":{"startTime":%q,"completionTime":%q,"succeeded":1,"conditions":[`+condition+`,`+condition+`]}}`, now, now, "SuccessCriteriaMet", "Complete")
	return p.patch(ctx, job+"/status", status)
}

// proxy is a running `kubectl proxy`: the way of this program to the API server.
type proxy struct {
	cmd *exec.Cmd
	url string
}

func startProxy(ctx context.Context, p *programs) (*proxy, error) {
	cmd := exec.CommandContext(ctx, p.theirs, "proxy", "--port=0")
	cmd.Env = p.environ()
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(out).ReadString('\n') // Starting to serve on 127.0.0.1:35123
	if err != nil {
		return nil, fmt.Errorf("kubectl proxy: %w", err)
	}
	fields := strings.Fields(line)
	return &proxy{cmd: cmd, url: "http://" + fields[len(fields)-1]}, nil
}

func (p *proxy) stop() {
	_ = p.cmd.Process.Kill() // it has nothing to lose
	_ = p.cmd.Wait()
}

func (p *proxy) patch(ctx context.Context, path, body string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPatch, p.url+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/merge-patch+json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close() //nolint:errcheck // read only
	answer, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", res.Status, answer)
	}
	return err
}
