package mapping

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

const (
	maxRules            = 20      // of a podFailurePolicy or successPolicy
	maxExitCodes        = 255     // of one rule
	maxIndexedParallels = 100_000 // of a Job in Indexed mode
)

// indexed says that every completion has an index.
func (v *validator) indexed() bool {
	mode := v.Work.Spec.CompletionMode
	return mode != nil && *mode == batchv1.IndexedCompletion
}

// indexes checks the fields that only go with completionMode: Indexed.
func (v *validator) indexes() {
	spec := &v.Work.Spec
	const add = "add completionMode: Indexed"
	if !v.indexed() {
		if spec.BackoffLimitPerIndex != nil {
			v.add("spec.backoffLimitPerIndex", "only possible when every completion has an index", add)
		}
		if spec.MaxFailedIndexes != nil {
			v.add("spec.maxFailedIndexes", "only possible when every completion has an index", add)
		}
		if spec.SuccessPolicy != nil {
			v.add("spec.successPolicy", "only possible when every completion has an index", add)
		}
		return
	}
	if spec.Completions == nil {
		v.add("spec.completions", "completions is missing, and completionMode: Indexed needs it", "say how many indexes there are")
	} else if failed := spec.MaxFailedIndexes; failed != nil && *failed > *spec.Completions {
		v.add("spec.maxFailedIndexes", fmt.Sprintf("%d is more than the %d completions", *failed, *spec.Completions), "")
	}
	if spec.MaxFailedIndexes != nil && spec.BackoffLimitPerIndex == nil {
		v.add("spec.maxFailedIndexes", "only possible with backoffLimitPerIndex", "add backoffLimitPerIndex")
	}
	if spec.Parallelism != nil && *spec.Parallelism > maxIndexedParallels {
		v.add("spec.parallelism", fmt.Sprintf("%d is too many at a time, %d is the most with indexes", *spec.Parallelism, maxIndexedParallels), "")
	}
}

func (v *validator) podFailurePolicy() {
	spec := &v.Work.Spec
	if spec.PodReplacementPolicy != nil {
		v.oneOf("spec.podReplacementPolicy", string(*spec.PodReplacementPolicy), "TerminatingOrFailed", "Failed")
	}
	policy := spec.PodFailurePolicy
	if policy == nil {
		return
	}
	if spec.PodReplacementPolicy != nil && *spec.PodReplacementPolicy == batchv1.TerminatingOrFailed {
		v.add("spec.podReplacementPolicy", "TerminatingOrFailed is not possible together with podFailurePolicy", "use Failed, or leave it out")
	}
	if spec.Template.Spec.RestartPolicy == corev1.RestartPolicyOnFailure {
		v.add(restartPath, "OnFailure is not possible together with podFailurePolicy: restarts inside a Pod are not failures of it", "use Never")
	}
	if len(policy.Rules) > maxRules {
		v.add("spec.podFailurePolicy.rules", fmt.Sprintf("%d rules, %d is the most", len(policy.Rules), maxRules), "")
	}
	for i := range policy.Rules {
		v.failureRule("spec.podFailurePolicy.rules["+strconv.Itoa(i)+"]", &policy.Rules[i])
	}
}

func (v *validator) failureRule(path string, rule *batchv1.PodFailurePolicyRule) {
	if rule.Action == "" {
		v.add(path+".action", "an action is missing", "use one of FailJob, FailIndex, Ignore, Count")
	}
	v.oneOf(path+".action", string(rule.Action), "FailJob", "FailIndex", "Ignore", "Count")
	if rule.Action == batchv1.PodFailurePolicyActionFailIndex && v.Work.Spec.BackoffLimitPerIndex == nil {
		v.add(path+".action", "FailIndex is only possible with backoffLimitPerIndex", "add spec.backoffLimitPerIndex, or use FailJob")
	}
	switch {
	case rule.OnExitCodes != nil && len(rule.OnPodConditions) > 0:
		v.add(path, "a rule has either onExitCodes or onPodConditions, this one has both", "make two rules of it")
	case rule.OnExitCodes == nil && len(rule.OnPodConditions) == 0:
		v.add(path, "a rule needs onExitCodes or onPodConditions", "add one")
	}
	if rule.OnExitCodes != nil {
		v.exitCodes(path+".onExitCodes", rule.OnExitCodes)
	}
	for i, c := range rule.OnPodConditions {
		at := path + ".onPodConditions[" + strconv.Itoa(i) + "]"
		if c.Type == "" {
			v.add(at+".type", "a type is missing", "for example DisruptionTarget")
		}
		v.oneOf(at+".status", string(c.Status), "True", "False", "Unknown")
	}
}

func (v *validator) exitCodes(path string, on *batchv1.PodFailurePolicyOnExitCodesRequirement) {
	if on.ContainerName != nil {
		names := v.containerNames()
		if !slices.Contains(names, *on.ContainerName) {
			fix := "the containers are " + strings.Join(names, ", ")
			if near := nearest(*on.ContainerName, names); near != "" {
				fix = "did you mean " + near + "?"
			}
			v.add(path+".containerName", "there is no container "+quoted(*on.ContainerName), fix)
		}
	}
	if on.Operator == "" {
		v.add(path+".operator", "an operator is missing", "use In or NotIn")
	}
	v.oneOf(path+".operator", string(on.Operator), "In", "NotIn")
	if len(on.Values) == 0 {
		v.add(path+".values", "there are no exit codes", "add at least one")
	}
	if len(on.Values) > maxExitCodes {
		v.add(path+".values", fmt.Sprintf("%d exit codes, %d is the most", len(on.Values), maxExitCodes), "")
	}
	for i, code := range on.Values {
		if code == 0 && on.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn {
			v.add(path+".values["+strconv.Itoa(i)+"]", "0 is not possible with operator In: exit code 0 is success, not failure", "take it out")
		}
	}
	right := slices.DeleteFunc(slices.Clone(on.Values), func(code int32) bool {
		return code == 0 && on.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn
	})
	slices.Sort(right)
	right = slices.Compact(right)
	if !slices.IsSorted(on.Values) {
		v.add(path+".values", "the exit codes are not in ascending order", "write "+numbers(right))
	} else if len(slices.Compact(slices.Clone(on.Values))) < len(on.Values) {
		v.add(path+".values", "an exit code is there twice", "write "+numbers(right))
	}
}

// numbers is a list as it may stand in the file.
func numbers(list []int32) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = strconv.Itoa(int(n))
	}
	return "[" + strings.Join(words, ", ") + "]"
}

func (v *validator) successPolicy() {
	policy := v.Work.Spec.SuccessPolicy
	if policy == nil {
		return
	}
	if n := len(policy.Rules); n == 0 || n > maxRules {
		v.add("spec.successPolicy.rules", fmt.Sprintf("%d rules, from 1 to %d are possible", n, maxRules), "")
	}
	for i, rule := range policy.Rules {
		path := "spec.successPolicy.rules[" + strconv.Itoa(i) + "]"
		if rule.SucceededCount == nil && rule.SucceededIndexes == nil {
			v.add(path, "a rule needs succeededIndexes or succeededCount", "add one")
		}
		if n := rule.SucceededCount; n != nil {
			if *n < 1 {
				v.add(path+".succeededCount", fmt.Sprintf("%d is less than 1", *n), "")
			} else if all := v.Work.Spec.Completions; all != nil && *n > *all {
				v.add(path+".succeededCount", fmt.Sprintf("%d is more than the %d completions", *n, *all), "")
			}
		}
	}
}
