// Package redact takes credentials out of text and objects before they are shown or stored: in messages of events, in what
// tasks serve about themselves, in recordings.
//
// It is pure and knows patterns, not meanings: what looks like a credential goes, what does not stays. It never touches
// the output that logs prints.
package redact

import (
	"regexp"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// Mark stands for what was taken out.
const Mark = "[redacted]"

type pattern struct {
	text *regexp.Regexp
	with string
}

// patterns are compiled when the first text comes: most calls have none.
var patterns = sync.OnceValue(func() []pattern {
	compile := func(text, with string) pattern { return pattern{regexp.MustCompile(text), with} }
	return []pattern{
		compile(`([a-zA-Z][a-zA-Z0-9+.-]*://)[^/\s:@]*:[^/\s@]+@`, "${1}"+Mark+"@"),                             // https://user:password@host
		compile(`(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,}`, "${1} "+Mark),                                     // Authorization headers
		compile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?`, Mark),                            // JSON Web Tokens
		compile(`\bA(?:KIA|SIA)[0-9A-Z]{16}\b`, Mark),                                                           // AWS access keys
		compile(`\b(?:gh[pousr]_[A-Za-z0-9]{20,}|glpat-[A-Za-z0-9_-]{16,}|xox[abprs]-[A-Za-z0-9-]{10,})`, Mark), // GitHub, GitLab, Slack
		compile(`(?i)((?:password|passwd|pwd|secret|token|api[-_]?key|access[-_]?key|credentials?)["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&]+)`, "${1}"+Mark),
		compile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`, Mark),
	}
})

// Text takes credentials out of one text.
func Text(text string) string {
	for _, p := range patterns() {
		text = p.text.ReplaceAllString(text, p.with)
	}
	return text
}

// Events takes credentials out of the messages of events, in place.
func Events(events []corev1.Event) {
	for i := range events {
		events[i].Message = Text(events[i].Message)
	}
}

// Job returns a copy of a Job without what must not leave the cluster: values of environment variables, documents that
// repeat the spec, credentials in commands.
func Job(job *batchv1.Job) *batchv1.Job {
	job = job.DeepCopy()
	annotations(job.Annotations)
	annotations(job.Spec.Template.Annotations)
	podSpec(&job.Spec.Template.Spec)
	return job
}

// Pod is Job for a Pod. What containers left as their termination message counts as output.
func Pod(pod *corev1.Pod) *corev1.Pod {
	pod = pod.DeepCopy()
	pod.ManagedFields = nil
	annotations(pod.Annotations)
	podSpec(&pod.Spec)
	for _, list := range [][]corev1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses} {
		for i := range list {
			for _, t := range []*corev1.ContainerStateTerminated{list[i].State.Terminated, list[i].LastTerminationState.Terminated} {
				if t != nil {
					t.Message = Text(t.Message)
				}
			}
		}
	}
	return pod
}

func annotations(all map[string]string) {
	for key, value := range all {
		if key == work.AnnotationLastApplied || key == work.AnnotationSpec {
			delete(all, key)
			continue
		}
		all[key] = Text(value)
	}
}

func podSpec(spec *corev1.PodSpec) {
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			container(&list[i].Env, list[i].Command, list[i].Args)
		}
	}
	for i := range spec.EphemeralContainers {
		c := &spec.EphemeralContainers[i]
		container(&c.Env, c.Command, c.Args)
	}
}

func container(env *[]corev1.EnvVar, words ...[]string) {
	for i := range *env {
		if (*env)[i].Value != "" {
			(*env)[i].Value = Mark
		}
	}
	for _, list := range words {
		for i := range list {
			list[i] = Text(list[i])
		}
	}
}
