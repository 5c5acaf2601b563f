package commands

import (
	"fmt"
	"sync"
	"time"
)

// progress is a line on a terminal that counts; elsewhere it is nothing. It is safe for concurrent use.
type progress struct {
	app   *app
	verb  string
	all   int
	shown bool

	mu   sync.Mutex
	done int
	last time.Time
}

const (
	longSubmit    = 20                     // from how many steps on a person may want to see them counted
	progressPause = 100 * time.Millisecond // between two drawings
)

func (a *app) progress(verb string, all int) *progress {
	return &progress{app: a, verb: verb, all: all, shown: all >= longSubmit && !a.quiet && isTerminal(a.Err)}
}

func (p *progress) step() {
	if !p.shown {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if now := p.app.Now(); now.Sub(p.last) >= progressPause {
		p.last = now
		fmt.Fprintf(p.app.Err, "\r%s %d of %d", p.verb, p.done, p.all)
	}
}

// end takes the line away.
func (p *progress) end() {
	if p.shown {
		fmt.Fprint(p.app.Err, "\r\x1b[K")
	}
}
