package mapping

import (
	"fmt"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// maxDependencies keeps the holds of a run below what their annotation may have.
const maxDependencies = 16

// coordination checks what orders runs among each other.
func (v *validator) coordination() {
	spec := &v.Work.Spec
	v.oneOf("spec.concurrencyPolicy", string(spec.ConcurrencyPolicy),
		string(v1beta2.ConcurrencyAllow), string(v1beta2.ConcurrencyForbid), string(v1beta2.ConcurrencyReplace))
	if group := spec.ConcurrencyGroup; group != "" {
		v.labelValue("spec.concurrencyGroup", group)
		if !spec.Exclusive() {
			v.add("spec.concurrencyGroup", "a group is only about runs that exclude each other, and concurrencyPolicy is "+
				string(or(spec.ConcurrencyPolicy, v1beta2.ConcurrencyAllow)), "set concurrencyPolicy: Forbid or Replace, or take it out")
		}
	}
	if n := len(spec.DependsOn); n > maxDependencies {
		v.add("spec.dependsOn", fmt.Sprintf("%d dependencies, %d are the most", n, maxDependencies), "let a Work in between gather some of them")
	}
	for i := range spec.DependsOn {
		v.dependency(i)
	}
	v.owner()
	if p := spec.PausePolicy; p != nil {
		v.oneOf("spec.pausePolicy.freeze", p.Freeze, v1beta2.FreezeBudget, v1beta2.FreezeNone)
	}
	if p := spec.Profile; p != "" && len(validation.IsDNS1123Label(p)) > 0 {
		v.add("spec.profile", notAName(p, "name of a profile", lower), "")
	}
}

func or[T comparable](value, fallback T) T {
	var zero T
	if value == zero {
		return fallback
	}
	return value
}

func (v *validator) dependency(i int) {
	d := &v.Work.Spec.DependsOn[i]
	path := fmt.Sprintf("spec.dependsOn[%d]", i)
	switch {
	case d.Work == "":
		v.add(path+".work", "the name of a Work is missing", "")
	case d.Work == v.Work.Name && !isWord(d.Run, v1beta2.RunLatest) && !isNumber(d.Run):
		v.add(path+".work", "a Work cannot wait for the run that it makes itself", "name another Work, or an earlier run of this one with run: latest")
	case slices.ContainsFunc(v.Work.Spec.DependsOn[:i], func(other v1beta2.Dependency) bool { return other.Work == d.Work && sameRun(other.Run, d.Run) }):
		v.add(path+".work", quoted(d.Work)+" is listed twice", "keep one")
	}
	v.oneOf(path+".outcome", string(d.Outcome),
		string(v1beta2.DependencySucceeded), string(v1beta2.DependencyFailed), string(v1beta2.DependencyFinished))
	if d.Run != nil && !isNumber(d.Run) && !isWord(d.Run, v1beta2.RunLatest) && !isWord(d.Run, v1beta2.RunNext) {
		v.add(path+".run", quoted(d.Run.String())+" is no run", "use a run's number, latest or next")
	}
	for _, name := range sortedKeys(d.Inputs) {
		at := path + ".inputs[" + name + "]"
		if wrong := validation.IsEnvVarName(name); len(wrong) > 0 {
			v.add(at, quoted(name)+" cannot be the name of an environment variable", "")
		}
		if from := d.Inputs[name].From; from == "" {
			v.add(at+".from", "it is missing", "use "+v1beta2.FromTerminationMessage)
		} else {
			v.oneOf(at+".from", from, v1beta2.FromTerminationMessage)
		}
	}
}

func isNumber(run *intstr.IntOrString) bool {
	if run == nil {
		return false
	}
	n, err := strconv.Atoi(run.String())
	return err == nil && n > 0
}

func isWord(run *intstr.IntOrString, word string) bool { return run != nil && run.String() == word }

func sameRun(a, b *intstr.IntOrString) bool {
	return (a == nil) == (b == nil) && (a == nil || a.String() == b.String())
}

// owner is an anchor, or an object that is named whole.
func (v *validator) owner() {
	o := v.Work.Spec.Owner
	if o == nil {
		return
	}
	const path = "spec.owner"
	named := o.APIVersion != "" || o.Kind != "" || o.Name != ""
	switch {
	case o.Anchor && named:
		v.add(path, "anchor: true makes an owner, and another one is named too", "keep one")
		return
	case !o.Anchor && !named:
		v.add(path, "it names no owner", "set apiVersion, kind and name, or anchor: true")
		return
	}
	if slices.ContainsFunc(v.Work.OwnerReferences, func(r metav1.OwnerReference) bool { return r.Controller != nil && *r.Controller }) {
		v.add(path, "metadata.ownerReferences"+v.lineOf("metadata.ownerReferences")+" has a controller already, and an object has only one", "keep one")
	}
	if o.Anchor {
		return
	}
	for _, field := range [][2]string{{"apiVersion", o.APIVersion}, {"kind", o.Kind}, {"name", o.Name}} {
		if field[1] == "" {
			v.add(path+"."+field[0], "it is missing", "")
		}
	}
	if gv, err := apischema.ParseGroupVersion(o.APIVersion); o.APIVersion != "" && (err != nil || gv.Version == "") {
		v.add(path+".apiVersion", quoted(o.APIVersion)+" is not a group and version", "write it like apps/v1")
	}
}
