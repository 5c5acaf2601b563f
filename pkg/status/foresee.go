package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Reference is an object that a Job's Pods need before they can start.
type Reference struct {
	Kind     string // Secret, ConfigMap, PersistentVolumeClaim
	Name     string
	Key      string // that must be in it, "" for none
	Field    string // of the Job: spec.template.spec.volumes[0]
	Optional bool   // its lack keeps nothing from starting
}

// The kinds of References.
const (
	KindSecret    = "Secret"
	KindConfigMap = "ConfigMap"
	KindClaim     = "PersistentVolumeClaim"
)

// References lists the objects that a Job's template names. Its service account and priority class are none of them: a dry
// run of the Pod tells about those.
func References(job *batchv1.Job) []Reference {
	spec := &job.Spec.Template.Spec
	const at = "spec.template.spec"
	var all []Reference
	add := func(kind, name, key, field string, optional *bool) {
		if name != "" {
			all = append(all, Reference{Kind: kind, Name: name, Key: key, Field: field, Optional: optional != nil && *optional})
		}
	}
	for i, volume := range spec.Volumes {
		field := fmt.Sprintf("%s.volumes[%d]", at, i)
		switch {
		case volume.Secret != nil:
			add(KindSecret, volume.Secret.SecretName, "", field+".secret.secretName", volume.Secret.Optional)
			for j, item := range volume.Secret.Items {
				add(KindSecret, volume.Secret.SecretName, item.Key, fmt.Sprintf("%s.secret.items[%d].key", field, j), volume.Secret.Optional)
			}
		case volume.ConfigMap != nil:
			add(KindConfigMap, volume.ConfigMap.Name, "", field+".configMap.name", volume.ConfigMap.Optional)
			for j, item := range volume.ConfigMap.Items {
				add(KindConfigMap, volume.ConfigMap.Name, item.Key, fmt.Sprintf("%s.configMap.items[%d].key", field, j), volume.ConfigMap.Optional)
			}
		case volume.PersistentVolumeClaim != nil:
			add(KindClaim, volume.PersistentVolumeClaim.ClaimName, "", field+".persistentVolumeClaim.claimName", nil)
		}
	}
	for i, secret := range spec.ImagePullSecrets {
		add(KindSecret, secret.Name, "", fmt.Sprintf("%s.imagePullSecrets[%d].name", at, i), new(true))
	}
	for i, c := range spec.InitContainers {
		all = append(all, environment(c, fmt.Sprintf("%s.initContainers[%d]", at, i))...)
	}
	for i, c := range spec.Containers {
		all = append(all, environment(c, fmt.Sprintf("%s.containers[%d]", at, i))...)
	}
	return all
}

func environment(c corev1.Container, field string) []Reference {
	var all []Reference
	for i, from := range c.EnvFrom {
		if s := from.SecretRef; s != nil {
			all = append(all, Reference{Kind: KindSecret, Name: s.Name, Field: fmt.Sprintf("%s.envFrom[%d].secretRef.name", field, i), Optional: s.Optional != nil && *s.Optional})
		}
		if m := from.ConfigMapRef; m != nil {
			all = append(all, Reference{Kind: KindConfigMap, Name: m.Name, Field: fmt.Sprintf("%s.envFrom[%d].configMapRef.name", field, i), Optional: m.Optional != nil && *m.Optional})
		}
	}
	for i, env := range c.Env {
		if env.ValueFrom == nil {
			continue
		}
		if s := env.ValueFrom.SecretKeyRef; s != nil {
			all = append(all, Reference{Kind: KindSecret, Name: s.Name, Key: s.Key, Field: fmt.Sprintf("%s.env[%d].valueFrom.secretKeyRef", field, i), Optional: s.Optional != nil && *s.Optional})
		}
		if m := env.ValueFrom.ConfigMapKeyRef; m != nil {
			all = append(all, Reference{Kind: KindConfigMap, Name: m.Name, Key: m.Key, Field: fmt.Sprintf("%s.env[%d].valueFrom.configMapKeyRef", field, i), Optional: m.Optional != nil && *m.Optional})
		}
	}
	return all
}

