package faultproxy

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseRule(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Rule{
		"POST /apis/batch/v1/namespaces/*/jobs nth=1 drop-answer": {
			Match: Match{Method: "POST", Path: "/apis/batch/v1/namespaces/*/jobs"}, Nth: 1, Action: DropAnswer{},
		},
		"watch every=3 times=2 watch-error code=410 events=2": {
			Match: Match{Kind: OnlyWatch}, Every: 3, Times: 2, Action: WatchError{Code: 410, When: When{Events: 2}},
		},
		"nowatch from=1s to=5s answer code=429 retry-after=2s": {
			Match: Match{Kind: NoWatch}, From: time.Second, To: 5 * time.Second,
			Action: Answer{Code: 429, RetryAfter: 2 * time.Second},
		},
		"~/log$ query.follow=true cut bytes=10 after=1s scope=conn": {
			Match:  Match{Path: "~/log$", Query: map[string]string{"follow": "true"}},
			Action: Cut{When: When{Bytes: 10, After: time.Second}, Scope: Conn},
		},
		"name=slow delay for=1.5s":       {Name: "slow", Action: Delay{For: 1500 * time.Millisecond}},
		"stall events=1 scope=conn":      {Action: Stall{When: When{Events: 1}, Scope: Conn}},
		"GET clock ahead=1h0m0s":         {Match: Match{Method: "GET"}, Action: Clock{Ahead: time.Hour}},
		"outage for=3s":                  {Action: Outage{For: 3 * time.Second}},
		"answer code=403 reason=Invalid": {Action: Answer{Code: 403, Reason: "Invalid"}},
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, err := ParseRule(text)
			require.NoError(t, err)
			assert.Equal(t, want, got)
			assert.Equal(t, text, got.String(), "the form is read as it is written")
		})
	}
}

func TestParseRuleRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"GET /api":                "no action",
		"cut nth=1":               `unknown argument "nth"`,
		"nth=one cut":             "nth=one",
		"cut scope=all":           "scope=all",
		"GET /api quickly cut":    `unknown word "quickly"`,
		"~( cut":                  "missing closing )",
		"delay for=-1s":           "for=-1s",
		"answer code=500 after=x": `unknown argument "after"`,
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			_, err := ParseRule(text)
			assert.ErrorContains(t, err, want)
		})
	}
	_, err := ParseMatch("GET cut")
	assert.ErrorContains(t, err, `unknown word "cut"`)
}

func TestMatch(t *testing.T) {
	t.Parallel()
	req := Request{
		Method: "GET", Path: "/apis/batch/v1/namespaces/ns/jobs/a", Watch: true,
		Query: url.Values{"watch": {"1"}, "limit": {"5"}},
	}
	for text, want := range map[string]bool{
		"":                                    true,
		"GET":                                 true,
		"POST":                                false,
		"/apis/batch/v1/namespaces/*/jobs/*":  true,
		"/apis/batch/v1/namespaces/*/jobs":    false,
		"/apis/*/jobs/a":                      false,
		"/apis/**/jobs/a":                     true,
		"~jobs":                               true,
		"watch":                               true,
		"nowatch":                             false,
		"query.limit=5":                       true,
		"query.limit=6":                       false,
		"GET /apis/** watch query.limit=5":    true,
		"DELETE /apis/** watch query.limit=5": false,
	} {
		m, err := ParseMatch(text)
		require.NoError(t, err)
		assert.Equal(t, want, m.Matches(req), text)
	}
}

func TestRulesFire(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"cut":                         "xxxxxxxx",
		"nth=3 cut":                   "..x.....",
		"every=3 cut":                 "..x..x..",
		"nth=2 every=3 cut":           ".x..x..x",
		"nth=2 every=1 times=2 cut":   ".xx.....",
		"times=1 cut":                 "x.......",
		"from=2s to=4s cut":           "..xx....",
		"POST cut":                    "........",
		"GET nth=1 from=1s cut":       "........",
		"GET times=1 from=3s cut":     "...x....",
		"every=2 times=2 from=2s cut": "...x.x..",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			rule, err := ParseRule(text)
			require.NoError(t, err)
			var rs rules
			rs.add(rule, at)
			got := ""
			for i := range 8 { // one request a second
				if len(rs.fire(Request{Method: "GET", At: at.Add(time.Duration(i) * time.Second)})) > 0 {
					got += "x"
				} else {
					got += "."
				}
			}
			assert.Equal(t, want, got)
		})
	}
}

func TestDelaysAddUpAndTheFirstOtherWins(t *testing.T) {
	t.Parallel()
	var rs rules
	for _, text := range []string{"delay for=1s", "nth=1 cut", "delay for=2s", "nth=2 answer code=500", "outage"} {
		rule, err := ParseRule(text)
		require.NoError(t, err)
		rs.add(rule, time.Time{})
	}
	names := func() (out []string) {
		for _, r := range rs.fire(Request{}) {
			out = append(out, r.name())
		}
		return out
	}
	assert.Equal(t, []string{"delay for=1s", "cut"}, names())
	assert.Equal(t, []string{"delay for=1s", "delay for=2s", "answer code=500"}, names(), "later rules counted the first request")
	assert.Equal(t, []string{"delay for=1s", "delay for=2s", "outage"}, names())
}
