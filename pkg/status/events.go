package status

import (
	"cmp"
	"regexp"
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

// RelatedEvents keeps the events of the Job and of everything it owns, oldest first: its Pods, those that are gone
// included when the Job's own events name them, and the claims that its Pods wait for. An event without a uid counts when
// kind and name fit and it is not older than the Job.
func RelatedEvents(s Snapshot) []corev1.Event {
	v := newView(s)
	made, _ := podNames(v)
	var kept []corev1.Event
	for _, e := range s.Events {
		if related(v, made, e) {
			kept = append(kept, e)
		}
	}
	slices.SortStableFunc(kept, func(a, b corev1.Event) int {
		return cmp.Or(EventTime(&a).Compare(EventTime(&b)), strings.Compare(a.Name, b.Name))
	})
	return kept
}

func related(v view, made []string, e corev1.Event) bool {
	o := e.InvolvedObject
	young := !EventTime(&e).Before(v.Job.CreationTimestamp.Time)
	match := func(kind, name, uid string) bool {
		if o.UID != "" {
			return string(o.UID) == uid
		}
		return o.Kind == kind && o.Name == name && young
	}
	switch {
	case match("Job", v.Job.Name, string(v.Job.UID)):
		return true
	case slices.ContainsFunc(v.pods, func(p *corev1.Pod) bool { return match("Pod", p.Name, string(p.UID)) }):
		return true
	case o.Kind == "Pod" && young && slices.Contains(made, o.Name):
		return true
	}
	return slices.ContainsFunc(v.Claims, func(c *corev1.PersistentVolumeClaim) bool {
		return match("PersistentVolumeClaim", c.Name, string(c.UID))
	})
}

// EventGroup is one or more events that say the same about objects of one kind.
type EventGroup struct {
	Newest  corev1.Event
	First   time.Time
	Count   int32 // of all, as their emitters count
	Objects int   // how many objects they are about
}

// CollapseEvents joins events of one type, reason and kind whose messages differ in nothing but the names of the Job's
// Pods; in order of when each was last seen.
func CollapseEvents(job string, events []corev1.Event) []EventGroup {
	type key struct{ kind, kindOf, reason, message string }
	podName := regexp.MustCompile(`\b` + regexp.QuoteMeta(job) + `(-\d+)?-[a-z0-9]{5}\b`) // JOB-xxxxx, JOB-INDEX-xxxxx
	groups := map[key]*EventGroup{}
	objects := map[key]map[string]bool{}
	var order []key
	for _, e := range events {
		k := key{e.Type, e.InvolvedObject.Kind, e.Reason, podName.ReplaceAllString(strings.TrimPrefix(e.Message, combinedPrefix), "*")}
		g := groups[k]
		if g == nil {
			g = &EventGroup{First: EventTime(&e)}
			groups[k], objects[k] = g, map[string]bool{}
			order = append(order, k)
		}
		g.Count += EventCount(&e)
		if first := e.FirstTimestamp.Time; !first.IsZero() && first.Before(g.First) {
			g.First = first
		}
		if !EventTime(&e).Before(EventTime(&g.Newest)) {
			g.Newest = e
			g.Newest.Message = strings.TrimPrefix(e.Message, combinedPrefix)
		}
		objects[k][e.InvolvedObject.Name] = true
	}
	var all []EventGroup
	for _, k := range order {
		groups[k].Objects = len(objects[k])
		all = append(all, *groups[k])
	}
	slices.SortStableFunc(all, func(a, b EventGroup) int { return EventTime(&a.Newest).Compare(EventTime(&b.Newest)) })
	return all
}
