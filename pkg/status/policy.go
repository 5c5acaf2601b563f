package status

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// matchedRule is the podFailurePolicy rule that a failed Pod matches, -1 for none: the first whose requirement holds, as
// in https://kubernetes.io/docs/concepts/workloads/controllers/job/#pod-failure-policy.
func matchedRule(job *batchv1.Job, pod *corev1.Pod) int {
	if job.Spec.PodFailurePolicy == nil || pod.Status.Phase != corev1.PodFailed {
		return -1
	}
	return slices.IndexFunc(job.Spec.PodFailurePolicy.Rules, func(r batchv1.PodFailurePolicyRule) bool {
		if r.OnExitCodes != nil {
			return matchesCode(r.OnExitCodes, pod)
		}
		return slices.ContainsFunc(r.OnPodConditions, func(p batchv1.PodFailurePolicyOnPodConditionsPattern) bool {
			c := podCondition(pod, p.Type)
			return c != nil && c.Status == p.Status
		})
	})
}

func matchesCode(r *batchv1.PodFailurePolicyOnExitCodesRequirement, pod *corev1.Pod) bool {
	return slices.ContainsFunc(containersOf(pod), func(c container) bool {
		t := c.status.State.Terminated
		if t == nil || t.ExitCode == 0 || r.ContainerName != nil && *r.ContainerName != c.spec.Name {
			return false
		}
		in := slices.Contains(r.Values, t.ExitCode)
		return in == (r.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn)
	})
}

// describeRule says what a rule does: rule 1 (FailJob on 42 in main).
func describeRule(job *batchv1.Job, i int) string {
	if job.Spec.PodFailurePolicy == nil || i < 0 || i >= len(job.Spec.PodFailurePolicy.Rules) {
		return fmt.Sprintf("rule %d", i)
	}
	r := job.Spec.PodFailurePolicy.Rules[i]
	var on []string
	if e := r.OnExitCodes; e != nil {
		var codes []string
		for _, v := range e.Values {
			codes = append(codes, strconv.Itoa(int(v)))
		}
		text := strings.Join(codes, ", ")
		if e.Operator == batchv1.PodFailurePolicyOnExitCodesOpNotIn {
			text = "any code but " + text
		}
		if e.ContainerName != nil {
			text += " in " + *e.ContainerName
		}
		on = append(on, text)
	}
	for _, c := range r.OnPodConditions {
		on = append(on, fmt.Sprintf("condition %s=%s", c.Type, c.Status))
	}
	return fmt.Sprintf("rule %d (%s on %s)", i, r.Action, strings.Join(on, ", "))
}

// The Job controller's words (pkg/controller/job/pod_failure_policy.go in kubernetes/kubernetes).
const policyMatchText = `[Pp]od [^/]+/(\S+) (?:failed with exit code \d+|has condition \S+) matching (\w+) rule at index (\d+)`

// policyMatch reads which rule matched which Pod out of a condition's message.
func policyMatch(message string) (pod string, rule int, ok bool) {
	m := match(policyMatchText, message)
	if m == nil {
		return "", 0, false
	}
	rule, err := strconv.Atoi(m[3])
	return m[1], rule, err == nil
}

const successRuleText = `[Mm]atched rules? at index (\d+)`

// successRule reads which rule of the success policy was met.
func successRule(message string) string {
	if m := match(successRuleText, message); m != nil {
		return "rule " + m[1]
	}
	return "its success policy"
}
