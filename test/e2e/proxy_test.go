package e2e

import (
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/kubectl-work/kubectl-work/test/faultproxy"
)

const proxyUsage = `usage:
  proxy start                     put a proxy in front of the cluster; $PROXY is a kubeconfig for it
  proxy rule RULE                 see faultproxy.ParseRule
  proxy clear                     remove all rules
  proxy down|up|freeze|thaw       an outage, half-open connections
  proxy accept TOKEN...           let in these tokens only
  proxy await [-t D] N MATCH...   wait for N requests, see faultproxy.ParseMatch
  proxy count OPN MATCH...        their number so far, e.g. <=4, ==2, >=1
  proxy kill-at N NAME MATCH...   kill -9 a background program when its N-th such request arrives, before it is forwarded
  proxy kill-after N NAME MATCH...  the same when the server has answered that request
  proxy requests                  print the log to stdout
  proxy stop`

var number = regexp.MustCompile(`^(<=|>=|==)(\d+)$`)

func (s *script) cmdProxy(ts *testscript.TestScript, args []string) {
	need(ts, args, 1, proxyUsage)
	if args[0] == "start" {
		s.startProxy(ts)
		return
	}
	if s.proxy == nil {
		ts.Fatalf("no proxy was started")
	}
	rest := args[1:]
	switch args[0] {
	case "rule":
		rule, err := faultproxy.ParseRule(strings.Join(rest, " "))
		ts.Check(err)
		s.proxy.Add(rule)
	case "clear":
		s.proxy.ClearRules()
	case "down":
		s.proxy.Down()
	case "up":
		ts.Check(s.proxy.Up())
	case "freeze":
		s.proxy.Freeze()
	case "thaw":
		s.proxy.Thaw()
	case "accept":
		need(ts, rest, 1, proxyUsage)
		s.proxy.Accept(rest[0], rest[1:]...)
	case "await":
		s.awaitRequests(ts, rest)
	case "count":
		s.countRequests(ts, rest)
	case "kill-at":
		s.proxy.OnRequest(s.killer(ts, rest))
	case "kill-after":
		s.proxy.OnAnswer(s.killer(ts, rest))
	case "requests":
		for _, r := range s.proxy.Requests() {
			_, _ = ts.Stdout().Write([]byte(r.String() + "\n"))
		}
	case "stop":
		ts.Check(s.proxy.Close())
		s.proxy = nil
	default:
		ts.Fatalf("%s", proxyUsage)
	}
}

func (s *script) startProxy(ts *testscript.TestScript) {
	if s.proxy != nil {
		ts.Fatalf("a proxy was started before")
	}
	p, err := faultproxy.New(s.config)
	ts.Check(err)
	s.proxy = p
	path, err := p.Kubeconfig(ts.Getenv("HOME"), s.namespace)
	ts.Check(err)
	ca := path + ".ca"
	ts.Check(os.WriteFile(ca, p.CA(), 0o600))
	ts.Setenv("PROXY", path)
	ts.Setenv("PROXY_URL", p.URL())
	ts.Setenv("PROXY_CA", ca)
}

func (s *script) awaitRequests(ts *testscript.TestScript, args []string) {
	limit, args := timeout(ts, args, 30*time.Second)
	need(ts, args, 1, proxyUsage)
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	match, err := faultproxy.ParseMatch(strings.Join(args[1:], " "))
	ts.Check(err)
	ctx, cancel := context.WithTimeout(s.ctx, limit)
	defer cancel()
	ts.Check(s.proxy.Await(ctx, match, n))
}

func (s *script) countRequests(ts *testscript.TestScript, args []string) {
	need(ts, args, 1, proxyUsage)
	m := number.FindStringSubmatch(args[0])
	if m == nil {
		ts.Fatalf("%q is not like <=4, ==2 or >=1", args[0])
	}
	want, err := strconv.Atoi(m[2])
	ts.Check(err)
	match, err := faultproxy.ParseMatch(strings.Join(args[1:], " "))
	ts.Check(err)
	got := s.proxy.Count(match)
	if m[1] == "<=" && got > want || m[1] == ">=" && got < want || m[1] == "==" && got != want {
		ts.Fatalf("%d requests %s, want %s", got, match, args[0])
	}
}

// killer is a hook that kills a background program at its n-th request from now on. The name may be started later.
func (s *script) killer(ts *testscript.TestScript, args []string) faultproxy.Hook {
	need(ts, args, 2, proxyUsage)
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	match, err := faultproxy.ParseMatch(strings.Join(args[2:], " "))
	ts.Check(err)
	pid := make(chan int, 1)
	s.onStart(args[1], func(p *process) { pid <- p.cmd.Process.Pid })
	count := make(chan int, 1)
	count <- 0
	return func(r faultproxy.Request) bool {
		if !match.Matches(r) {
			return true
		}
		seen := <-count + 1
		count <- seen
		if seen != n {
			return true
		}
		victim := <-pid
		_ = syscall.Kill(-victim, syscall.SIGKILL) // already gone is fine
		return false
	}
}