// Foresight is what was read to tell whether a Job would run if it were created now.
type Foresight struct {
	Job      *batchv1.Job // with the API server's defaults, as a dry run answers it
	Probe    *Probe       // of its Pod; nil when it was not asked
	Missing  []Reference  // that were looked for and are not there, or have not the key
	Nodes    []*corev1.Node
	NodePods []*corev1.Pod
	At       time.Time
}

// Foresee finds what would keep the Pods of a Job from starting, with the ids and reasons that a run would show. None means
// that nothing that was looked at stands in the way.
func Foresee(f Foresight) []Finding {
	var all []Finding
	add := func(rule string, finding Finding) {
		finding.ID = rule
		all = append(all, finding)
	}
	if f.Probe != nil && f.Probe.Refusal != "" {
		told := refusal(f.Probe.Refusal)
		told.Severity, told.Next = SeverityError, ""
		told.Evidence = []Evidence{{Object: "dry run of its Pod", Path: ".message", Value: f.Probe.Refusal}}
		told.Field = map[string]string{
			"ServiceAccountMissing": "spec.template.spec.serviceAccountName", "PriorityClassMissing": "spec.template.spec.priorityClassName",
		}[told.Reason]
		add("pods-refused", told)
	}
	for _, r := range f.Missing {
		if !r.Optional {
			add(missingRule(r), missing(r))
		}
	}
	if told, none := fitsNowhere(f); none {
		add("unschedulable", told)
	}
	return all
}

func missingRule(r Reference) string {
	switch {
	case r.Kind == KindClaim:
		return "volume-claim"
	case strings.Contains(r.Field, ".volumes["):
		return "volume"
	}
	return "config-missing"
}

// missing says what a Pod would wait for, in the words that a run would have.
func missing(r Reference) Finding {
	reasons := map[string]string{"volume-claim": "ClaimMissing", "volume": "FailedMount", "config-missing": "CreateContainerConfigError"}
	f := Finding{
		Severity: SeverityError, Class: ClassConfig, Reason: reasons[missingRule(r)], Field: r.Field,
		Message: fmt.Sprintf("%s %q does not exist", strings.ToLower(r.Kind), r.Name), Next: "its Pods wait for it",
	}
	if r.Kind == KindClaim {
		f.Message = fmt.Sprintf("volume claim %q does not exist", r.Name)
	}
	if r.Key != "" {
		f.Message = fmt.Sprintf("%s %q has no key %q, or does not exist", strings.ToLower(r.Kind), r.Name, r.Key)
	}
	return f
}

// fitsNowhere tells whether no node takes a Pod of the Job now, and what each lacks.
func fitsNowhere(f Foresight) (Finding, bool) {
	if len(f.Nodes) == 0 {
		return Finding{}, false
	}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: f.Job.Name}, Spec: f.Job.Spec.Template.Spec}
	v := view{Snapshot: Snapshot{Job: f.Job, Nodes: f.Nodes, NodePods: f.NodePods, At: f.At}}
	if slices.ContainsFunc(f.Nodes, func(node *corev1.Node) bool { return len(lacking(v, pod, node)) == 0 }) {
		return Finding{}, false
	}
	told := Finding{
		Severity: SeverityWarning, Class: ClassUnschedulable, Reason: corev1.PodReasonUnschedulable, Field: "spec.template.spec",
		Message: fmt.Sprintf("no node takes its Pods now (%d looked at)", len(f.Nodes)), Details: nodeLines(v, pod),
		Next: "they wait for a node that does; an autoscaler may add one",
	}
	if asked := requests(pod); asked != "" {
		told.Message += "; they ask for " + asked
	}
	return told, true
}
