package mapping

import (
	"encoding/json"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1alpha1"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// filler makes random documents that JSON can carry.
func filler(seed int64) *randfill.Filler {
	return randfill.New().RandSource(rand.NewSource(seed)).NilChance(0.6).NumElements(1, 2).MaxDepth(8).Funcs( //nolint:gosec // a test
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewQuantity(int64(c.Intn(1000)), resource.DecimalSI)
		},
		func(t *metav1.Time, c randfill.Continue) { *t = metav1.Unix(int64(c.Intn(1<<30)), 0) },
		func(i *intstr.IntOrString, c randfill.Continue) { *i = intstr.FromInt32(int32(c.Intn(100))) },
		func(f *metav1.FieldsV1, _ randfill.Continue) { f.SetRawString("{}") },
		func(m *metav1.ObjectMeta, c randfill.Continue) {
			m.Name = "w" + c.String(4)
			m.Labels, m.Annotations = map[string]string{"a": c.String(3)}, map[string]string{"b": c.String(3)}
		},
		func(a *v1alpha1.WorkSpec, c randfill.Continue) {
			c.FillNoCustom(a)
			a.RetryFactor = []string{"", "1", "1.5", "2"}[c.Intn(4)]
			if a.RetryStrategy != nil { // beside these it is refused
				a.MaxRetries, a.PodFailurePolicy = nil, nil
			}
		},
		func(w *v1beta2.WorkSpec, c randfill.Continue) {
			c.FillNoCustom(w)
			w.RetryFactor = []string{"", "1", "1.5", "2"}[c.Intn(4)]
		},
	)
}

// through is a document as it is after being written and read again.
func through[T any](t *testing.T, in *T) *T {
	t.Helper()
	data, err := json.Marshal(in)
	require.NoError(t, err)
	out := new(T)
	require.NoError(t, json.Unmarshal(data, out))
	return out
}

func text(t *testing.T, v any) string {
	t.Helper()
	data, err := Manifest(v)
	require.NoError(t, err)
	return string(data)
}

// Nothing is lost, in either direction, for any document: also one that went there and back before, and so carries
// what the other version could not say.
func TestConversionIsLossless(t *testing.T) {
	t.Parallel()
	const documents = 5_000 // in each direction
	f := filler(1)
	for range documents {
		hub := &v1beta2.Work{}
		f.Fill(hub)
		hub.APIVersion, hub.Kind = v1beta2.GroupVersion.String(), v1beta2.Kind
		hub = through(t, hub)
		alpha, _, err := ToV1alpha1(hub)
		require.NoError(t, err)
		again, ignored, err := FromV1alpha1(through(t, alpha))
		require.NoError(t, err)
		require.False(t, ignored)
		require.Equal(t, text(t, hub), text(t, again))
		twice, _, err := ToV1alpha1(through(t, again))
		require.NoError(t, err)
		require.Equal(t, text(t, alpha), text(t, twice))
	}
	for range documents {
		alpha := &v1alpha1.Work{}
		f.Fill(alpha)
		alpha.APIVersion, alpha.Kind = v1alpha1.GroupVersion.String(), v1beta2.Kind
		alpha = through(t, alpha)
		hub, _, err := FromV1alpha1(alpha)
		require.NoError(t, err)
		again, ignored, err := ToV1alpha1(through(t, hub))
		require.NoError(t, err)
		require.False(t, ignored)
		require.Equal(t, text(t, alpha), text(t, again))
	}
}

func alphaWork(change func(*v1alpha1.WorkSpec)) *v1alpha1.Work {
	w := &v1alpha1.Work{ObjectMeta: metav1.ObjectMeta{Name: "etl"}}
	w.APIVersion, w.Kind = v1alpha1.GroupVersion.String(), v1beta2.Kind
	w.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "a:1"}}
	change(&w.Spec)
	return w
}

// What the old version says means the same in the new one.
func TestWhatV1alpha1Means(t *testing.T) {
	t.Parallel()
	hub, _, err := FromV1alpha1(alphaWork(func(s *v1alpha1.WorkSpec) {
		s.RetryStrategy = &v1alpha1.RetryStrategy{Limit: new(int32(3)), OnExitCodes: []int32{75, 3, 75}}
		s.Priority, s.TTLSecondsAfterFinished = new(int32(7)), new(int32(60))
	}))
	require.NoError(t, err)
	require.EqualValues(t, 3, *hub.Spec.MaxRetries)
	require.Equal(t, "1", hub.Spec.RetryFactor, "nothing was added in v1alpha1")
	require.EqualValues(t, 7, *hub.Spec.SchedulingPolicy.Priority)
	require.EqualValues(t, 60, *hub.Spec.CleanupPolicy.TTLSecondsAfterFinished)
	rule := hub.Spec.PodFailurePolicy.Rules[0]
	require.Equal(t, batchv1.PodFailurePolicyActionFailJob, rule.Action)
	require.Equal(t, batchv1.PodFailurePolicyOnExitCodesOpNotIn, rule.OnExitCodes.Operator)
	require.Equal(t, []int32{3, 75}, rule.OnExitCodes.Values)
	job, err := ToJob(hub, Injection{SubmitID: "1"})
	require.NoError(t, err)
	require.EqualValues(t, 3, *job.Spec.BackoffLimit)
	require.NotContains(t, job.Annotations, work.AnnotationConverted, "what rides along is the document's, not the Job's")
}

// An edited document is what it says: what rode along is ignored, and that is told.
func TestAnEditedDocumentWins(t *testing.T) {
	t.Parallel()
	hub := &v1beta2.Work{ObjectMeta: metav1.ObjectMeta{Name: "etl"}}
	hub.Spec.SchedulingPolicy = &v1beta2.SchedulingPolicy{QueueName: "team-a"}
	alpha, _, err := ToV1alpha1(hub)
	require.NoError(t, err)
	require.Contains(t, alpha.Annotations, work.AnnotationConverted)
	alpha.Spec.Parallelism = new(int32(2))
	again, ignored, err := FromV1alpha1(alpha)
	require.NoError(t, err)
	require.True(t, ignored)
	require.Nil(t, again.Spec.SchedulingPolicy)
	require.EqualValues(t, 2, *again.Spec.Parallelism)
}

// Problems of a v1alpha1 document are told in its own paths.
func TestProblemsOfV1alpha1(t *testing.T) {
	t.Parallel()
	_, problems := Read("old.yaml", []byte(`apiVersion: kubectl-work.dev/v1alpha1
kind: Work
metadata: {name: etl}
spec:
  maxRetries: 1
  ttlSecondsAfterFinished: -1
  retryStrategy:
    limit: -2
    onExitCodes: [0, 3]
  schedulingPolicy: {}
  template:
    spec:
      restartPolicy: OnFailure
      containers: [{name: main, image: a}]
`), DecodeOptions{})
	var lines []string
	for _, p := range problems {
		lines = append(lines, p.String())
	}
	all := strings.Join(lines, "\n")
	for _, want := range []string{
		"old.yaml:6:28: spec.ttlSecondsAfterFinished: -1 is negative", "old.yaml:8:12: spec.retryStrategy.limit: -2 is negative",
		"spec.retryStrategy: retryStrategy and spec.maxRetries (line 5) both say when to retry",
		"spec.retryStrategy.onExitCodes: exit codes are looked at only with restartPolicy Never", "0 is success",
		"old.yaml:10:3: spec.schedulingPolicy: unknown field",
	} {
		require.Contains(t, all, want)
	}
}
