package status

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// findPodsRefused: the API server refuses the Job controller's Pods. Only events tell, until Pods exist
// (kubernetes/kubernetes#90124).
func findPodsRefused(v view, p Phase) []Finding {
	if !starting(p) || managedElsewhere(v) {
		return nil
	}
	event, tries := newestFailedCreate(v)
	if event == nil {
		return nil
	}
	f := refusal(strings.TrimPrefix(strings.TrimPrefix(event.Message, combinedPrefix), "Error creating: "))
	f.Severity, f.Since = SeverityError, firstFailedCreate(v)
	f.Message += fmt.Sprintf(" (%s, the last %s ago)", count(tries, "try", "tries"), short(v.At.Sub(EventTime(event))))
	f.Evidence = []Evidence{{Object: "event/" + event.Name, Path: ".message", Value: event.Message}}
	switch {
	case f.Class == ClassPolicy: // a policy may treat the Job controller and whoever asks differently
	case refusedBefore(v) && v.Probe != nil && v.Probe.Refusal == "":
		f.Class, f.Severity, f.Next = ClassNone, SeverityWarning, triesAgain
		f.Message += "; " + acceptedNow
	default:
		f.Next = join(f.Next, triesAgain)
	}
	return []Finding{f}
}

const (
	triesAgain  = "the Job controller tries again, with pauses of up to about a minute"
	acceptedNow = "a dry run of its Pod is accepted now, so the next try may work"
)

const combinedPrefix = "(combined from similar events): "

// newestFailedCreate is the newest FailedCreate event of the Job that no later SuccessfulCreate answers, and how often
// it was tried.
func newestFailedCreate(v view) (*corev1.Event, int32) {
	var newest *corev1.Event
	var tries int32
	var created time.Time
	for i := range v.Events {
		e := &v.Events[i]
		if e.InvolvedObject.Kind != "Job" || e.InvolvedObject.UID != v.Job.UID {
			continue
		}
		switch e.Reason {
		case "FailedCreate":
			tries += EventCount(e)
			if newest == nil || EventTime(e).After(EventTime(newest)) {
				newest = e
			}
		case "SuccessfulCreate":
			if t := EventTime(e); t.After(created) {
				created = t
			}
		}
	}
	if newest == nil || created.After(EventTime(newest)) || len(v.live()) > 0 {
		return nil, 0
	}
	return newest, tries
}

func firstFailedCreate(v view) time.Time {
	var first time.Time
	for i := range v.Events {
		e := &v.Events[i]
		if e.Reason != "FailedCreate" || e.InvolvedObject.UID != v.Job.UID {
			continue
		}
		if t := e.FirstTimestamp.Time; !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}

// The API server's words for a refused Pod, as of v1.37 (plugin/pkg/admission and pod-security-admission in
// kubernetes/kubernetes). There is no other source than the text of the event.
const (
	quotaText    = `exceeded quota: (\S+), requested: (.+), used: (.+), limited: (.+)$`
	securityText = `violates PodSecurity "([^":]+)[^"]*": (.+)$`
	accountText  = `error looking up service account ([^/]+)/([^:]+):`
	priorityText = `no PriorityClass with name (\S+) was found`
	webhookText  = `failed calling webhook "([^"]+)": (?:failed to call webhook: )?(.+)$`
	deniedText   = `admission webhook "([^"]+)" denied the request: (.+)$`
	policyText   = `ValidatingAdmissionPolicy '([^']+)' .*denied request: (.+)$`
	limitsText   = `is forbidden: \[?((?:minimum|maximum) .+?)\]?$`
)

// match compiles its pattern when it is needed: refused Pods are rare, and the start of the program is not.
func match(pattern, text string) []string {
	return regexp.MustCompile(pattern).FindStringSubmatch(text)
}

// refusal reads why a Pod was refused: class, reason, message and details.
func refusal(text string) Finding {
	if m := match(quotaText, text); m != nil {
		return Finding{
			Class: ClassQuota, Reason: "QuotaExceeded",
			Message: fmt.Sprintf("quota %s leaves no room for its Pods: they want %s, used %s, allowed %s", m[1], m[2], m[3], m[4]),
		}
	}
	if m := match(securityText, text); m != nil {
		return Finding{
			Class: ClassPolicy, Reason: "PodSecurity", Details: violations(m[2]),
			Message: fmt.Sprintf("the namespace enforces Pod Security %q, which its Pods violate", m[1]),
		}
	}
	if m := match(accountText, text); m != nil {
		return Finding{
			Class: ClassConfig, Reason: "ServiceAccountMissing",
			Message: fmt.Sprintf("service account %s/%s does not exist", m[1], m[2]), Next: "Pods are created as soon as it does",
		}
	}
	if m := match(priorityText, text); m != nil {
		return Finding{
			Class: ClassConfig, Reason: "PriorityClassMissing",
			Message: fmt.Sprintf("priority class %s does not exist", m[1]), Next: "Pods are created as soon as it does",
		}
	}
	if m := match(webhookText, text); m != nil {
		return Finding{Class: ClassQuota, Reason: "WebhookDown", Message: fmt.Sprintf("webhook %s did not answer: %s", m[1], innermost(m[2]))}
	}
	if m := match(deniedText, text); m != nil {
		return Finding{Class: ClassPolicy, Reason: "WebhookDenied", Message: fmt.Sprintf("webhook %s denies its Pods: %s", m[1], m[2])}
	}
	if m := match(policyText, text); m != nil {
		return Finding{Class: ClassPolicy, Reason: "PolicyDenied", Message: fmt.Sprintf("admission policy %s denies its Pods: %s", m[1], m[2])}
	}
	if m := match(limitsText, text); m != nil {
		return Finding{Class: ClassPolicy, Reason: "LimitRange", Message: "the namespace's limits refuse its Pods: " + m[1]}
	}
	return Finding{Class: ClassQuota, Reason: "PodsRefused", Message: "the API server refuses its Pods: " + text}
}

// violations splits the list of a Pod Security refusal: one a line, each with the field to set. Commas inside
// parentheses belong to a violation.
func violations(text string) []string {
	var list []string
	depth, start := 0, 0
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case r == ',' && depth == 0:
			list = append(list, strings.TrimSpace(text[start:i]))
			start = i + 1
		}
	}
	return append(list, strings.TrimSpace(text[start:]))
}

