package watch_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

func TestDecideDependency(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		want      string
		met       watch.Met
		satisfied bool
		reason    string
	}{
		{"Succeeded", watch.Met{}, false, ""},
		{"Succeeded", watch.Met{Ended: status.OutcomeSucceeded}, true, ""},
		{"Succeeded", watch.Met{Ended: status.OutcomeFailed}, false, work.ReasonDependencyFailed},
		{"Failed", watch.Met{Ended: status.OutcomeFailed}, true, ""},
		{"Failed", watch.Met{Ended: status.OutcomeSucceeded}, false, work.ReasonDependencyFailed},
		{"Finished", watch.Met{Ended: status.OutcomeFailed}, true, ""},
		{"Finished", watch.Met{Ended: status.OutcomeSucceeded}, true, ""},
		{"Finished", watch.Met{Gone: true}, false, work.ReasonDependencyLost},                                  // gone is not ended
		{"Succeeded", watch.Met{Gone: true, Ended: status.OutcomeSucceeded}, true, ""},                         // an event tells
		{"Finished", watch.Met{Ended: status.OutcomeSucceeded, Lack: "x"}, false, work.ReasonDependencyFailed}, // no input to start with
	} {
		satisfied, reason, _ := watch.DecideDependency(work.Dependency{Job: "d", Outcome: test.want}, test.met)
		require.Equal(t, test.satisfied, satisfied, test)
		require.Equal(t, test.reason, reason, test)
	}
}

func TestResolve(t *testing.T) {
	t.Parallel()
	run := func(n, name string, ended bool) batchv1.Job {
		job := batchv1.Job{}
		job.Name, job.UID = name, types.UID(name)
		job.Labels = map[string]string{work.LabelWork: "etl", work.LabelRun: n}
		if ended {
			job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: "True"}}
		}
		return job
	}
	both := []batchv1.Job{run("1", "etl", true), run("2", "etl-r2", false)}
	over := []batchv1.Job{run("1", "etl", true)}
	word := func(s string) *intstr.IntOrString { return new(intstr.Parse(s)) }
	for _, test := range []struct {
		because string
		run     *intstr.IntOrString
		runs    []batchv1.Job
		job     string
		after   int
		problem string
	}{
		{"the newest that goes on", nil, both, "etl-r2", 0, ""},
		{"all have ended", nil, over, "", 0, "all runs of Work etl have ended (the newest is job/etl)"},
		{"none is there", nil, nil, "", 0, "there are no runs of Work etl"},
		{"by number", word("1"), both, "etl", 0, ""},
		{"no such number", word("7"), both, "", 0, "there is no run 7 of Work etl; the newest is job/etl-r2"},
		{"the newest, ended or not", word("latest"), over, "etl", 0, ""},
		{"the next", word("next"), both, "", 2, ""},
		{"the first", word("next"), nil, "", 0, ""},
	} {
		w := &v1beta2.Work{}
		w.Spec.DependsOn = []v1beta2.Dependency{{Work: "etl", Run: test.run}}
		found, problems := watch.Resolve(w, &batchv1.Job{}, []*batchv1.Job{nil}, map[string][]batchv1.Job{"etl": test.runs}, false)
		if test.problem != "" {
			require.Len(t, problems, 1, test.because)
			require.ErrorContains(t, problems[0], test.problem, test.because)
			continue
		}
		require.Empty(t, problems, test.because)
		require.Equal(t, test.job, found[0].Job, test.because)
		require.Equal(t, test.after, found[0].After, test.because)
	}
}

// One write takes off what has come about, hands values on, and starts the run only when nothing is left.
func TestDecideHeld(t *testing.T) {
	t.Parallel()
	on := func(name string) work.Hold {
		return work.Hold{Type: work.HoldWaiting, On: &work.Dependency{Work: name, Job: name, UID: types.UID(name), Outcome: "Succeeded"}}
	}
	all := work.Holds{on("a"), on("b")}
	job := grouped("x", holds(all...))
	done, open := watch.Met{Ended: status.OutcomeSucceeded, Inputs: map[string]string{"ROWS": "4"}}, watch.Met{}

	c, what := watch.DecideHeld(job, all, watch.Known{Met: []watch.Met{open, open}}, time.Time{})
	require.Nil(t, c)
	require.Empty(t, what)

	patch, _ := watch.DecideHeld(job, all, watch.Known{Met: []watch.Met{done, open}}, time.Time{})
	require.Contains(t, string(patch), `\"job\":\"b\"`)
	require.NotContains(t, string(patch), `\"job\":\"a\"`)
	require.NotContains(t, string(patch), `"suspend"`)
	require.Contains(t, string(patch), `"template":{"metadata":{"annotations":{"kubectl-work.dev/input-ROWS":"4"}}}`)

	patch, what = watch.DecideHeld(job, all, watch.Known{Met: []watch.Met{done, done}}, time.Time{})
	require.Equal(t, "released", what)
	require.Contains(t, string(patch), `"suspend":false`)
	require.Contains(t, string(patch), `"kubectl-work.dev/holds":null`)

	patch, what = watch.DecideHeld(job, all, watch.Known{Met: []watch.Met{{Ended: status.OutcomeFailed}, open}}, time.Time{})
	require.Contains(t, what, "DependencyFailed: job/a ended Failed")
	require.Contains(t, string(patch), `"activeDeadlineSeconds":0`)
}
