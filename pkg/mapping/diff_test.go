package mapping_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

func TestDiffSpeaksInTheUsersPaths(t *testing.T) {
	t.Parallel()
	before := &v1beta2.Work{ObjectMeta: metav1.ObjectMeta{Name: "etl", Labels: map[string]string{"app.example.com/team": "a"}}}
	before.Spec.MaxRetries = new(int32(2))
	before.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "a:1", Command: []string{"run", "--fast"}}}
	after := before.DeepCopy()
	after.Labels = map[string]string{"app.example.com/team": "b"}
	after.Spec.MaxRetries = nil
	after.Spec.Parallelism = new(int32(3))
	after.Spec.Template.Spec.Containers[0].Image = "a:2"
	after.Spec.Template.Spec.Containers[0].Command = []string{"run"}
	after.Spec.Template.Spec.Containers = append(after.Spec.Template.Spec.Containers, corev1.Container{Name: "proxy"})
	run, err := mapping.ToJob(before, mapping.Injection{SubmitID: "1"})
	require.NoError(t, err)
	changes, err := mapping.Diff(run, after)
	require.NoError(t, err)
	var lines []string
	for _, c := range changes {
		lines = append(lines, c.String())
	}
	require.Equal(t, []string{
		`metadata.labels[app.example.com/team]: "a" -> "b"`,
		`spec.maxRetries: 2 -> (not set)`,
		`spec.parallelism: (not set) -> 3`,
		`spec.template.spec.containers[0].command: ["run","--fast"] -> ["run"]`,
		`spec.template.spec.containers[0].image: "a:1" -> "a:2"`,
		`spec.template.spec.containers[1]: (not set) -> {"name":"proxy"}`,
	}, lines)
	same, err := mapping.Diff(run, before)
	require.NoError(t, err)
	require.Empty(t, same)
}

func TestOnlyIndexes(t *testing.T) {
	t.Parallel()
	w := &v1beta2.Work{}
	w.Spec.Completions, w.Spec.Parallelism = new(int32(100)), new(int32(10))
	w.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main"}}
	require.NoError(t, mapping.OnlyIndexes(w, []int{3, 10, 17}))
	require.EqualValues(t, 3, *w.Spec.Completions)
	require.EqualValues(t, 3, *w.Spec.Parallelism)
	require.Equal(t, []corev1.EnvVar{{Name: mapping.EnvIndexMap, Value: "3,10,17"}}, w.Spec.Template.Spec.Containers[0].Env)
	require.Error(t, mapping.OnlyIndexes(w, make([]int, 100_000)))
}
