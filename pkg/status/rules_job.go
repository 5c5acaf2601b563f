package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// findFailed explains a failure that the Job controller has recorded or announced.
func findFailed(v view, _ Phase) []Finding {
	c := failureCondition(v)
	if c == nil {
		return nil
	}
	finding := Finding{
		Severity: SeverityError, Reason: c.Reason, Message: failedMessage(v, c), Since: c.LastTransitionTime.Time,
		Evidence: []Evidence{jobCondition(v.Job, c)},
		Advice:   []Advice{{Command: "kubectl work logs " + v.Job.Name, Risk: RiskInspect, Why: "the whole output"}},
		Field:    failedField(v, c),
	}
	if newest, ok := newestFailed(v); ok && c.Reason != batchv1.JobReasonDeadlineExceeded {
		finding.Evidence = append(finding.Evidence, endEvidence(newest))
		finding.Details = hints(v, newest, newest.ended())
		if neverStarted(newest.ended()) { // there is no output
			finding.Advice = nil
		}
	}
	if len(v.pods) == 0 && !v.PodsHidden { // what explains it is gone
		finding.Advice = nil
		finding.Details = append(finding.Details, podsRemoved(v)...)
	}
	if reason, message := stopped(v); reason != "" {
		finding.Reason, finding.Message, finding.Advice = reason, message, nil
	}
	if v.condition(batchv1.JobFailed) == nil {
		finding.Next = fmt.Sprintf("Failed is set when the last Pod has ended (%s)", terminating(v.Job))
	}
	if text := overLimit(v.Job); text != "" {
		finding.Message += "; " + text
	}
	return []Finding{finding}
}

// failedMessage is the condition's reason in a sentence, with the Pod that brought it about.
func failedMessage(v view, c *batchv1.JobCondition) string {
	cause := failureOf(v).cause(v)
	switch c.Reason {
	case batchv1.JobReasonDeadlineExceeded:
		return "it was active longer than " + deadline(v.Job)
	case batchv1.JobReasonPodFailurePolicy:
		pod, rule, ok := policyMatch(c.Message)
		if !ok {
			return join(c.Message, cause)
		}
		return join(fmt.Sprintf("%s matched pod %s", describeRule(v.Job, rule), pod), cause)
	case batchv1.JobReasonFailedIndexes, batchv1.JobReasonMaxFailedIndexesExceeded:
		return join(failedIndexes(v.Job), cause)
	}
	if cause == "" {
		return c.Message
	}
	return cause
}

// podsRemoved says where the Pods of a failed Job are: the Job controller deletes those that still ran, with their output,
// and under OnFailure that is the one that failed. What is left of them is in their events.
func podsRemoved(v view) []string {
	made, removed := podNames(v)
	if len(removed) == 0 && v.Job.Spec.Template.Spec.RestartPolicy != corev1.RestartPolicyOnFailure {
		return nil
	}
	lines := []string{"the Job controller removed the Pods that still ran, and their output with them"}
	if v.Job.Spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		lines = []string{"under restartPolicy: OnFailure the Pod goes with the last try, and its output with it; Never keeps the Pod of each try"}
	}
	var newest *corev1.Event
	for i := range v.Events {
		e := &v.Events[i]
		if e.Type == corev1.EventTypeWarning && e.InvolvedObject.Kind == "Pod" && slices.Contains(made, e.InvolvedObject.Name) &&
			(newest == nil || EventTime(e).After(EventTime(newest))) {
			newest = e
		}
	}
	if newest != nil {
		lines = append(lines, fmt.Sprintf("the last word about them: %s: %s", newest.Reason, newest.Message))
	}
	return lines
}

func endEvidence(c container) Evidence {
	t, path := c.ended(), ".state.terminated"
	if c.status.State.Terminated == nil {
		path = ".lastState.terminated"
	}
	return c.evidence(path, fmt.Sprintf("%s: exit code %d", t.Reason, t.ExitCode))
}

// stopped tells of a Job that was ended on purpose: a deadline of 0, written with the reason by the same patch.
func stopped(v view) (reason, message string) {
	s := v.Job.Spec.ActiveDeadlineSeconds
	c := failureCondition(v)
	if s == nil || *s != 0 || c == nil || c.Reason != batchv1.JobReasonDeadlineExceeded {
		return "", ""
	}
	recorded, err := work.ParseStatus(v.Job.Annotations[work.AnnotationStatus])
	if end := recorded.Ended(); err == nil && end != nil {
		return end.Reason, end.Message
	}
	return "Stopped", "it was stopped: its activeDeadlineSeconds is 0"
}

// failedField is what a person would look at in the Job's own file.
func failedField(v view, condition *batchv1.JobCondition) string {
	switch condition.Reason {
	case batchv1.JobReasonDeadlineExceeded:
		if v.Job.Spec.ActiveDeadlineSeconds != nil {
			return "spec.activeDeadlineSeconds"
		}
	case batchv1.JobReasonPodFailurePolicy:
		if _, rule, ok := policyMatch(condition.Message); ok {
			return fmt.Sprintf("spec.podFailurePolicy.rules[%d]", rule)
		}
	}
	c, ok := newestFailed(v)
	if !ok {
		return podField(newestFailedPod(v))
	}
	if field := podField(c.pod); field != "" {
		return field
	}
	switch {
	case neverStarted(c.ended()) && len(c.spec.Command) > 0:
		return c.field + ".command"
	case c.ended().Reason == "OOMKilled" && memoryLimit(c) != "":
		return c.field + ".resources.limits.memory"
	}
	return c.field
}

