package commands

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

func TestListSaysEverythingWrongWithItsFlags(t *testing.T) {
	t.Parallel()
	o := &listOptions{names: []string{"etl"}, selector: "a=b", all: true, sortBy: "size", phases: []string{"Running", "Broken"}, output: "picture"}
	err := o.validate()
	assert.Equal(t, CodeRefused, exitCode(err))
	for _, part := range []string{"NAME... or -l", "leave out -A", "--sort-by=size", "--phase=Broken", "-o picture"} {
		require.ErrorContains(t, err, part)
	}
	assert.NotContains(t, err.Error(), "--phase=Running")
	assert.NoError(t, (&listOptions{sortBy: sortName, phases: []string{"failed"}, output: formatWide}).validate())
}

func TestRowsAreSorted(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	row := func(namespace, name string, age time.Duration, phase status.Phase) render.Row {
		return render.Row{
			Job:     &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(at.Add(-age))}},
			Verdict: status.Verdict{Phase: phase},
		}
	}
	for by, want := range map[string][]string{
		sortName:  {"a/x", "a/z", "b/y"},
		sortAge:   {"b/y", "a/x", "a/z"},
		sortPhase: {"a/z", "b/y", "a/x"},
	} {
		rows := []render.Row{
			row("a", "z", time.Hour, status.PhasePaused), row("b", "y", time.Second, status.PhaseRunning), row("a", "x", time.Hour, status.PhaseFailed),
		}
		sortRows(rows, by)
		var got []string
		for _, r := range rows {
			got = append(got, r.Job.Namespace+"/"+r.Job.Name)
		}
		assert.Equal(t, want, got, by)
	}
}

func TestSeveralErrorsGiveTheWorstCode(t *testing.T) {
	t.Parallel()
	gone := &codeError{Code: CodeGone, Err: assert.AnError}
	require.NoError(t, together(nil))
	assert.Equal(t, CodeGone, exitCode(together([]error{refuse("x"), gone})))
	assert.Equal(t, CodeGone, exitCode(together([]error{&codeError{Code: CodeTimeout, Err: assert.AnError}, gone})))
}
