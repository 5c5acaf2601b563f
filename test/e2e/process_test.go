package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// defaultLimit ends a program that no within watches.
const defaultLimit = 2 * time.Minute

// process is a program that a script started.
type process struct {
	args           []string
	cmd            *exec.Cmd
	stdout, stderr buffer
	done           chan struct{}
	began          time.Time
	took           time.Duration // valid when done
}

// buffer is a bytes.Buffer that can be read while it is written.
type buffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// launch starts args with the environment, folder and stdin that the script has now.
func (s *script) launch(ts *testscript.TestScript, args []string) *process {
	if len(args) == 0 {
		ts.Fatalf("no program given")
	}
	env, stdin := surroundings(ts)
	program, err := lookup(args[0], env)
	ts.Check(err)
	p := &process{args: args, done: make(chan struct{}), began: time.Now()}
	p.cmd = exec.CommandContext(s.ctx, program, args[1:]...)
	p.cmd.Args[0] = args[0]
	p.cmd.Env = env
	p.cmd.Dir = valueOf(env, "PWD")
	p.cmd.Stdin = bytes.NewReader(stdin)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // signals go to the program and what it started
	p.cmd.Cancel = func() error { p.kill(); return nil }
	p.cmd.WaitDelay = 5 * time.Second
	ts.Check(p.cmd.Start())
	go func() {
		_ = p.cmd.Wait() // code() tells
		p.took = time.Since(p.began)
		close(p.done)
	}()
	return p
}

// surroundings asks a shell what testscript does not tell: the environment and the stdin of the next program.
func surroundings(ts *testscript.TestScript) (env []string, stdin []byte) {
	dir := filepath.Join(ts.Getenv("WORK"), ".tmp")
	envFile, inFile := filepath.Join(dir, "env"), filepath.Join(dir, "stdin")
	ts.Check(ts.Exec("/bin/sh", "-c", `env -0 >"$0"; cat >"$1"`, envFile, inFile))
	data, err := os.ReadFile(envFile)
	ts.Check(err)
	stdin, err = os.ReadFile(inFile)
	ts.Check(err)
	for kv := range strings.SplitSeq(string(data), "\x00") {
		if kv != "" && !strings.HasPrefix(kv, "_=") && !strings.HasPrefix(kv, "SHLVL=") {
			env = append(env, kv)
		}
	}
	return env, stdin
}

func valueOf(env []string, key string) string {
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, key+"="); ok {
			return value
		}
	}
	return ""
}

func lookup(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(valueOf(env, "PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("no program %s on PATH", name)
}

// wait waits for the end, at most so long. A program that is late is asked for its stacks, then killed.
func (p *process) wait(limit time.Duration) (inTime bool) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
	}
	_ = p.signal(syscall.SIGQUIT) // already gone is fine
	grace := time.NewTimer(2 * time.Second)
	defer grace.Stop()
	select {
	case <-p.done:
	case <-grace.C:
		p.kill()
	}
	return false
}

func (p *process) signal(sig syscall.Signal) error { return syscall.Kill(-p.cmd.Process.Pid, sig) }

func (p *process) kill() {
	_ = p.signal(syscall.SIGKILL) // already gone is fine
	<-p.done
}

// code is the exit code in the words of exits.
func (p *process) code() string {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return "killed"
	}
	return strconv.Itoa(p.cmd.ProcessState.ExitCode())
}

// show makes the output the one that stdout and stderr look at.
func (p *process) show(ts *testscript.TestScript) {
	_, _ = io.WriteString(ts.Stdout(), p.stdout.String())
	_, _ = io.WriteString(ts.Stderr(), p.stderr.String())
}

// expect checks the end of a program.
func (p *process) expect(ts *testscript.TestScript, code string) {
	p.show(ts)
	ts.Logf("[exit %s after %s]", p.code(), p.took.Round(time.Millisecond))
	if got := p.code(); got != code {
		ts.Fatalf("exit code %s, want %s", got, code)
	}
	if err := p.manners(); err != nil {
		ts.Fatalf("%v", err)
	}
}

var (
	rude      = regexp.MustCompile(`(?m)^goroutine \d+ \[|^panic:|%!\w?\(|&?v1\.\w+{|0xc0[0-9a-f]{8}|\x1b\[|^[IWEF]\d{4} \d\d:`)
	finalLine = regexp.MustCompile(`^kubectl-work: code=(\d+)( [a-z]+=\S+)*$`)
)

// manners holds for every run of kubectl-work: no Go in the output (stacks, structs, log lines, bad formats), no
// escape sequences without a terminal, a reason on stderr for every failure, and the machine line at the end of a wait.
func (p *process) manners() error {
	verb, ours := p.verb()
	if !ours || p.code() == "killed" {
		return nil
	}
	stdout, stderr := p.stdout.String(), p.stderr.String()
	if where := rude.FindString(stderr); where != "" {
		return fmt.Errorf("stderr shows the inside of the program: %q", where)
	}
	if slices.Contains(p.args, "logs") || slices.Contains(p.args, "--logs") {
		stdout = "" // a program's own output may be anything
	}
	if where := rude.FindString(stdout); where != "" {
		return fmt.Errorf("stdout shows the inside of the program: %q", where)
	}
	differs := verb == "diff" && p.code() == "1" // an answer, not a failure
	if p.code() != "0" && !differs && strings.TrimSpace(stderr) == "" {
		return errors.New("it failed and stderr says nothing")
	}
	waits := verb == "wait" || (verb == "submit" || verb == "retry") && slices.Contains(p.args, "--wait")
	if !waits || slices.Contains(p.args, "--help") {
		return nil
	}
	lines := strings.Split(strings.TrimRight(stderr, "\n"), "\n")
	m := finalLine.FindStringSubmatch(lines[len(lines)-1])
	byProgram := strings.HasSuffix(lines[len(lines)-1], " exit="+p.code()) // --exit-code-from
	if len(m) == 0 || m[1] != p.code() && !byProgram {
		return fmt.Errorf("the last line of stderr must be kubectl-work: code=%s ..., it is %q", p.code(), lines[len(lines)-1])
	}
	return nil
}

// verb is the command of a run of the plugin, also through kubectl.
func (p *process) verb() (verb string, ours bool) {
	words := slices.DeleteFunc(slices.Clone(p.args), func(arg string) bool { return strings.HasPrefix(arg, "-") })
	switch {
	case len(words) > 1 && words[0] == "kubectl" && words[1] == "work":
		words = words[2:]
	case words[0] == "kubectl-work":
		words = words[1:]
	default:
		return "", false
	}
	if len(words) == 0 {
		return "", true
	}
	return words[0], true
}
