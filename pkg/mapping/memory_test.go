package mapping_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
)

func endedRun(number int, spec string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("etl-r%d", number), UID: types.UID(fmt.Sprintf("u%d", number)),
			Labels:      map[string]string{work.LabelWork: "etl", work.LabelRun: fmt.Sprint(number), "other": "label"},
			Annotations: map[string]string{work.AnnotationSpec: spec},
		},
		Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: "True"}}},
	}
}

func TestMemoryKeepsTheNewestRuns(t *testing.T) {
	t.Parallel()
	var m mapping.Memory
	for n := 1; n <= 7; n++ {
		text, err := m.With(endedRun(n, "{}"), 3)
		require.NoError(t, err)
		m, err = mapping.ParseMemory(text)
		require.NoError(t, err)
	}
	require.Len(t, m, 3)
	require.Equal(t, "etl-r5", m[0].Name)
	require.True(t, m.Has(endedRun(7, "")))
	require.False(t, m.Has(endedRun(4, "")))
	require.NotContains(t, m[0].Labels, "other")
	text, err := m.With(endedRun(8, "{}"), 0)
	require.NoError(t, err)
	require.Equal(t, "[]", text)
}

func TestMemoryFitsIntoAConfigMap(t *testing.T) {
	t.Parallel()
	var m mapping.Memory
	for n := 1; n <= 5; n++ {
		text, err := m.With(endedRun(n, strings.Repeat("x", 200<<10)), 5)
		require.NoError(t, err)
		require.LessOrEqual(t, len(text), 512<<10)
		m, err = mapping.ParseMemory(text)
		require.NoError(t, err)
	}
	require.Len(t, m, 2)
	_, err := mapping.ParseMemory("{")
	require.Error(t, err)
}
