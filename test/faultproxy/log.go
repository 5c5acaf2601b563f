package faultproxy

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// Request is one line of the log.
type Request struct {
	N      int // from 1, in order of arrival
	At     time.Time
	Method string
	Path   string
	Query  url.Values
	Watch  bool
	Proto  string
	Agent  string // User-Agent

	Upstream int    // what the server answered; 0: it was not asked, or did not answer
	Status   int    // what the client was answered; 0: nothing (yet)
	Fault    string // names of the rules that fired, "" for none
	Bytes    int64  // of the body forwarded to the client
	Done     bool   // the exchange is over
}

// String is the one-line form: number, method, path, query, status and fault.
func (r Request) String() string {
	text := fmt.Sprintf("%d %s %s", r.N, r.Method, r.Path)
	if len(r.Query) > 0 {
		text += "?" + r.Query.Encode()
	}
	text += fmt.Sprintf(" %d", r.Status)
	if r.Fault != "" {
		text += " [" + r.Fault + "]"
	}
	return text
}

// requestLog keeps the requests and tells waiters about arrivals.
type requestLog struct {
	mu      sync.Mutex
	entries []*Request
	changed chan struct{} // closed and replaced at every arrival; nil while nobody waits
}

func (l *requestLog) begin(r *http.Request) Request {
	query := r.URL.Query()
	entry := &Request{
		At: time.Now(), Method: r.Method, Path: r.URL.Path, Query: query, Proto: r.Proto, Agent: r.UserAgent(),
		Watch: query.Get("watch") == "true" || query.Get("watch") == "1",
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, entry)
	entry.N = len(l.entries)
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
	return *entry
}

func (l *requestLog) update(n int, f func(*Request)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l.entries[n-1])
}

func (l *requestLog) all() []Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Request, len(l.entries))
	for i, e := range l.entries {
		out[i] = *e
	}
	return out
}

func (l *requestLog) count(m Match) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.countLocked(m)
}

func (l *requestLog) countLocked(m Match) int {
	n := 0
	for _, e := range l.entries {
		if m.Matches(*e) {
			n++
		}
	}
	return n
}

func (l *requestLog) await(ctx context.Context, m Match, n int) error {
	for {
		l.mu.Lock()
		have := l.countLocked(m)
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		changed := l.changed
		l.mu.Unlock()
		if have >= n {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("fault proxy: %d of %d requests %s arrived: %w", have, n, m, context.Cause(ctx))
		}
	}
}
