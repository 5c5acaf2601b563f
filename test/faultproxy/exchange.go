package faultproxy

import (
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
)

// exchange is one request on its way through the proxy.
type exchange struct {
	p    *Proxy
	w    http.ResponseWriter
	r    *http.Request
	conn *conn
	rec  Request
}

// ServeHTTP carries one request to the server and its answer back, through the faults it meets.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := &exchange{p: p, w: w, r: r, conn: connOf(r.Context()), rec: p.log.begin(r)}
	defer p.log.update(e.rec.N, func(r *Request) { r.Done = true })
	e.serve()
}

func (e *exchange) serve() {
	if !e.p.authorized(e.r) {
		e.answer(Answer{Code: http.StatusUnauthorized})
		return
	}
	if hook, _ := e.p.hooks(); hook != nil && !hook(e.rec) {
		e.cut(Stream)
	}
	fault, over := e.meet()
	if over {
		return
	}
	resp, err := e.forward()
	if err != nil {
		e.note(func(r *Request) { r.Fault = join(r.Fault, "upstream: "+err.Error()) })
		e.cut(Stream)
	}
	defer func() { _ = resp.Body.Close() }() // nothing to do about a failed close of a body we only read
	e.note(func(r *Request) { r.Upstream = resp.StatusCode })
	if _, hook := e.p.hooks(); hook != nil {
		rec := e.rec
		rec.Upstream = resp.StatusCode
		if !hook(rec) {
			e.cut(Stream)
		}
	}
	if drop, ok := fault.(DropAnswer); ok {
		_, _ = io.Copy(io.Discard, resp.Body) // an answer lost halfway is lost as well
		e.cut(drop.Scope)
	}
	if clock, ok := fault.(Clock); ok {
		if at, err := http.ParseTime(resp.Header.Get("Date")); err == nil {
			resp.Header.Set("Date", at.Add(clock.Ahead).Format(http.TimeFormat))
		}
	}
	e.stream(resp, fault)
}

// meet plays the faults that come before forwarding. It returns what is left for later, and whether the client has
// been answered. Cuts do not return.
func (e *exchange) meet() (later Action, over bool) {
	for _, rule := range e.p.rules.fire(e.rec) {
		e.note(func(r *Request) { r.Fault = join(r.Fault, rule.name()) })
		switch a := rule.Action.(type) {
		case Delay:
			e.pause(a.For)
		case Answer:
			e.answer(a)
			return nil, true
		case Outage:
			e.outage(a)
		case DropAnswer, Clock:
			return a, false
		case Cut:
			if !a.Zero() {
				return a, false
			}
			e.cut(a.Scope)
		case Stall:
			if !a.Zero() {
				return a, false
			}
			e.stall(a)
		case WatchError:
			if !a.Zero() {
				return a, false
			}
			e.watchError(a)
			return nil, true
		}
	}
	return nil, false
}

// forward asks the server in the client's name with the target's credentials.
func (e *exchange) forward() (*http.Response, error) {
	out := e.r.Clone(e.r.Context())
	out.RequestURI = ""
	out.Host = ""
	out.URL = &url.URL{
		Scheme: e.p.upstream.Scheme, Host: e.p.upstream.Host,
		Path: joinPath(e.p.upstream.Path, e.r.URL.Path), RawQuery: e.r.URL.RawQuery,
	}
	if e.r.ContentLength == 0 {
		out.Body = http.NoBody
	}
	for _, name := range []string{"Authorization", "Connection", "Keep-Alive", "Te", "Transfer-Encoding", "Upgrade"} {
		out.Header.Del(name)
	}
	if e.rec.Watch { // servers compress watches, and in a compressed stream nobody sees where an event ends
		out.Header.Del("Accept-Encoding")
	}
	return e.p.transport.RoundTrip(out)
}

func joinPath(base, rest string) string {
	if base == "" || base == "/" {
		return rest
	}
	joined := path.Join(base, rest)
	if strings.HasSuffix(rest, "/") {
		joined += "/"
	}
	return joined
}

// answer gives the client a Status in the server's place.
func (e *exchange) answer(a Answer) {
	e.note(func(r *Request) { r.Status = a.Code })
	writeStatus(e.w, a)
}

// cut ends the exchange where it is. It does not return.
func (e *exchange) cut(scope Scope) {
	if scope == Conn && e.conn != nil {
		e.conn.kill()
	}
	panic(http.ErrAbortHandler)
}

func (e *exchange) stall(a Stall) {
	if a.Scope == Conn && e.conn != nil {
		e.conn.freeze()
		defer e.conn.thaw()
	}
	e.pause(a.For)
}

// pause waits for d, zero for ever. A client that leaves ends the exchange.
func (e *exchange) pause(d time.Duration) {
	var after <-chan time.Time
	if d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		after = timer.C
	}
	select {
	case <-after:
	case <-e.r.Context().Done():
		e.cut(Stream)
	case <-e.p.listener.done:
		e.cut(Stream)
	}
}

func (e *exchange) outage(a Outage) {
	if a.For > 0 {
		time.AfterFunc(a.For, func() { _ = e.p.Up() }) // a port taken meanwhile is an outage that goes on
	}
	e.p.Down()
	e.cut(Conn)
}

func (e *exchange) note(f func(*Request)) { e.p.log.update(e.rec.N, f) }

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}
