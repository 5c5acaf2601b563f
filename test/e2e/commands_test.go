package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"k8s.io/apimachinery/pkg/util/wait"
)

// command is a script command. args[0] is the first argument.
type command func(s *script, ts *testscript.TestScript, args []string)

func table() map[string]command {
	return map[string]command{
		"exits":   (*script).cmdExits,
		"within":  (*script).cmdWithin,
		"until":   (*script).cmdUntil,
		"start":   (*script).cmdStart,
		"shows":   (*script).cmdShows,
		"running": (*script).cmdRunning,
		"signal":  (*script).cmdSignal,
		"ended":   (*script).cmdEnded,
		"apply":   (*script).cmdApply,
		"expand":  (*script).cmdExpand,
		"update":  (*script).cmdUpdate,
		"remove":  (*script).cmdRemove,
		"await":   (*script).cmdAwait,
		"evict":   (*script).cmdEvict,
		"webhook": (*script).cmdWebhook,
		"node":    (*script).cmdNode,
		"json":    (*script).cmdJSON,
		"cmpjson": (*script).cmdCmpJSON,
		"proxy":   (*script).cmdProxy,
	}
}

// commands adapts the table to testscript.
func commands() map[string]func(*testscript.TestScript, bool, []string) {
	out := map[string]func(*testscript.TestScript, bool, []string){}
	for name, cmd := range table() {
		out[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("! %s is not supported; exits takes the code", name)
			}
			cmd(of(ts), ts, args)
		}
	}
	return out
}

// exits CODE CMD...
func (s *script) cmdExits(ts *testscript.TestScript, args []string) {
	need(ts, args, 2, "exits CODE CMD...")
	limit := s.limit
	if limit == 0 {
		limit = defaultLimit
	}
	p := s.launch(ts, args[1:])
	if !p.wait(limit) {
		p.show(ts)
		ts.Fatalf("not finished within %s", limit)
	}
	p.expect(ts, args[0])
}

// within D CMD...
func (s *script) cmdWithin(ts *testscript.TestScript, args []string) {
	need(ts, args, 2, "within DURATION CMD...")
	limit := duration(ts, args[0])
	s.limit = limit
	defer func() { s.limit = 0 }()
	began := time.Now()
	if cmd := table()[args[1]]; cmd != nil {
		cmd(s, ts, args[2:])
	} else {
		s.cmdExits(ts, append([]string{"0"}, args[1:]...))
	}
	if took := time.Since(began); took > limit {
		ts.Fatalf("took %s, want at most %s", took.Round(time.Millisecond), limit)
	}
}

// until [-t D] [-out RE] CMD...
func (s *script) cmdUntil(ts *testscript.TestScript, args []string) {
	limit, args := timeout(ts, args, 30*time.Second)
	match := regexp.MustCompile("")
	if len(args) > 1 && args[0] == "-out" {
		var err error
		match, err = regexp.Compile("(?m)" + args[1])
		ts.Check(err)
		args = args[2:]
	}
	need(ts, args, 1, "until [-t DURATION] [-out REGEXP] CMD...")
	var last *process
	err := poll(s.ctx, limit, func(context.Context) (bool, error) {
		last = s.launch(ts, args)
		return last.wait(limit) && last.code() == "0" && match.MatchString(last.stdout.String()), nil
	})
	last.show(ts)
	if err != nil {
		ts.Fatalf("not so within %s; last exit code %s", limit, last.code())
	}
}

// start NAME CMD...
func (s *script) cmdStart(ts *testscript.TestScript, args []string) {
	need(ts, args, 2, "start NAME CMD...")
	if s.background[args[0]] != nil {
		ts.Fatalf("%s was started before", args[0])
	}
	p := s.launch(ts, args[1:])
	s.background[args[0]] = p
	if f := s.starting[args[0]]; f != nil {
		f(p)
	}
}

// onStart calls f with the background program of that name, now or when it is started.
func (s *script) onStart(name string, f func(*process)) {
	if p := s.background[name]; p != nil {
		f(p)
		return
	}
	s.starting[name] = f
}

