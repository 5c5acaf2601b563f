package faultproxy

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseRule reads the one-line form of a rule, the one scripts use:
//
//	[METHOD] [PATH] [watch|nowatch] [query.KEY=VALUE ...]
//	  [nth=N] [every=K] [times=N] [from=D] [to=D] [name=WORD]
//	  ACTION [ARGUMENT=VALUE ...]
//
//	cut          [scope=stream|conn] [bytes=N] [events=N] [after=D]
//	delay        for=D
//	answer       code=N [retry-after=D] [reason=WORD]
//	watch-error  [code=N] [bytes=N] [events=N] [after=D]
//	drop-answer  [scope=stream|conn]
//	clock        ahead=D
//	stall        [scope=stream|conn] [bytes=N] [events=N] [after=D] [for=D]
//	outage       [for=D]
//
// For example: POST /apis/batch/v1/namespaces/*/jobs nth=1 drop-answer.
func ParseRule(text string) (Rule, error) {
	fields := strings.Fields(text)
	at := -1
	for i, f := range fields {
		if isAction(f) {
			at = i
			break
		}
	}
	if at < 0 {
		return Rule{}, fmt.Errorf("rule %q has no action", text)
	}
	args := newArguments(fields[at+1:])
	rule := Rule{Action: args.action(fields[at])}
	before := newArguments(nil)
	for _, f := range fields[:at] {
		before.matcher(&rule, f)
	}
	before.condition(&rule)
	_, patternErr := rule.pattern()
	if err := errors.Join(before.unused(), args.unused(), patternErr); err != nil {
		return Rule{}, fmt.Errorf("rule %q: %w", text, err)
	}
	return rule, nil
}

// ParseMatch reads the first part of a rule alone.
func ParseMatch(text string) (Match, error) {
	var rule Rule
	args := newArguments(nil)
	for f := range strings.FieldsSeq(text) {
		args.matcher(&rule, f)
	}
	_, patternErr := rule.pattern()
	if err := errors.Join(args.unused(), patternErr); err != nil {
		return Match{}, fmt.Errorf("match %q: %w", text, err)
	}
	return rule.Match, nil
}

func isAction(word string) bool {
	switch word {
	case "cut", "delay", "answer", "watch-error", "drop-answer", "clock", "stall", "outage":
		return true
	}
	return false
}

// arguments are KEY=VALUE words, taken out one by one. Errors are gathered.
type arguments struct {
	values map[string]string
	errs   []error
}

func newArguments(words []string) *arguments {
	a := &arguments{values: map[string]string{}}
	for _, w := range words {
		a.put(w)
	}
	return a
}

func (a *arguments) put(word string) {
	key, value, ok := strings.Cut(word, "=")
	if !ok {
		a.errs = append(a.errs, fmt.Errorf("unknown word %q", word))
		return
	}
	a.values[key] = value
}

func (a *arguments) matcher(rule *Rule, word string) {
	switch {
	case word == "watch":
		rule.Kind = OnlyWatch
	case word == "nowatch":
		rule.Kind = NoWatch
	case strings.HasPrefix(word, "/"), strings.HasPrefix(word, "~"):
		rule.Path = word
	case strings.HasPrefix(word, "query."):
		key, value, _ := strings.Cut(strings.TrimPrefix(word, "query."), "=")
		if rule.Query == nil {
			rule.Query = map[string]string{}
		}
		rule.Query[key] = value
	case word != "" && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "":
		rule.Method = word
	default:
		a.put(word)
	}
}

func (a *arguments) condition(rule *Rule) {
	rule.Nth, rule.Every, rule.Times = a.number("nth"), a.number("every"), a.number("times")
	rule.From, rule.To = a.duration("from"), a.duration("to")
	rule.Name = a.take("name")
}

func (a *arguments) action(word string) Action {
	switch word {
	case "cut":
		return Cut{Scope: a.scope(), When: a.when()}
	case "delay":
		return Delay{For: a.duration("for")}
	case "answer":
		return Answer{Code: a.number("code"), RetryAfter: a.duration("retry-after"), Reason: a.take("reason")}
	case "watch-error":
		return WatchError{Code: a.number("code"), When: a.when()}
	case "drop-answer":
		return DropAnswer{Scope: a.scope()}
	case "clock":
		return Clock{Ahead: a.duration("ahead")}
	case "stall":
		return Stall{Scope: a.scope(), When: a.when(), For: a.duration("for")}
	default: // isAction has only outage left
		return Outage{For: a.duration("for")}
	}
}

func (a *arguments) when() When {
	return When{Bytes: int64(a.number("bytes")), Events: a.number("events"), After: a.duration("after")}
}

func (a *arguments) scope() Scope {
	switch value := a.take("scope"); value {
	case "", "stream":
		return Stream
	case "conn":
		return Conn
	default:
		a.errs = append(a.errs, fmt.Errorf("scope=%s: want stream or conn", value))
		return Stream
	}
}

func (a *arguments) take(key string) string {
	value := a.values[key]
	delete(a.values, key)
	return value
}

func (a *arguments) number(key string) int {
	text := a.take(key)
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		a.errs = append(a.errs, fmt.Errorf("%s=%s: want a whole number", key, text))
	}
	return n
}

func (a *arguments) duration(key string) time.Duration {
	text := a.take(key)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		a.errs = append(a.errs, fmt.Errorf("%s=%s: want a duration such as 1.5s", key, text))
	}
	return d
}

// unused reports what nobody took, with all errors before.
func (a *arguments) unused() error {
	for key := range a.values {
		a.errs = append(a.errs, fmt.Errorf("unknown argument %q", key))
	}
	return errors.Join(a.errs...)
}
