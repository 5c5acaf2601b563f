package work

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// HoldType says why a run does not start.
type HoldType string

// The holds.
const (
	HoldPaused  HoldType = "Paused"  // made by pause and by spec.suspend; resume removes it, or what its Until says
	HoldQueued  HoldType = "Queued"  // made by submit under Forbid or Replace; the slot of its group removes it
	HoldWaiting HoldType = "Waiting" // made by submit with dependsOn, one for each dependency
)

// MaxHoldsBytes bounds the stored form, so that all our annotations leave room for a later pause.
const MaxHoldsBytes = 8 << 10

// MaxReasonBytes bounds one reason inside a hold.
const MaxReasonBytes = 1 << 10

// Hold is one reason why a run is kept from starting.
type Hold struct {
	Type   HoldType    `json:"type"`
	By     string      `json:"by,omitempty"`     // user name, best effort
	Reason string      `json:"reason,omitempty"` // the user's own words
	Since  metav1.Time `json:"since"`

	Until *Until `json:"until,omitempty"` // of Paused: what ends it besides a person
	Used  int64  `json:"used,omitempty"`  // of Paused: seconds of activeDeadlineSeconds that had passed

	Group    string `json:"group,omitempty"`    // of Queued
	Policy   string `json:"policy,omitempty"`   // of Queued: Forbid or Replace
	Priority int32  `json:"priority,omitempty"` // of Queued: the higher goes first

	On *Dependency `json:"on,omitempty"` // of Waiting
}

// Until ends a pause by itself: at a time, or when an object has a condition or a value.
type Until struct {
	After  *metav1.Time `json:"after,omitempty"`
	When   *When        `json:"when,omitempty"`
	Signal bool         `json:"signal,omitempty"` // the caller's own program resumes it; nothing else does
}

// When is a state of another object in the run's namespace: a condition that is True, or a value at a JSONPath.
type When struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Condition  string `json:"condition,omitempty"` // TYPE or TYPE=STATUS
	JSONPath   string `json:"jsonpath,omitempty"`  // {.path}=VALUE, or {.path} for any value
}

// Dependency is the run that another one waits for.
type Dependency struct {
	Work    string            `json:"work"`
	Job     string            `json:"job,omitempty"` // the run's Job; "" until the run is there
	UID     types.UID         `json:"uid,omitempty"`
	Outcome string            `json:"outcome"`          // Succeeded, Failed or Finished
	After   int               `json:"after,omitempty"`  // without a UID: the first run with a higher number is meant
	Inputs  map[string]string `json:"inputs,omitempty"` // environment variable: what it is taken from
}

// Holds is what the holds annotation stores: at most one Paused and one Queued, and one Waiting for each dependency.
type Holds []Hold

// ParseHolds reads the holds annotation. An empty text is no hold. An unreadable one is an error: nobody may guess
// what holds a run.
func ParseHolds(text string) (Holds, error) {
	if text == "" {
		return nil, nil
	}
	var h Holds
	if err := json.Unmarshal([]byte(text), &h); err != nil {
		return nil, fmt.Errorf("annotation %s is unreadable: %w", AnnotationHolds, err)
	}
	return h, nil
}

// String is the stored form, "" when nothing holds.
func (h Holds) String() string {
	if len(h) == 0 {
		return ""
	}
	data, err := json.Marshal(h)
	if err != nil { // plain strings and times always marshal
		return ""
	}
	return string(data)
}

// Find returns the hold of the given type.
func (h Holds) Find(t HoldType) (Hold, bool) {
	for _, hold := range h {
		if hold.Type == t {
			return hold, true
		}
	}
	return Hold{}, false
}

// Only tells whether holds of the given type are all there are, and that there are some.
func (h Holds) Only(t HoldType) bool { return len(h) > 0 && len(h.Without(t)) == 0 }

// With returns h with hold added, in place of an earlier one of its type; there may be several Waiting. Reasons are cut to
// MaxReasonBytes.
func (h Holds) With(hold Hold) Holds {
	hold.Reason = cut(hold.Reason, MaxReasonBytes)
	hold.Since = metav1.NewTime(hold.Since.UTC().Truncate(time.Second))
	if hold.Type == HoldWaiting {
		return append(slices.Clone(h), hold)
	}
	return append(h.Without(hold.Type), hold)
}

// Without returns h less the holds of the given type.
func (h Holds) Without(t HoldType) Holds {
	var rest Holds
	for _, hold := range h {
		if hold.Type != t {
			rest = append(rest, hold)
		}
	}
	return rest
}

// cut shortens text to at most limit bytes, at a rune boundary, and marks that it did.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	const mark = "…"
	end := limit - len(mark)
	for end > 0 && text[end]&0xC0 == 0x80 {
		end--
	}
	return text[:end] + mark
}