func (s *script) started(ts *testscript.TestScript, name string) *process {
	p := s.background[name]
	if p == nil {
		ts.Fatalf("nothing named %s was started", name)
	}
	return p
}

// shows [-t D] NAME stdout|stderr RE
func (s *script) cmdShows(ts *testscript.TestScript, args []string) {
	limit, args := timeout(ts, args, 30*time.Second)
	need(ts, args, 3, "shows [-t DURATION] NAME stdout|stderr REGEXP")
	p := s.started(ts, args[0])
	stream := &p.stdout
	if args[1] == "stderr" {
		stream = &p.stderr
	}
	re, err := regexp.Compile("(?m)" + args[2])
	ts.Check(err)
	err = poll(s.ctx, limit, func(context.Context) (bool, error) {
		select {
		case <-p.done:
			if !re.MatchString(stream.String()) {
				return false, fmt.Errorf("it ended with code %s", p.code())
			}
		default:
		}
		return re.MatchString(stream.String()), nil
	})
	if err != nil {
		p.show(ts)
		ts.Fatalf("%s does not show %#q on %s: %v", args[0], args[2], args[1], err)
	}
}

// running NAME
func (s *script) cmdRunning(ts *testscript.TestScript, args []string) {
	need(ts, args, 1, "running NAME")
	p := s.started(ts, args[0])
	select {
	case <-p.done:
		p.show(ts)
		ts.Fatalf("%s ended with code %s", args[0], p.code())
	default:
	}
}

// signal NAME SIGNAL
func (s *script) cmdSignal(ts *testscript.TestScript, args []string) {
	need(ts, args, 2, "signal NAME SIGNAL")
	signals := map[string]syscall.Signal{
		"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL,
		"STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT,
	}
	sig, ok := signals[args[1]]
	if !ok {
		ts.Fatalf("unknown signal %s", args[1])
	}
	ts.Check(s.started(ts, args[0]).signal(sig))
}

// ended [-t D] NAME CODE
func (s *script) cmdEnded(ts *testscript.TestScript, args []string) {
	limit, args := timeout(ts, args, time.Minute)
	need(ts, args, 2, "ended [-t DURATION] NAME CODE")
	p := s.started(ts, args[0])
	if !p.wait(limit) {
		p.show(ts)
		ts.Fatalf("%s has not ended within %s", args[0], limit)
	}
	delete(s.background, args[0])
	p.expect(ts, args[1])
}

// node stop|start
func (s *script) cmdNode(ts *testscript.TestScript, args []string) {
	need(ts, args, 1, "node stop|start")
	switch args[0] {
	case "stop": // whatever happens, nobody else should find the node gone
		s.leftovers = append(s.leftovers, func(ctx context.Context) error { return s.node(ctx, "start") })
	case "start":
	default:
		ts.Fatalf("node %s: stop or start", args[0])
	}
	ts.Check(s.node(s.ctx, args[0]))
}

func (s *suite) node(ctx context.Context, verb string) error {
	_, err := output(exec.CommandContext(ctx, sandbox(s.root), verb, "kubelet"))
	return err
}

func need(ts *testscript.TestScript, args []string, n int, usage string) {
	if len(args) < n {
		ts.Fatalf("usage: %s", usage)
	}
}

func duration(ts *testscript.TestScript, text string) time.Duration {
	d, err := time.ParseDuration(text)
	ts.Check(err)
	return d
}

// timeout takes a leading -t D out of args.
func timeout(ts *testscript.TestScript, args []string, usual time.Duration) (time.Duration, []string) {
	if len(args) > 1 && args[0] == "-t" {
		return duration(ts, args[1]), slices.Clone(args[2:])
	}
	return usual, args
}

// poll asks until the answer is yes. There is a bound, and the first question comes at once.
func poll(ctx context.Context, limit time.Duration, f func(context.Context) (bool, error)) error {
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, limit, true, f)
}

// split is KIND/NAME.
func split(ts *testscript.TestScript, what string) (kind, name string) {
	kind, name, ok := strings.Cut(what, "/")
	if !ok || name == "" {
		ts.Fatalf("%q is not KIND/NAME", what)
	}
	return kind, name
}
