package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// Changes are what a resume may change of a suspended Job: its parallelism at any time; the resources of its containers and
// where its Pods may run as long as none of them is active
// (https://kubernetes.io/docs/concepts/workloads/controllers/job, mutable scheduling directives and Pod resources).
type Changes struct {
	Parallelism  *int32
	CPU, Memory  *resource.Quantity // requests, and limits where there are some, of every container that is not an init container
	NodeSelector map[string]string
}

func (c Changes) template() bool { return c.CPU != nil || c.Memory != nil || len(c.NodeSelector) > 0 }

// of is the part of a merge patch under spec.
func (c Changes) of(job *batchv1.Job) (map[string]any, error) {
	spec := map[string]any{}
	if c.Parallelism != nil {
		spec["parallelism"] = *c.Parallelism
	}
	if !c.template() {
		return spec, nil
	}
	if !isSuspended(job) {
		return nil, errors.New("resources and node selector can be changed only of a paused run")
	}
	if job.Status.Active > 0 {
		return nil, fmt.Errorf("resources and node selector can be changed only when its %s have ended", podCount(job.Status.Active))
	}
	pod := map[string]any{}
	if len(c.NodeSelector) > 0 {
		selector := map[string]any{}
		for key, value := range c.NodeSelector {
			selector[key] = value
		}
		pod["nodeSelector"] = selector
	}
	if c.CPU != nil || c.Memory != nil {
		containers, err := c.containers(job.Spec.Template.Spec.Containers)
		if err != nil {
			return nil, err
		}
		pod["containers"] = containers
	}
	spec["template"] = map[string]any{"spec": pod}
	return spec, nil
}

// containers are the containers with other resources: a merge patch replaces the whole list.
func (c Changes) containers(all []corev1.Container) ([]any, error) {
	var out []any
	for i := range all {
		one := all[i].DeepCopy()
		for name, quantity := range map[corev1.ResourceName]*resource.Quantity{corev1.ResourceCPU: c.CPU, corev1.ResourceMemory: c.Memory} {
			if quantity == nil {
				continue
			}
			one.Resources.Requests = with(one.Resources.Requests, name, *quantity)
			if _, limited := one.Resources.Limits[name]; limited {
				one.Resources.Limits = with(one.Resources.Limits, name, *quantity)
			}
		}
		data, err := json.Marshal(one)
		if err != nil {
			return nil, fmt.Errorf("encode container %s: %w", one.Name, err)
		}
		out = append(out, json.RawMessage(data))
	}
	return out, nil
}

func with(list corev1.ResourceList, name corev1.ResourceName, quantity resource.Quantity) corev1.ResourceList {
	out := maps.Clone(list)
	if out == nil {
		out = corev1.ResourceList{}
	}
	out[name] = quantity
	return out
}