// podField is the field that a Pod was ended for as a whole, "" when it was not.
func podField(pod *corev1.Pod) string {
	const spec = "spec.template.spec"
	switch {
	case pod == nil:
		return ""
	case pod.Status.Reason == "DeadlineExceeded":
		return spec + ".activeDeadlineSeconds"
	case pod.Status.Reason == "NodeAffinity" && len(pod.Spec.NodeSelector) > 0:
		return spec + ".nodeSelector"
	case pod.Status.Reason == "Evicted":
		if m := match(`EmptyDir volume "([^"]+)" exceeds`, pod.Status.Message); m != nil {
			return volumeField(pod, m[1]) + ".emptyDir.sizeLimit"
		}
	}
	return ""
}

// overLimit explains why more Pods failed than backoffLimit seems to allow (kubernetes/kubernetes#60735).
func overLimit(job *batchv1.Job) string {
	limit := tryLimit(job)
	if limit == nil || job.Status.Failed <= *limit {
		return ""
	}
	return fmt.Sprintf("%d pods failed, backoffLimit is %d: pods already running when the limit was passed are counted too",
		job.Status.Failed, *limit-1)
}

func deadline(job *batchv1.Job) string {
	if s := job.Spec.ActiveDeadlineSeconds; s != nil {
		return fmt.Sprintf("activeDeadlineSeconds: %d", *s)
	}
	return "its activeDeadlineSeconds"
}

// terminating says how many Pods are still on their way out.
func terminating(job *batchv1.Job) string {
	if t := job.Status.Terminating; t != nil && *t > 0 {
		return fmt.Sprintf("%d still ending", *t)
	}
	return "none is ending any more"
}

// findSucceeded tells how a success, recorded or announced, came about.
func findSucceeded(v view, _ Phase) []Finding {
	complete := v.condition(batchv1.JobComplete)
	c := complete
	if c == nil {
		c = v.condition(batchv1.JobSuccessCriteriaMet)
	}
	if c == nil {
		return nil
	}
	st := v.Job.Status
	var message string
	switch {
	case v.Job.Spec.Completions != nil && *v.Job.Spec.Completions == 0:
		message = "Succeeded, nothing to do (0 completions)"
	case c.Reason == batchv1.JobReasonSuccessPolicy:
		message = fmt.Sprintf("Succeeded: %d of %d indexes, enough by %s", st.Succeeded, cmp.Or(completions(v.Job), st.Succeeded), successRule(c.Message))
	case st.Failed > 0 && completions(v.Job) <= 1:
		message = fmt.Sprintf("Succeeded after %d tries (%d failed)", st.Succeeded+st.Failed, st.Failed)
	case st.Failed > 0:
		message = fmt.Sprintf("Succeeded: %d pods succeeded, %d failed and were tried again", st.Succeeded, st.Failed)
	}
	finding := Finding{
		Severity: SeverityInfo, Reason: cmp.Or(c.Reason, "Completed"), Message: message, Since: c.LastTransitionTime.Time,
		Evidence: []Evidence{jobCondition(v.Job, c)},
	}
	if complete == nil {
		finding.Next = fmt.Sprintf("Complete is set when the last Pod has ended (%s)", terminating(v.Job))
	}
	return []Finding{finding}
}

func completions(job *batchv1.Job) int32 {
	if job.Spec.Completions != nil {
		return *job.Spec.Completions
	}
	return 1
}

func findDeleting(v view, _ Phase) []Finding {
	if v.Job.DeletionTimestamp == nil {
		return nil
	}
	message := "it is being deleted"
	if len(v.Job.Finalizers) > 0 {
		message += "; held by " + strings.Join(v.Job.Finalizers, ", ")
	}
	return []Finding{{
		Severity: SeverityWarning, Reason: "Deleting", Message: message, Since: v.Job.DeletionTimestamp.Time,
		Evidence: []Evidence{{Object: "job/" + v.Job.Name, Path: ".metadata.deletionTimestamp", Value: v.Job.DeletionTimestamp.UTC().Format(timeFormat)}},
	}}
}

const timeFormat = "2006-01-02T15:04:05Z07:00"

func jobCondition(job *batchv1.Job, c *batchv1.JobCondition) Evidence {
	return Evidence{
		Object: "job/" + job.Name,
		Path:   fmt.Sprintf(".status.conditions[?(@.type==%q)]", c.Type),
		Value:  fmt.Sprintf("%s: %s", c.Reason, c.Message),
	}
}

func join(parts ...string) string {
	var kept []string
	for _, p := range parts {
		if p != "" {
			kept = append(kept, p)
		}
	}
	return strings.Join(kept, "; ")
}
