package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/clientcmd"
)

// A Job that somebody else wrote, exported as a Work and submitted again, is the same Job to the API server: for every
// manifest of the cases that it accepts, read from what the server answers, and from a Job on the cluster.
func TestJobsComeBackTheSame(t *testing.T) {
	s, err := newSuite(t.Context(), t.TempDir())
	require.NoError(t, err)
	r := &roundTrip{suite: s, kubeconfig: filepath.Join(t.TempDir(), "config")}
	r.namespace, err = s.createNamespace(t.Context(), "round-trip")
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
		defer cancel()
		assert.NoError(t, s.client.CoreV1().Namespaces().Delete(ctx, r.namespace, metav1.DeleteOptions{}))
	})
	config := s.kubeconfig.DeepCopy()
	config.Contexts[config.CurrentContext].Namespace = r.namespace
	require.NoError(t, clientcmd.WriteToFile(*config, r.kubeconfig))

	files, err := filepath.Glob("../../pkg/mapping/testdata/cases/*.yaml")
	require.NoError(t, err)
	accepted := 0
	for _, file := range files {
		for _, job := range jobsIn(t, file) {
			want, err := r.dryRun(t.Context(), job)
			if err != nil {
				continue // what the server refuses is no Job
			}
			accepted++
			t.Run(filepath.Base(file)+"/"+want.GetName(), func(t *testing.T) {
				r.fromAnswer(t, want)
				r.fromCluster(t, job)
			})
		}
	}
	require.Greater(t, accepted, 40)
}

type roundTrip struct {
	*suite
	namespace, kubeconfig string
}

// jobsIn are the Jobs of a file, as they are written.
func jobsIn(t *testing.T, file string) []*unstructured.Unstructured {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	var jobs []*unstructured.Unstructured
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 1<<20); ; {
		var object map[string]any
		err := decoder.Decode(&object)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				t.Logf("%s: %v", file, err) // some cases are no YAML
			}
			return jobs
		}
		objects := []any{object}
		if items, ok := object["items"].([]any); ok {
			objects = items
		}
		for _, o := range objects {
			if job, ok := o.(map[string]any); ok && job["kind"] == "Job" {
				delete(job, "status")
				jobs = append(jobs, &unstructured.Unstructured{Object: job})
			}
		}
	}
}

// dryRun is what the API server makes of a Job.
func (r *roundTrip) dryRun(ctx context.Context, job *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return r.create(ctx, job, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict, DryRun: []string{metav1.DryRunAll}})
}

func (r *roundTrip) create(ctx context.Context, job *unstructured.Unstructured, o metav1.CreateOptions) (*unstructured.Unstructured, error) {
	job = job.DeepCopy()
	job.SetNamespace(r.namespace)
	job.SetResourceVersion("")
	return r.dynamic.Resource(batchv1.SchemeGroupVersion.WithResource("jobs")).Namespace(r.namespace).Create(ctx, job, o)
}

// fromAnswer exports the file that `kubectl get -o json` would have given.
func (r *roundTrip) fromAnswer(t *testing.T, want *unstructured.Unstructured) {
	t.Helper()
	answer, err := want.MarshalJSON()
	require.NoError(t, err)
	r.same(t, want, r.run(t, answer, "export", "-f", "-"))
}

// fromCluster exports a suspended Job.
func (r *roundTrip) fromCluster(t *testing.T, job *unstructured.Unstructured) {
	t.Helper()
	job = job.DeepCopy()
	require.NoError(t, unstructured.SetNestedField(job.Object, true, "spec", "suspend"))
	made, err := r.create(t.Context(), job, metav1.CreateOptions{})
	require.NoError(t, err)
	exported := r.run(t, nil, "export", made.GetName())
	background := metav1.DeletePropagationBackground
	require.NoError(t, r.client.BatchV1().Jobs(r.namespace).Delete(t.Context(), made.GetName(), metav1.DeleteOptions{PropagationPolicy: &background}))
	r.same(t, made, exported)
}

// same holds the Job that a Work becomes against the Job that it was made from.
func (r *roundTrip) same(t *testing.T, want *unstructured.Unstructured, work []byte) {
	t.Helper()
	require.Contains(t, string(work), "kind: Work")
	got := &unstructured.Unstructured{}
	require.NoError(t, got.UnmarshalJSON(r.run(t, work, "submit", "-f", "-", "--dry-run=server", "-o", "json")))
	assert.Equal(t, said(want), said(got), string(work))
}

func (r *roundTrip) run(t *testing.T, stdin []byte, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(r.bin, "kubectl-work"), args...)
	cmd.Env = []string{"KUBECONFIG=" + r.kubeconfig, "HOME=" + t.TempDir()}
	cmd.Stdin = bytes.NewReader(stdin)
	out, err := output(cmd)
	require.NoError(t, err, strings.Join(args, " "))
	return []byte(out)
}

// said is what a person said with a Job, without what ties it to its name, its uid and us.
func said(job *unstructured.Unstructured) map[string]any {
	job = job.DeepCopy()
	generated := []string{"controller-uid", "job-name", batchv1.ControllerUidLabel, batchv1.JobNameLabel, "kubectl.kubernetes.io/last-applied-configuration"}
	out := map[string]any{"finalizers": job.GetFinalizers()}
	for name, path := range map[string][]string{
		"labels": {"metadata", "labels"}, "annotations": {"metadata", "annotations"},
		"podLabels": {"spec", "template", "metadata", "labels"}, "podAnnotations": {"spec", "template", "metadata", "annotations"},
	} {
		kept, _, _ := unstructured.NestedStringMap(job.Object, path...) // none is fine
		maps.DeleteFunc(kept, func(key, _ string) bool {
			return slices.Contains(generated, key) || strings.HasPrefix(key, "kubectl-work.dev/")
		})
		out[name] = fmt.Sprint(kept)
	}
	spec, _, _ := unstructured.NestedMap(job.Object, "spec") // a Job has one
	if manual, _, _ := unstructured.NestedBool(spec, "manualSelector"); !manual {
		delete(spec, "selector")
		delete(spec, "manualSelector")
	}
	unstructured.RemoveNestedField(spec, "template", "metadata")
	out["spec"] = spec
	return out
}
