package commands

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/cluster"
)

func TestDeleteSaysEverythingWrongWithItsFlags(t *testing.T) {
	t.Parallel()
	sound := func() *deleteOptions { return &deleteOptions{all: true, cascade: cascadeBackground, dryRun: "none"} }
	require.NoError(t, sound().validate())

	o := sound()
	o.names, o.cascade, o.timeout, o.dryRun, o.output = []string{"etl"}, "true", -time.Second, "maybe", formatJSON
	err := o.validate()
	assert.Equal(t, CodeRefused, exitCode(err))
	for _, part := range []string{"in one way", "--cascade=true", "--timeout -1s", "--dry-run=maybe", "-o json"} {
		require.ErrorContains(t, err, part)
	}
	nothing := sound()
	nothing.all = false
	require.ErrorContains(t, nothing.validate(), "in one way", "nothing said must never mean everything")

	nothing.narrow = narrowFlags{finished: true}
	require.NoError(t, nothing.validate(), "a filter says what")
	nothing.narrow = narrowFlags{failed: true, succeeded: true, older: -1, keep: -1, counts: true}
	for _, part := range []string{"--finished is both", "--older-than -1ns", "--keep -1"} {
		require.ErrorContains(t, nothing.validate(), part)
	}
}

// Where nobody can be asked, a selection is not deleted on a guess.
func TestASelectionIsNotDeletedUnasked(t *testing.T) {
	t.Parallel()
	c := &cluster.Client{Namespace: "data"}
	jobs := []*batchv1.Job{{}, {}}
	for _, o := range []*deleteOptions{{all: true, dryRun: "none"}, {selector: "a=b", dryRun: "none"}, {narrow: narrowFlags{finished: true}, dryRun: "none"}} {
		o.app = &app{Env: Env{In: strings.NewReader("y\n"), Err: io.Discard}}
		err := o.agreed(t.Context(), c, jobs)
		assert.Equal(t, CodeRefused, exitCode(err))
		require.ErrorContains(t, err, "2 Jobs in namespace data")
		o.yes = true
		assert.NoError(t, o.agreed(t.Context(), c, jobs))
		o.yes, o.dryRun = false, "client"
		assert.NoError(t, o.agreed(t.Context(), c, jobs))
	}
	assert.NoError(t, (&deleteOptions{names: []string{"etl"}, dryRun: "none"}).agreed(t.Context(), c, jobs))
}

func TestConfirmTakesOnlyYes(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]bool{"y\n": true, "YES\n": true, "n\n": false, "\n": false, "": false, "yesterday\n": false} {
		var asked bytes.Buffer
		got, err := (&app{Env: Env{In: strings.NewReader(answer), Err: &asked}}).confirm(t.Context(), "Delete?")
		require.NoError(t, err)
		assert.Equal(t, want, got, "%q", answer)
		assert.Equal(t, "Delete? [y/N] ", asked.String())
	}
	silent, writer := io.Pipe()
	t.Cleanup(func() { _ = writer.Close() })
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(assert.AnError)
	_, err := (&app{Env: Env{In: silent, Err: io.Discard}}).confirm(ctx, "Delete?")
	assert.ErrorIs(t, err, assert.AnError)
}

func TestTheQuestionNamesWhatGoes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	var jobs []*batchv1.Job
	for i := range 22 {
		jobs = append(jobs, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("etl-r%d", i+1), CreationTimestamp: metav1.NewTime(at.Add(-72 * time.Hour))}})
	}
	jobs[0].Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue}}
	jobs[1].Status.Active = 3
	text := deletionText(jobs, "data", cascadeBackground, at)
	assert.True(t, strings.HasPrefix(text, "This deletes 22 Jobs in namespace data, with their Pods:\n  etl-r1 (Succeeded, age 3d)\n  etl-r2 (Initializing, age 3d, 3 Pods active)\n"), text)
	assert.True(t, strings.HasSuffix(text, "  etl-r20 (Pending, age 3d)\n  and 2 more\n"), text)
	assert.Contains(t, deletionText(jobs[:1], "data", cascadeOrphan, at), "1 Job in namespace data, but not their Pods")
}

// The end of the time names what is left; another end of the context stays what it is.
func TestATimeoutOfADeletionNamesWhatIsLeft(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	deleted := metav1.NewTime(at.Add(-time.Minute))
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "etl", Namespace: "data", DeletionTimestamp: &deleted, Finalizers: []string{"a/b"}}}
	left := []cluster.Remains{{Was: job, Job: job}}
	ended := func(err error) context.Context {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(err)
		return ctx
	}
	err := (&deleteOptions{}).still(ended(errTimeout), left, at)
	assert.Equal(t, CodeTimeout, exitCode(err))
	require.ErrorContains(t, err, "job/etl held by finalizer a/b for 60s")
	require.ErrorContains(t, err, "\n  kubectl patch job etl -n data ")

	err = (&deleteOptions{}).still(ended(assert.AnError), left, at)
	assert.Equal(t, assert.AnError, err)
}
