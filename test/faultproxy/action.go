package faultproxy

import (
	"fmt"
	"strings"
	"time"
)

// Action is a fault. The set is closed: the types below.
type Action interface {
	// String is the form ParseRule reads.
	String() string
	action()
}

// Scope says how much a cut or stall takes along.
type Scope int

// Scopes.
const (
	Stream Scope = iota // this exchange only; the HTTP/2 connection and its other streams live on
	Conn                // the whole connection
)

// When is a place in the body of an answer: after so many bytes, watch events, or so long. Events and bytes count
// what was forwarded. The zero value is before the request is forwarded at all. The first that applies counts.
type When struct {
	Bytes  int64
	Events int
	After  time.Duration
}

// Zero reports whether the place is before forwarding.
func (w When) Zero() bool { return w == When{} }

func (w When) String() string {
	var words []string
	if w.Bytes != 0 {
		words = append(words, fmt.Sprintf("bytes=%d", w.Bytes))
	}
	if w.Events != 0 {
		words = append(words, fmt.Sprintf("events=%d", w.Events))
	}
	if w.After != 0 {
		words = append(words, "after="+w.After.String())
	}
	return strings.Join(words, " ")
}

type (
	// Cut ends the exchange without an answer, or in the middle of one.
	Cut struct {
		When
		Scope Scope
	}

	// Delay holds the request back before it is forwarded.
	Delay struct{ For time.Duration }

	// Answer is given in the server's place; the server is not asked. Code is the HTTP status. RetryAfter is the
	// header, in whole seconds. Reason and Message replace the usual ones of Code.
	Answer struct {
		Code            int
		RetryAfter      time.Duration
		Reason, Message string
	}

	// WatchError puts an ERROR event with a Status of Code (default 410) into a watch and ends it properly. With a
	// zero When it is the only event and the server is not asked.
	WatchError struct {
		When
		Code int
	}

	// DropAnswer lets the server act, reads its whole answer, and cuts without passing any of it on.
	DropAnswer struct{ Scope Scope }

	// Clock passes the server's answer on with a Date that is so much later: a server whose clock is ahead.
	Clock struct{ Ahead time.Duration }

	// Stall stops forwarding without closing, for For or (zero) for good. Scope Conn also leaves HTTP/2 pings
	// unanswered: the half-open connection. After For the exchange goes on where it was.
	Stall struct {
		When
		Scope Scope
		For   time.Duration
	}

	// Outage cuts every connection and refuses new ones, for For or (zero) until Up.
	Outage struct{ For time.Duration }
)

func (Cut) action()        {}
func (Delay) action()      {}
func (Answer) action()     {}
func (WatchError) action() {}
func (DropAnswer) action() {}
func (Clock) action()      {}
func (Stall) action()      {}
func (Outage) action()     {}

func (a Cut) String() string   { return words("cut", a.When.String(), a.Scope.word()) }
func (a Delay) String() string { return words("delay", duration("for", a.For)) }

func (a Answer) String() string {
	reason := ""
	if a.Reason != "" {
		reason = "reason=" + a.Reason
	}
	return words("answer", fmt.Sprintf("code=%d", a.Code), duration("retry-after", a.RetryAfter), reason)
}

func (a WatchError) String() string {
	return words("watch-error", fmt.Sprintf("code=%d", a.code()), a.When.String())
}

func (a DropAnswer) String() string { return words("drop-answer", a.Scope.word()) }

func (a Clock) String() string { return words("clock", duration("ahead", a.Ahead)) }

func (a Stall) String() string {
	return words("stall", a.When.String(), a.Scope.word(), duration("for", a.For))
}

func (a Outage) String() string { return words("outage", duration("for", a.For)) }

func (a WatchError) code() int {
	if a.Code == 0 {
		return 410
	}
	return a.Code
}

func (s Scope) word() string {
	if s == Conn {
		return "scope=conn"
	}
	return ""
}

func duration(key string, d time.Duration) string {
	if d == 0 {
		return ""
	}
	return key + "=" + d.String()
}

func words(all ...string) string {
	var out []string
	for _, w := range all {
		if w != "" {
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}
