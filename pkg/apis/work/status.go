package work

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ConditionFailed is the condition of a Status that says that a run was ended on purpose, and why.
const ConditionFailed = "Failed"

// Reasons of ConditionFailed: why a run was ended by us. The Job itself then says DeadlineExceeded, because a deadline of
// 0 is how a Job is ended without a trace of its own.
const (
	ReasonStopped          = "Stopped"          // a person, or a waiting client under --on-timeout=stop
	ReasonReplaced         = "Replaced"         // a newer run of its group took over
	ReasonDependencyFailed = "DependencyFailed" // what it waited for had another outcome
	ReasonDependencyLost   = "DependencyLost"   // what it waited for is gone, with no outcome seen
)

// MaxMessageBytes bounds a condition's message.
const MaxMessageBytes = 120

// Status is what the status annotation stores: a cache, except for what nothing else records, the reason of an end that we
// brought about. Times are to the second.
type Status struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// ResumedBudget is the activeDeadlineSeconds that the run had before pauses shortened it, 0 when none has.
	ResumedBudget int64 `json:"resumedBudget,omitempty"`
}

// ParseStatus reads the status annotation. An empty text is the zero Status. Fields that it does not know are left out.
func ParseStatus(text string) (Status, error) {
	var s Status
	if text == "" {
		return s, nil
	}
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		return Status{}, fmt.Errorf("annotation %s is unreadable: %w", AnnotationStatus, err)
	}
	return s, nil
}

// String is the stored form.
func (s Status) String() string {
	data, err := json.Marshal(s)
	if err != nil { // plain strings and times always marshal
		return ""
	}
	return string(data)
}

// Ended is the condition that records why we ended the run, nil when we did not.
func (s Status) Ended() *metav1.Condition {
	i := slices.IndexFunc(s.Conditions, func(c metav1.Condition) bool { return c.Type == ConditionFailed && c.Status == metav1.ConditionTrue })
	if i < 0 {
		return nil
	}
	return &s.Conditions[i]
}

// WithEnd records why the run was ended. The message is cut to MaxMessageBytes.
func (s Status) WithEnd(reason, message string, at time.Time) Status {
	s.Conditions = slices.DeleteFunc(slices.Clone(s.Conditions), func(c metav1.Condition) bool { return c.Type == ConditionFailed })
	s.Conditions = append(s.Conditions, metav1.Condition{
		Type: ConditionFailed, Status: metav1.ConditionTrue, Reason: reason, Message: cut(message, MaxMessageBytes),
		LastTransitionTime: metav1.NewTime(at.UTC().Truncate(time.Second)),
	})
	return s
}
