package work

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HoldType says why a run does not start.
type HoldType string

// HoldPaused is made by pause and by spec.suspend; resume removes it.
const HoldPaused HoldType = "Paused"

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
}

// Holds is what the holds annotation stores, at most one of a type.
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

// With returns h with hold added, in place of an earlier one of its type. Reasons are cut to MaxReasonBytes.
func (h Holds) With(hold Hold) Holds {
	hold.Reason = cut(hold.Reason, MaxReasonBytes)
	hold.Since = metav1.NewTime(hold.Since.UTC().Truncate(time.Second))
	return append(h.Without(hold.Type), hold)
}

// Without returns h less the hold of the given type.
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
