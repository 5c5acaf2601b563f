package status

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// EventTime is when an event was last seen. Emitters fill different fields (kubernetes/kubectl#1095).
func EventTime(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil && !e.Series.LastObservedTime.IsZero():
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	}
	return e.CreationTimestamp.Time
}

// EventCount is how often an event was seen, at least 1.
func EventCount(e *corev1.Event) int32 {
	if e.Series != nil && e.Series.Count > 0 {
		return e.Series.Count
	}
	return max(e.Count, 1)
}

// RelatedEvents keeps the events of the Job and of its Pods, oldest first. An event without a uid counts when kind and
// name fit and it is not older than the Job.
func RelatedEvents(s Snapshot) []corev1.Event {
	v := newView(s)
	var kept []corev1.Event
	for _, e := range s.Events {
		if related(v, e) {
			kept = append(kept, e)
		}
	}
	slices.SortStableFunc(kept, func(a, b corev1.Event) int {
		return cmp.Or(EventTime(&a).Compare(EventTime(&b)), strings.Compare(a.Name, b.Name))
	})
	return kept
}

func related(v view, e corev1.Event) bool {
	o := e.InvolvedObject
	match := func(kind, name, uid string) bool {
		if o.UID != "" {
			return string(o.UID) == uid
		}
		return o.Kind == kind && o.Name == name && !EventTime(&e).Before(v.Job.CreationTimestamp.Time)
	}
	if match("Job", v.Job.Name, string(v.Job.UID)) {
		return true
	}
	return slices.ContainsFunc(v.pods, func(p *corev1.Pod) bool { return match("Pod", p.Name, string(p.UID)) })
}
