package mapping

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// Profile is what many Works share, kept in one place: it is added to the template of each that names it.
type Profile struct {
	Env          []corev1.EnvVar        `json:"env,omitempty"`          // of every container that does not set the variable itself
	EnvFrom      []corev1.EnvFromSource `json:"envFrom,omitempty"`      // of every container
	Volumes      []corev1.Volume        `json:"volumes,omitempty"`      // of the Pod
	VolumeMounts []corev1.VolumeMount   `json:"volumeMounts,omitempty"` // of every container that mounts nothing there itself
	Sidecars     []corev1.Container     `json:"sidecars,omitempty"`     // helpers beside the containers; they end with them
	Tolerations  []corev1.Toleration    `json:"tolerations,omitempty"`
	NodeSelector map[string]string      `json:"nodeSelector,omitempty"` // keys that the Pod does not set itself
}

// ProfilePrefix and the name of a profile are the name of the ConfigMap that holds it, under ProfileKey.
const (
	ProfilePrefix = "kubectl-work-profile-"
	ProfileKey    = "profile.yaml"
)

// ReadProfile reads a profile strictly; file is where it came from, for messages.
func ReadProfile(file string, data []byte) (*Profile, Problems) {
	d := &decoder{file: file, scalars: newScalars(), schema: &schema{fields: map[reflect.Type][]field{}}, number: 1}
	text, problem := clean(data)
	if problem != nil {
		problem.File = file
		return nil, Problems{*problem}
	}
	p := &Profile{}
	for _, c := range split(text) {
		nodes, err := parse(c.text)
		if err != nil {
			bad := syntaxProblem(c, err)
			d.report(bad.Line, bad.Column, "", bad.Message, bad.Fix)
		}
		for _, n := range nodes {
			if len(n.Content) == 0 || isNothing(n.Content[0]) {
				continue
			}
			converter := newConverter(d.report, d.scalars, c.line, c.column)
			v := converter.convert(n, nil, 0)
			if converter.refused {
				continue
			}
			(&checker{schema: d.schema, report: d.report}).check(v, reflect.TypeFor[Profile](), nil)
			var b bytes.Buffer
			v.encode(&b)
			if err := json.Unmarshal(b.Bytes(), p); err != nil && len(d.problems) == 0 {
				d.report(v.line, v.column, "", "this profile cannot be read: "+err.Error(), "")
			}
		}
	}
	if len(d.problems) > 0 {
		return nil, d.problems.sorted()
	}
	return p, nil
}

// apply adds a profile to a Job. What both name in different ways is an error: nobody could say which is meant.
func (p *Profile) apply(job *batchv1.Job, name string) error {
	if p == nil {
		return nil
	}
	spec := &job.Spec.Template.Spec
	for _, volume := range p.Volumes {
		i := slices.IndexFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == volume.Name })
		if i >= 0 && !reflect.DeepEqual(spec.Volumes[i], volume) {
			return fmt.Errorf("spec.profile: volume %s is in the template and, another one, in profile %s; rename one of them", volume.Name, name)
		}
		if i < 0 {
			spec.Volumes = append(spec.Volumes, volume)
		}
	}
	for _, containers := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range containers {
			p.applyTo(&containers[i])
		}
	}
	for _, sidecar := range p.Sidecars {
		taken := func(c corev1.Container) bool { return c.Name == sidecar.Name }
		if slices.ContainsFunc(spec.Containers, taken) || slices.ContainsFunc(spec.InitContainers, taken) {
			return fmt.Errorf("spec.profile: container %s is in the template and in profile %s; rename one of them", sidecar.Name, name)
		}
		always := corev1.ContainerRestartPolicyAlways
		sidecar.RestartPolicy = &always // a native sidecar: it never keeps the Job from ending
		spec.InitContainers = append([]corev1.Container{sidecar}, spec.InitContainers...)
	}
	spec.Tolerations = append(spec.Tolerations, p.Tolerations...)
	if len(p.NodeSelector) > 0 {
		spec.NodeSelector = merged(p.NodeSelector, spec.NodeSelector)
	}
	job.Annotations = merged(job.Annotations, map[string]string{work.AnnotationProfile: name})
	return nil
}

func (p *Profile) applyTo(c *corev1.Container) {
	for _, variable := range p.Env {
		addEnv(c, variable)
	}
	c.EnvFrom = append(slices.Clone(p.EnvFrom), c.EnvFrom...) // what stands later wins
	for _, mount := range p.VolumeMounts {
		if !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == mount.MountPath }) {
			c.VolumeMounts = append(c.VolumeMounts, mount)
		}
	}
}
