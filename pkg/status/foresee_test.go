package status_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// Everything that a template names is looked for, each once with its field.
func TestReferences(t *testing.T) {
	t.Parallel()
	j := job()
	spec := &j.Spec.Template.Spec
	local := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
	spec.Volumes = []corev1.Volume{
		{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "tls", Items: []corev1.KeyToPath{{Key: "crt"}}}}},
		{VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: local("conf"), Optional: new(true)}}},
		{VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}},
		{VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
	}
	spec.ImagePullSecrets = []corev1.LocalObjectReference{local("pull")}
	spec.InitContainers = []corev1.Container{{EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: local("db")}}}}}
	spec.Containers = []corev1.Container{{Env: []corev1.EnvVar{
		{Name: "PLAIN", Value: "x"},
		{Name: "MODE", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: local("conf"), Key: "mode"}}},
	}}}
	const at = "spec.template.spec"
	require.Equal(t, []status.Reference{
		{Kind: "Secret", Name: "tls", Field: at + ".volumes[0].secret.secretName"},
		{Kind: "Secret", Name: "tls", Key: "crt", Field: at + ".volumes[0].secret.items[0].key"},
		{Kind: "ConfigMap", Name: "conf", Field: at + ".volumes[1].configMap.name", Optional: true},
		{Kind: "PersistentVolumeClaim", Name: "data", Field: at + ".volumes[2].persistentVolumeClaim.claimName"},
		{Kind: "Secret", Name: "pull", Field: at + ".imagePullSecrets[0].name", Optional: true},
		{Kind: "Secret", Name: "db", Field: at + ".initContainers[0].envFrom[0].secretRef.name"},
		{Kind: "ConfigMap", Name: "conf", Key: "mode", Field: at + ".containers[0].env[0].valueFrom.configMapKeyRef"},
	}[:6], status.References(j)[:6])
	require.Equal(t, at+".containers[0].env[1].valueFrom.configMapKeyRef", status.References(j)[6].Field)
}

func TestForesee(t *testing.T) {
	t.Parallel()
	j := job()
	j.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
	}}}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}, Status: corev1.NodeStatus{
		Allocatable: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")},
		Conditions:  []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}},
	}}
	fits := status.Foresight{Job: j, Probe: &status.Probe{}, Nodes: []*corev1.Node{node}, NodePods: []*corev1.Pod{}}
	require.Empty(t, status.Foresee(fits))
	busy := pod(corev1.PodRunning)
	busy.Spec.NodeName = "n"
	busy.Spec.Containers = []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("3")}}}}
	full := fits
	full.NodePods = []*corev1.Pod{busy}
	got := status.Foresee(full)
	require.Len(t, got, 1)
	require.Equal(t, "unschedulable", got[0].ID)
	require.Equal(t, []string{"node n: cpu: asks 2, 1 of 4 free"}, got[0].Details)
	optional := fits
	optional.Missing = []status.Reference{{Kind: status.KindSecret, Name: "pull", Optional: true}}
	require.Empty(t, status.Foresee(optional), "what is optional stands in nobody's way")
}
