package mapping

import (
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// scheduling checks that the scheduling policy and the template do not contradict each other: the same key with another
// value in both places names both.
func (v *validator) scheduling() {
	p := v.Work.Spec.SchedulingPolicy
	if p == nil {
		return
	}
	const policy = "spec.schedulingPolicy"
	pod := &v.Work.Spec.Template.Spec
	conflict := func(name, own, other string) {
		v.add(policy+name, fmt.Sprintf("%s here, but %s%s says %s", own, other, v.lineOf(other), "something else"), "keep one")
	}
	if a, b := p.PriorityClassName, pod.PriorityClassName; a != "" && b != "" && a != b {
		conflict(".priorityClassName", quoted(a), podPath+".priorityClassName")
	}
	var keys []string
	for key := range p.NodeSelector {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if other, both := pod.NodeSelector[key]; both && other != p.NodeSelector[key] {
			conflict(".nodeSelector["+key+"]", quoted(p.NodeSelector[key]), podPath+".nodeSelector["+key+"]")
		}
	}
	if p.Affinity != nil && pod.Affinity != nil && !reflect.DeepEqual(p.Affinity, pod.Affinity) {
		conflict(".affinity", "an affinity", podPath+".affinity")
	}
	if len(p.Tolerations) > 0 && len(pod.Tolerations) > 0 && !reflect.DeepEqual(p.Tolerations, pod.Tolerations) {
		conflict(".tolerations", "tolerations", podPath+".tolerations")
	}
	if len(p.TopologySpreadConstraints) > 0 && len(pod.TopologySpreadConstraints) > 0 && !reflect.DeepEqual(p.TopologySpreadConstraints, pod.TopologySpreadConstraints) {
		conflict(".topologySpreadConstraints", "constraints", podPath+".topologySpreadConstraints")
	}
	if p.QueueName == "" {
		return
	}
	v.labelValue(policy+".queueName", p.QueueName)
	if label := v.Work.Labels[work.LabelKueueQueue]; label != "" && label != p.QueueName {
		conflict(".queueName", quoted(p.QueueName), "metadata.labels["+work.LabelKueueQueue+"]")
	}
}

// extras checks the other fields that a Work adds.
func (v *validator) extras() {
	if v.Work.Spec.Tenant != "" {
		v.labelValue("spec.tenant", v.Work.Spec.Tenant)
	}
	const most = 65535
	if d := v.Work.Spec.Debug; d != nil && (d.Port < 1 || d.Port > most) {
		v.add("spec.debug.port", fmt.Sprintf("%d is not a port", d.Port), fmt.Sprintf("use 1 to %d", most))
	}
}

// labelValue reports a text that cannot be the value of a label, which it becomes.
func (v *validator) labelValue(path, text string) {
	if wrong := validation.IsValidLabelValue(text); len(wrong) > 0 {
		v.add(path, quoted(text)+" becomes a label, and cannot be one", "use at most 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit")
	}
}
