package build

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

// rare is how often progress is told where a line cannot be written over.
const rare = 30 * time.Second

// progress reads what `go build -v` says: a line a package that is compiled. Packages of an earlier build are not
// compiled again, so the count may end below the total.
type progress struct {
	out      io.Writer
	terminal bool
	total    int

	mu      sync.Mutex
	partial []byte
	done    int
	others  []string // lines that are no package: downloads and complaints
	stop    chan struct{}
	stopped sync.WaitGroup
}

func newProgress(out io.Writer, terminal bool, total int) *progress {
	p := &progress{out: out, terminal: terminal, total: total, stop: make(chan struct{})}
	if !terminal {
		p.stopped.Go(p.tellNowAndThen)
	}
	return p
}

func (p *progress) tellNowAndThen() {
	tick := time.NewTicker(rare)
	defer tick.Stop()
	for {
		select {
		case <-p.stop:
			return
		case <-tick.C:
			p.mu.Lock()
			p.tell("\n")
			p.mu.Unlock()
		}
	}
}

func (p *progress) tell(end string) {
	fmt.Fprintf(p.out, "  compiled %d packages of at most %d%s", p.done, p.total, end)
}

// Write takes the output of go build.
func (p *progress) Write(data []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.partial = append(p.partial, data...)
	for {
		line, rest, whole := bytes.Cut(p.partial, []byte("\n"))
		if !whole {
			return len(data), nil
		}
		p.partial = rest
		p.take(string(line))
	}
}

func (p *progress) take(line string) {
	if line == "" || strings.ContainsAny(line, " \t#:") {
		p.others = append(p.others, line)
		return
	}
	p.done++
	if p.terminal {
		p.tell("\r")
	}
}

func (p *progress) close() {
	close(p.stop)
	p.stopped.Wait()
	if p.terminal && p.done > 0 {
		p.tell("\n")
	}
}

// complaints are the last lines that name no package.
func (p *progress) complaints() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(append(p.others[max(0, len(p.others)-20):], string(p.partial)), "\n")
}
