package faultproxy

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"
)

// part is a piece of an answer's body: one watch event, or whatever one read gave.
type part struct {
	data []byte
	err  error // io.EOF after the last piece
}

// progress is how much of an answer went to the client.
type progress struct {
	bytes  int64
	events int
}

// stream passes the answer on, and plays a fault that has its place inside it.
func (e *exchange) stream(resp *http.Response, fault Action) {
	for name, values := range resp.Header {
		if name != "Connection" && name != "Transfer-Encoding" {
			e.w.Header()[name] = values
		}
	}
	e.note(func(r *Request) { r.Status = resp.StatusCode })
	e.w.WriteHeader(resp.StatusCode)
	e.flush()

	ctx, cancel := context.WithCancel(e.r.Context())
	defer cancel()
	parts := make(chan part)
	go read(ctx, resp, e.rec.Watch, parts)

	place := placeOf(fault)
	var after <-chan time.Time
	if place.After > 0 {
		timer := time.NewTimer(place.After)
		defer timer.Stop()
		after = timer.C
	}
	var sent progress
	for {
		due := false
		var rest []byte
		select {
		case <-ctx.Done():
			e.cut(Stream)
		case <-after:
			due = true
		case p := <-parts:
			if errors.Is(p.err, io.EOF) {
				return
			}
			if p.err != nil { // the server's own answer broke off
				e.cut(Stream)
			}
			due, rest = e.pass(p.data, place, &sent, fault)
		}
		if !due {
			continue
		}
		if over := e.inside(fault); over {
			return
		}
		fault, place, after = nil, When{}, nil
		e.write(rest)
	}
}

// pass forwards data as far as the place of the fault, and reports whether that was reached and what was kept back.
func (e *exchange) pass(data []byte, place When, sent *progress, fault Action) (due bool, rest []byte) {
	if left := place.Bytes - sent.bytes; place.Bytes > 0 && int64(len(data)) >= left {
		due = true
		if _, whole := fault.(WatchError); !whole { // an event in the middle of another would be no event
			data, rest = data[:left], data[left:]
		}
	}
	e.write(data)
	sent.bytes += int64(len(data))
	sent.events++
	if place.Events > 0 && sent.events >= place.Events {
		due = true
	}
	return due, rest
}

// inside plays a fault in the middle of an answer and reports whether that ended it.
func (e *exchange) inside(fault Action) (over bool) {
	switch a := fault.(type) {
	case Cut:
		e.cut(a.Scope)
	case Stall:
		e.stall(a)
	case WatchError:
		e.writeEvent(a)
		return true
	}
	return false
}

func (e *exchange) write(data []byte) {
	if len(data) == 0 {
		return
	}
	n, err := e.w.Write(data)
	e.note(func(r *Request) { r.Bytes += int64(n) })
	if err != nil {
		e.cut(Stream)
	}
	e.flush()
}

func (e *exchange) flush() {
	_ = http.NewResponseController(e.w).Flush() // the next write reports a lost client
}

func placeOf(fault Action) When {
	switch a := fault.(type) {
	case Cut:
		return a.When
	case Stall:
		return a.When
	case WatchError:
		return a.When
	}
	return When{}
}

// read sends the body in parts until its end or until ctx is done: a watch event by event, all else as it comes.
func read(ctx context.Context, resp *http.Response, watch bool, parts chan<- part) {
	next := chunks(resp.Body)
	if watch && resp.StatusCode == http.StatusOK {
		next = frames(resp.Body, resp.Header.Get("Content-Type"))
	}
	for {
		data, err := next()
		for _, p := range []part{{data: data}, {err: err}} {
			if len(p.data) == 0 && p.err == nil {
				continue
			}
			select {
			case parts <- p:
			case <-ctx.Done():
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func chunks(body io.Reader) func() ([]byte, error) {
	return func() ([]byte, error) {
		buf := make([]byte, 32<<10)
		n, err := body.Read(buf)
		return buf[:n], err
	}
}

// frames splits a watch stream: length-prefixed protobuf, or JSON with a newline after each event.
func frames(body io.Reader, contentType string) func() ([]byte, error) {
	in := bufio.NewReader(body)
	if !strings.HasPrefix(contentType, protobufType) {
		return func() ([]byte, error) { return in.ReadBytes('\n') }
	}
	return func() ([]byte, error) {
		head, err := in.Peek(4)
		if err != nil {
			rest, _ := io.ReadAll(in) // what is buffered of a broken head
			return rest, err
		}
		frame := make([]byte, 4+int(binary.BigEndian.Uint32(head)))
		n, err := io.ReadFull(in, frame)
		return frame[:n], err
	}
}
