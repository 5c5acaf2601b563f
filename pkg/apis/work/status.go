package work

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The conditions of a Status: a closed list. Each status is True or False; one that nothing is known of is left out.
const (
	ConditionApplied     = "Applied"     // the run is what its document says
	ConditionHeld        = "Held"        // it is kept from starting
	ConditionReady       = "Ready"       // the node that it runs on answers
	ConditionProgressing = "Progressing" // it starts or runs
	ConditionStuck       = "Stuck"       // it cannot go on without someone acting
	ConditionComplete    = "Complete"
	ConditionFailed      = "Failed"      // with one of the reasons below: ended on purpose
	ConditionInvalidSpec = "InvalidSpec" // our record of the document, or of its holds, cannot be read
)

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
	Phase              string `json:"phase,omitempty"`
	Outcome            string `json:"outcome,omitempty"`
	Run                int    `json:"run,omitempty"`
	ObservedGeneration int64  `json:"observedGeneration,omitempty"` // of the Job
	SpecHash           string `json:"specHash,omitempty"`

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
	ours := []string{ReasonStopped, ReasonReplaced, ReasonDependencyFailed, ReasonDependencyLost}
	i := slices.IndexFunc(s.Conditions, func(c metav1.Condition) bool {
		return c.Type == ConditionFailed && c.Status == metav1.ConditionTrue && slices.Contains(ours, c.Reason)
	})
	if i < 0 {
		return nil
	}
	return &s.Conditions[i]
}

// With sets a condition. Its time moves only when its status does; a message is cut to MaxMessageBytes.
func (s Status) With(kind string, is bool, reason, message string, at time.Time) Status {
	status := metav1.ConditionFalse
	if is {
		status = metav1.ConditionTrue
	}
	c := metav1.Condition{Type: kind, Status: status, Reason: reason, Message: cut(message, MaxMessageBytes), LastTransitionTime: metav1.NewTime(at.UTC().Truncate(time.Second))}
	s.Conditions = slices.Clone(s.Conditions)
	i := slices.IndexFunc(s.Conditions, func(other metav1.Condition) bool { return other.Type == kind })
	if i < 0 {
		s.Conditions = append(s.Conditions, c)
		return s
	}
	if s.Conditions[i].Status == status {
		c.LastTransitionTime = s.Conditions[i].LastTransitionTime
	}
	s.Conditions[i] = c
	return s
}

// Without takes conditions off.
func (s Status) Without(kinds ...string) Status {
	s.Conditions = slices.DeleteFunc(slices.Clone(s.Conditions), func(c metav1.Condition) bool { return slices.Contains(kinds, c.Type) })
	return s
}

// Same tells whether two say the same: phase, outcome, and each condition's status and reason. Messages and times may differ.
func (s Status) Same(other Status) bool {
	return s.Phase == other.Phase && s.Outcome == other.Outcome && s.Run == other.Run && s.SpecHash == other.SpecHash &&
		slices.EqualFunc(s.Conditions, other.Conditions, func(a, b metav1.Condition) bool {
			return a.Type == b.Type && a.Status == b.Status && a.Reason == b.Reason
		})
}

// WithEnd records why the run was ended.
func (s Status) WithEnd(reason, message string, at time.Time) Status {
	return s.With(ConditionFailed, true, reason, message, at)
}
