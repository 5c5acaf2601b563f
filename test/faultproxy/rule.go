package faultproxy

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Kind narrows a Match to watches or to everything else.
type Kind int

// Kinds of request.
const (
	Any Kind = iota
	OnlyWatch
	NoWatch
)

// Match selects requests. The zero value selects all.
type Match struct {
	Method string // "" any
	// Path is a glob over the whole path: * within a segment, ** across segments. A leading ~ makes the rest a
	// regular expression. "" is any path. Patterns that do not compile match nothing; ParseRule reports them.
	Path  string
	Kind  Kind
	Query map[string]string // these parameters must have these values
}

// String is the form ParseRule reads.
func (m Match) String() string {
	var words []string
	if m.Method != "" {
		words = append(words, m.Method)
	}
	if m.Path != "" {
		words = append(words, m.Path)
	}
	switch m.Kind {
	case Any:
	case OnlyWatch:
		words = append(words, "watch")
	case NoWatch:
		words = append(words, "nowatch")
	}
	for _, key := range slices.Sorted(maps.Keys(m.Query)) {
		words = append(words, "query."+key+"="+m.Query[key])
	}
	if len(words) == 0 {
		return "any"
	}
	return strings.Join(words, " ")
}

// Matches reports whether m selects r.
func (m Match) Matches(r Request) bool {
	if m.Method != "" && m.Method != r.Method {
		return false
	}
	if m.Kind == OnlyWatch && !r.Watch || m.Kind == NoWatch && r.Watch {
		return false
	}
	for key, value := range m.Query {
		if r.Query.Get(key) != value {
			return false
		}
	}
	if m.Path == "" {
		return true
	}
	re, err := m.pattern()
	return err == nil && re.MatchString(r.Path)
}

func (m Match) pattern() (*regexp.Regexp, error) {
	if expr, ok := strings.CutPrefix(m.Path, "~"); ok {
		return regexp.Compile(expr)
	}
	expr := regexp.QuoteMeta(m.Path)
	expr = strings.ReplaceAll(expr, `\*\*`, `.*`)
	expr = strings.ReplaceAll(expr, `\*`, `[^/]*`)
	return regexp.Compile(`^` + expr + `$`)
}

// Rule lets some of the requests that Match selects meet a fault. Every rule counts all requests it selects, whichever
// rule fires. Of several that fire on one request the delays add up and the first other action wins.
type Rule struct {
	Match
	Nth   int // fire at the n-th selected request only, or first with Every
	Every int // fire at every k-th selected request
	Times int // fire at most so often; 0 is no limit
	// From and To bound the time since the rule was added; zero is no bound.
	From, To time.Duration
	Action   Action
	Name     string // in the log; default: the action's own form
}

// String is the form ParseRule reads.
func (r Rule) String() string {
	words := []string{r.Match.String()}
	if len(words) == 1 && words[0] == "any" {
		words = nil
	}
	add := func(key string, n int) {
		if n != 0 {
			words = append(words, key+"="+strconv.Itoa(n))
		}
	}
	add("nth", r.Nth)
	add("every", r.Every)
	add("times", r.Times)
	if r.From != 0 {
		words = append(words, "from="+r.From.String())
	}
	if r.To != 0 {
		words = append(words, "to="+r.To.String())
	}
	if r.Name != "" {
		words = append(words, "name="+r.Name)
	}
	return strings.Join(append(words, r.Action.String()), " ")
}

func (r Rule) name() string {
	if r.Name != "" {
		return r.Name
	}
	return r.Action.String()
}

// due reports whether the rule fires at its count-th selected request, age after it was added.
func (r Rule) due(count, fired int, age time.Duration) bool {
	switch {
	case r.Times > 0 && fired >= r.Times, age < r.From, r.To > 0 && age >= r.To:
		return false
	case r.Nth > 0 && r.Every > 0:
		return count >= r.Nth && (count-r.Nth)%r.Every == 0
	case r.Nth > 0:
		return count == r.Nth
	case r.Every > 0:
		return count%r.Every == 0
	default:
		return true
	}
}

// rules is the ordered set of rules with their counters.
type rules struct {
	mu  sync.Mutex
	all []*armed
}

type armed struct {
	Rule
	added        time.Time
	count, fired int
}

func (rs *rules) add(r Rule, now time.Time) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.all = append(rs.all, &armed{Rule: r, added: now})
}

func (rs *rules) clear() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.all = nil
}

// fire counts the request everywhere and returns the rules it meets: delays, then at most one other.
func (rs *rules) fire(r Request) []Rule {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	var out []Rule
	ended := false
	for _, a := range rs.all {
		if !a.Matches(r) {
			continue
		}
		a.count++
		if ended || !a.due(a.count, a.fired, r.At.Sub(a.added)) {
			continue
		}
		a.fired++
		out = append(out, a.Rule)
		if _, delay := a.Action.(Delay); !delay {
			ended = true
		}
	}
	return out
}
