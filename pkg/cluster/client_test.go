package cluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	authorizationv1 "k8s.io/api/authorization/v1"
)

// Neither a slow answer nor the resolution of the Date header is a clock that is off.
func TestDriftIsWhatNothingElseExplains(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	for want, c := range map[time.Duration]struct{ asked, answered time.Duration }{
		0:                {-100 * time.Millisecond, 900 * time.Millisecond},
		3 * time.Second:  {-4 * time.Second, -3 * time.Second},
		-2 * time.Second: {3 * time.Second, 5 * time.Second},
	} {
		assert.Equal(t, want, drift(at, at.Add(c.asked), at.Add(c.answered)))
	}
	assert.Zero(t, drift(at, at.Add(-time.Minute), at.Add(time.Minute)), "an answer that took long")
	assert.Zero(t, drift(at, at.Add(999*time.Millisecond), at.Add(time.Second)), "the seconds of the header are cut")
}

func TestRulesThatGiveARight(t *testing.T) {
	t.Parallel()
	rule := func(group, resource, verb string, names ...string) authorizationv1.ResourceRule {
		return authorizationv1.ResourceRule{APIGroups: []string{group}, Resources: []string{resource}, Verbs: []string{verb}, ResourceNames: names}
	}
	log := request{verb: "get", resource: "pods", subresource: "log"}
	for _, c := range []struct {
		rule authorizationv1.ResourceRule
		r    request
		want bool
	}{
		{rule("batch", "jobs", "list"), request{verb: "list", resource: "jobs"}, true},
		{rule("batch", "jobs", "list"), request{verb: "watch", resource: "jobs"}, false},
		{rule("*", "*", "*"), log, true},
		{rule("", "pods/log", "get"), log, true},
		{rule("", "*/log", "get"), log, true},
		{rule("", "pods", "get"), log, false},
		{rule("", "jobs", "list"), request{verb: "list", resource: "jobs"}, false},
		{rule("", "configmaps", "get", "one"), request{verb: "get", resource: "configmaps"}, false},
	} {
		assert.Equal(t, c.want, allowed([]authorizationv1.ResourceRule{c.rule}, c.r), "%v %v", c.rule, c.r)
	}
}
