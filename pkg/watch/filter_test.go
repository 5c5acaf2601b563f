package watch_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// made is a Job that was created so long before noon.
func made(name string, ago time.Duration, edits ...func(*batchv1.Job)) *batchv1.Job {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: types.UID(name), Namespace: "data", CreationTimestamp: metav1.NewTime(noon.Add(-ago)), Labels: map[string]string{},
	}}
	for _, edit := range edits {
		edit(job)
	}
	return job
}

func runOf(name string, number int) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Labels[work.LabelWork], j.Labels[work.LabelRun] = name, strconv.Itoa(number)
	}
}

func byCronJob(j *batchv1.Job) {
	j.OwnerReferences = []metav1.OwnerReference{{Kind: "CronJob", Name: "nightly", UID: "c", Controller: new(true)}}
}

// over ends a Job so long before noon.
func over(condition batchv1.JobConditionType, ago time.Duration) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
			Type: condition, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon.Add(-ago)),
		})
	}
}

func TestFilter(t *testing.T) {
	t.Parallel()
	const hour, day = time.Hour, 24 * time.Hour
	succeeded, failed := over(batchv1.JobComplete, 2*hour), over(batchv1.JobFailed, 3*hour)
	all := []*batchv1.Job{
		made("ok", day, succeeded),
		made("bad", day, failed),
		made("decided", day, over(batchv1.JobFailureTarget, 3*hour)),
		made("goes-on", 5*hour),
		made("new", time.Minute),
	}
	runs := []*batchv1.Job{
		made("etl", 9*hour, runOf("etl", 1), succeeded),
		made("etl-r10", 8*hour, runOf("etl", 10), failed),
		made("etl-r9", 7*hour, runOf("etl", 9), succeeded),
		made("load", 6*hour, runOf("load", 1), succeeded),
		made("clone-of-etl", time.Minute, runOf("etl", 99), succeeded),
		made("nightly-1", 3*hour, byCronJob, succeeded),
		made("nightly-2", 2*hour, byCronJob, succeeded),
		made("nightly-3", 1*hour, byCronJob),
	}
	for _, test := range []struct {
		because string
		filter  watch.Filter
		runs    []*batchv1.Job
		want    []string
	}{
		{"nothing is asked", watch.Filter{}, all, []string{"ok", "bad", "decided", "goes-on", "new"}},
		{"a decision is not yet an end", watch.Filter{Finished: true}, all, []string{"ok", "bad"}},
		{"an outcome counts from when it is decided", watch.Filter{Outcome: status.OutcomeFailed}, all, []string{"bad", "decided"}},
		{"both", watch.Filter{Finished: true, Outcome: status.OutcomeFailed}, all, []string{"bad"}},
		{"the age of a finished run is that of its end, of others that of the Job", watch.Filter{OlderThan: 4 * hour}, all, []string{"decided", "goes-on"}},
		{"exactly so old is not older", watch.Filter{Finished: true, OlderThan: 3 * hour}, all, nil},
		{"all must hold", watch.Filter{Finished: true, OlderThan: 150 * time.Minute}, all, []string{"bad"}},
		{"by number, not by age or name; others stand for themselves", watch.Filter{Keep: new(1)}, runs, []string{"etl", "etl-r9", "nightly-1", "nightly-2"}},
		{"only those that the others leave are counted", watch.Filter{Keep: new(1), Outcome: status.OutcomeSucceeded}, runs, []string{"etl", "nightly-1"}},
		{"none is kept", watch.Filter{Keep: new(0)}, runs[:2], []string{"etl", "etl-r10"}},
		{"more are kept than there are", watch.Filter{Keep: new(9)}, runs, nil},
	} {
		t.Run(test.because, func(t *testing.T) {
			t.Parallel()
			pass, left := test.filter.Split(test.runs, noon)
			var names []string
			for _, run := range pass {
				names = append(names, run.Name)
			}
			assert.Equal(t, test.want, names)
			assert.Len(t, left, len(test.runs)-len(pass))
			for _, l := range left {
				assert.NotEmpty(t, l.Why, l.Run.Name)
			}
		})
	}
}

func TestFilterSaysWhatItLeaves(t *testing.T) {
	t.Parallel()
	for want, test := range map[string]struct {
		filter watch.Filter
		run    *batchv1.Job
	}{
		"it is Pending, not finished":          {watch.Filter{Finished: true}, made("a", time.Hour)},
		"it is Succeeded, not failed":          {watch.Filter{Outcome: status.OutcomeFailed}, made("a", time.Hour, over(batchv1.JobComplete, time.Minute))},
		"it ended 5m ago":                      {watch.Filter{OlderThan: time.Hour}, made("a", 2*time.Hour, over(batchv1.JobComplete, 5*time.Minute))},
		"it was created 0s ago":                {watch.Filter{OlderThan: time.Hour}, made("a", -time.Minute)},
		"it is among the newest 2 of its Work": {watch.Filter{Keep: new(2)}, made("a", time.Hour)},
	} {
		_, left := test.filter.Split([]*batchv1.Job{test.run}, noon)
		assert.Equal(t, []watch.Left{{Run: test.run, Why: want}}, left)
	}
	all := watch.Filter{Finished: true, Outcome: status.OutcomeFailed, OlderThan: 7 * 24 * time.Hour, Keep: new(3)}
	assert.Equal(t, "finished and failed and older than 7d and beyond the newest 3 of its Work", all.String())
	assert.True(t, all.Given())
	assert.False(t, watch.Filter{}.Given())
}