// innermost is the end of a chain of Go's network errors: connect: connection refused.
func innermost(text string) string {
	if i := strings.LastIndex(text, ": connect: "); i >= 0 {
		return text[i+len(": connect: "):]
	}
	if _, after, found := strings.Cut(text, `": `); found && strings.HasPrefix(text, "Post ") {
		return after
	}
	return text
}

func count(n int32, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// short is a duration in whole seconds, or minutes from two on.
func short(d time.Duration) string {
	d = max(d, 0)
	if d < 2*time.Minute {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d min", int(d.Minutes()))
}

// quiet is how long a Job may be without any Pod before that is a finding of its own.
const quiet = 30 * time.Second

// findNoPods: no Pod was ever made and no event tells why, most often because events are kept for about an hour only
// (kubernetes/kubernetes#88748). A dry run of its Pod then may.
func findNoPods(v view, p Phase) []Finding {
	if p != PhasePending || managedElsewhere(v) || !silent(v) {
		return nil
	}
	f := Finding{
		Severity: SeverityWarning, Reason: "NoPods", Since: v.Job.Status.StartTime.Time,
		Message:  "no Pod was created, and no event tells why (the cluster keeps events about an hour)",
		Evidence: []Evidence{{Object: "job/" + v.Job.Name, Path: ".status.startTime", Value: v.Job.Status.StartTime.UTC().Format(timeFormat)}},
		Next:     triesAgain,
	}
	if v.EventsHidden {
		f.Message = "no Pod was created; only events can tell why, and they were not read"
	}
	switch {
	case v.Probe == nil:
	case v.Probe.Refusal == "":
		f.Message += "; " + acceptedNow
	default:
		told := refusal(v.Probe.Refusal)
		told.Severity, told.Since, told.Next = SeverityError, f.Since, join(told.Next, f.Next)
		told.Message += " (told by a dry run of its Pod; events are gone)"
		told.Evidence = []Evidence{f.Evidence[0], {Object: "dry run of its Pod", Path: ".message", Value: v.Probe.Refusal}}
		return []Finding{told}
	}
	f.Advice = []Advice{{
		Command: fmt.Sprintf("kubectl work export %s --kind job | kubectl create --dry-run=server -f -", v.Job.Name), Risk: RiskInspect,
		Why: "whether the server takes such a Job now; a service account, quota or policy may still refuse its Pods",
	}}
	return []Finding{f}
}
