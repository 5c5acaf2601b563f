package status

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// Step is one point in the life of a run.
type Step struct {
	Name   string        `json:"name"` // created, released, pod created, scheduled, pulled, started, ended, decided, finished
	At     time.Time     `json:"at"`
	Took   time.Duration `json:"-"`                // since the step before
	Object string        `json:"object,omitempty"` // the Pod that it is about
	Note   string        `json:"note,omitempty"`
}

// Timeline is the life of a run from its creation to its end, as far as it went and the objects tell: the steps of the
// first Pod up to its start, and the end of the last one. Steps that nothing tells of are left out.
func Timeline(s Snapshot) []Step {
	v := newView(s)
	steps := []Step{{Name: "created", At: v.Job.CreationTimestamp.Time}}
	add := func(name string, at time.Time, object, note string) {
		if !at.IsZero() {
			steps = append(steps, Step{Name: name, At: at, Object: object, Note: note})
		}
	}
	add("released", releasedAt(v.Job), "", "")
	if e := firstCreate(v); e != nil && (len(v.pods) == 0 || EventTime(e).Before(v.pods[0].CreationTimestamp.Time)) { // the first Pod is gone
		add("pod created", EventTime(e), "pod/"+match(createdText, e.Message)[1], "gone")
	}
	if len(v.pods) > 0 {
		first := v.pods[0]
		name := "pod/" + first.Name
		add("pod created", first.CreationTimestamp.Time, name, "")
		if c := podCondition(first, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionTrue {
			add("scheduled", c.LastTransitionTime.Time, name, first.Spec.NodeName)
		}
		if e := newestPodEvent(v, first, "Pulled"); e != nil {
			add("pulled", EventTime(e), name, "")
		}
		started, _ := ranFrom(first)
		add("started", started, name, "")
		if last, at := lastEnd(v); last != nil && len(v.live()) == 0 {
			add("ended", at, "pod/"+last.Name, "")
		}
	}
	add("decided", decidedAt(v), "", "")
	switch {
	case v.condition(batchv1.JobComplete) != nil:
		add("finished", v.condition(batchv1.JobComplete).LastTransitionTime.Time, "", "Complete")
	case v.condition(batchv1.JobFailed) != nil:
		add("finished", v.condition(batchv1.JobFailed).LastTransitionTime.Time, "", "Failed")
	}
	slices.SortStableFunc(steps, func(a, b Step) int { return a.At.Compare(b.At) })
	for i := range steps {
		if i > 0 {
			steps[i].Took = steps[i].At.Sub(steps[i-1].At)
		}
	}
	return steps
}

// firstCreate is the event of the first Pod that was made, nil when no event tells.
func firstCreate(v view) *corev1.Event {
	var first *corev1.Event
	for i := range v.Events {
		e := &v.Events[i]
		if e.InvolvedObject.UID == v.Job.UID && e.Reason == "SuccessfulCreate" && match(createdText, e.Message) != nil &&
			(first == nil || EventTime(e).Before(EventTime(first))) {
			first = e
		}
	}
	return first
}

// releasedAt is when a Job that was suspended went on, zero when it never was, or still is.
func releasedAt(job *batchv1.Job) time.Time {
	for _, c := range job.Status.Conditions {
		if c.Type == batchv1.JobSuspended && c.Status == corev1.ConditionFalse && !suspended(job) {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

func decidedAt(v view) time.Time {
	for _, t := range []batchv1.JobConditionType{batchv1.JobFailureTarget, batchv1.JobSuccessCriteriaMet} {
		if c := v.condition(t); c != nil {
			return c.LastTransitionTime.Time
		}
	}
	return time.Time{}
}

// ranFrom is when the first of a Pod's main containers started, and when the last of them ended; zero for not yet.
func ranFrom(pod *corev1.Pod) (start, end time.Time) {
	for _, st := range pod.Status.ContainerStatuses {
		at, until := time.Time{}, time.Time{}
		switch {
		case st.State.Running != nil:
			at = st.State.Running.StartedAt.Time
		case st.State.Terminated != nil:
			at, until = st.State.Terminated.StartedAt.Time, st.State.Terminated.FinishedAt.Time
		}
		if !at.IsZero() && (start.IsZero() || at.Before(start)) {
			start = at
		}
		if until.After(end) {
			end = until
		}
	}
	if !Terminal(pod) {
		end = time.Time{}
	}
	return start, end
}

// RanFor is how long a Pod's main containers ran: from their first start to their last end, or until at. ok is false when
// none has started.
func RanFor(pod *corev1.Pod, at time.Time) (d time.Duration, ok bool) {
	start, end := ranFrom(pod)
	switch {
	case start.IsZero():
		return 0, false
	case end.IsZero():
		end = at
	}
	return max(end.Sub(start), 0), true
}

func lastEnd(v view) (*corev1.Pod, time.Time) {
	var last *corev1.Pod
	var at time.Time
	for _, pod := range v.pods {
		if _, end := ranFrom(pod); end.After(at) {
			last, at = pod, end
		}
	}
	return last, at
}

// Figures are the three figures of /debug, derived from objects and events because no watcher measured them.
type Figures struct {
	SyncDelay   *time.Duration // creation or release to the first Pod; nil when there was none yet
	SuccessRate *float64       // of the last Creates attempts to make a Pod, 0 to 1; nil when none is known
	Creates     int32
	LastRetry   time.Time // of the newest refused Pod, zero for none
}

// SlowSync is the syncDelay from which on something is wrong: the Job controller usually needs well below a second.
const SlowSync = 5 * time.Second

// lastCreates is how many attempts to make a Pod the success rate looks back on.
const lastCreates = 10

// FiguresOf derives the figures from the events of the Job, or from its Pods where events are gone.
func FiguresOf(s Snapshot) Figures {
	v := newView(s)
	var f Figures
	from := v.Job.CreationTimestamp.Time
	if at := releasedAt(v.Job); !at.IsZero() {
		from = at
	}
	var first time.Time
	var creates []corev1.Event
	for _, e := range v.Events {
		if e.InvolvedObject.UID != v.Job.UID || e.Reason != "SuccessfulCreate" && e.Reason != "FailedCreate" {
			continue
		}
		creates = append(creates, e)
		at := EventTime(&e)
		switch {
		case e.Reason == "FailedCreate" && at.After(f.LastRetry):
			f.LastRetry = at
		case e.Reason == "SuccessfulCreate" && !at.Before(from) && (first.IsZero() || at.Before(first)):
			first = at
		}
	}
	if first.IsZero() && len(v.pods) > 0 && !v.pods[0].CreationTimestamp.Time.Before(from) {
		first = v.pods[0].CreationTimestamp.Time
	}
	if !first.IsZero() {
		f.SyncDelay = new(first.Sub(from))
	}
	f.SuccessRate, f.Creates = successRate(creates)
	return f
}

// successRate looks back on the last attempts; an event that was seen several times stands for as many.
func successRate(creates []corev1.Event) (*float64, int32) {
	slices.SortStableFunc(creates, func(a, b corev1.Event) int { return EventTime(&b).Compare(EventTime(&a)) })
	var good, all int32
	for i := range creates {
		n := min(EventCount(&creates[i]), lastCreates-all)
		all += n
		if creates[i].Reason == "SuccessfulCreate" {
			good += n
		}
	}
	if all == 0 {
		return nil, 0
	}
	return new(float64(good) / float64(all)), all
}
