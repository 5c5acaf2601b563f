package doctor_test

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/watch/doctor"
)

// What waits for what may still come is no trouble; what could have gone on for a while, or never will, is.
func TestHeldRuns(t *testing.T) {
	t.Parallel()
	paused := func(until time.Duration) work.Hold {
		return work.Hold{Type: work.HoldPaused, Since: ago(time.Hour), Until: &work.Until{After: new(metav1.NewTime(noon.Add(until)))}}
	}
	forbid, replace := inLine("Forbid"), inLine("Replace")
	next := work.Dependency{Work: "etl", Outcome: "Succeeded", After: 1}
	created := func(d time.Duration) func(*batchv1.Job) {
		return func(j *batchv1.Job) { j.CreationTimestamp = ago(d) }
	}
	for _, test := range []struct {
		because string
		survey  doctor.Survey
		want    []string
	}{
		{"a pause without an end", doctor.Survey{Jobs: jobs{job("a", held(work.Hold{Type: work.HoldPaused}))}}, nil},
		{"a pause that goes on", doctor.Survey{Jobs: jobs{job("a", held(paused(time.Minute)))}}, nil},
		{"a pause that is just over", doctor.Survey{Jobs: jobs{job("a", held(paused(-30*time.Second)))}}, nil},
		{"a pause that is over", doctor.Survey{Jobs: jobs{job("a", held(paused(-2*time.Minute)))}}, []string{"error job/a NobodyMoves"}},

		{"what it waits for goes on", doctor.Survey{Jobs: jobs{job("a", held(waits(pinned("b")))), job("b")}}, nil},
		{"it has just ended", doctor.Survey{Jobs: jobs{job("a", held(waits(pinned("b")))), job("b", over(30*time.Second))}}, nil},
		{"it ended a while ago", doctor.Survey{Jobs: jobs{job("a", held(waits(pinned("b")))), job("b", over(2*time.Minute))}}, []string{"error job/a NobodyMoves"}},
		{"it is gone", doctor.Survey{Jobs: jobs{job("a", held(waits(pinned("b"))))}}, []string{"error job/a DependencyGone"}},
		{"one of two is gone", doctor.Survey{Jobs: jobs{job("a", held(waits(pinned("b")), waits(pinned("c")))), job("c", over(2*time.Minute))}}, []string{"error job/a DependencyGone"}},
		{"a paused one whose dependency is gone", doctor.Survey{Jobs: jobs{job("a", held(work.Hold{Type: work.HoldPaused}, waits(pinned("b"))))}}, []string{"error job/a DependencyGone"}},
		{"a copy tells of another life", doctor.Survey{Jobs: jobs{job("a", restored, held(waits(pinned("b"))))}}, []string{"warning job/a RestoredCopy"}},

		{"the next run is not there yet", doctor.Survey{Jobs: jobs{job("a", held(waits(next))), job("etl", etl(1))}}, nil},
		{"the next run has just come", doctor.Survey{Jobs: jobs{job("a", held(waits(next))), job("etl-r2", etl(2), created(time.Second))}}, nil},
		{"the next run is there", doctor.Survey{Jobs: jobs{job("a", held(waits(next))), job("etl-r3", etl(3)), job("etl-r2", etl(2))}}, []string{"error job/a NobodyMoves"}},
		{"one of another tenant does not count", doctor.Survey{Jobs: jobs{job("a", held(waits(next))), job("etl-r2", etl(2), func(j *batchv1.Job) { j.Labels[work.LabelTenant] = "b" })}}, nil},

		{"a circle of two", doctor.Survey{Jobs: jobs{job("b", held(waits(pinned("a")))), job("a", held(waits(pinned("b"))))}}, []string{"error job/a DependencyCircle"}},
		{"a circle of three and one that waits for it", doctor.Survey{Jobs: jobs{
			job("d", held(waits(pinned("c")))), job("c", held(waits(pinned("a")))), job("a", held(waits(pinned("b")))), job("b", held(waits(pinned("c")))),
		}}, []string{"error job/a DependencyCircle"}},

		{"holds that cannot be read", doctor.Survey{Jobs: jobs{job("a", func(j *batchv1.Job) {
			j.Spec.Suspend, j.Annotations[work.AnnotationHolds] = new(true), "{"
		})}}, []string{"error job/a HoldsUnreadable"}},

		{"the holder goes on", doctor.Survey{Jobs: jobs{job("a", grouped), job("b", forbid)}, Leases: leases{lease("a/a")}}, nil},
		{"the holder ended a while ago", doctor.Survey{Jobs: jobs{job("a", grouped, over(2*time.Minute)), job("b", forbid)}, Leases: leases{lease("a/a")}}, []string{"error job/b NobodyMoves"}},
		{"the holder has just ended", doctor.Survey{Jobs: jobs{job("a", grouped, over(time.Second)), job("b", forbid)}, Leases: leases{lease("a/a")}}, nil},
		{"the holder is gone", doctor.Survey{Jobs: jobs{job("b", forbid)}, Leases: leases{lease("a/a")}}, []string{"error job/b NobodyMoves"}},
		{"a Pod of the holder goes on", doctor.Survey{Jobs: jobs{job("b", forbid)}, Leases: leases{lease("a/a")}, Pods: pods{pod("x", "a", corev1.PodRunning, true)}}, nil},
		{"whether a Pod goes on is not known", doctor.Survey{Jobs: jobs{job("b", forbid)}, Leases: leases{lease("a/a")}, PodsHidden: true}, nil},
		{"whose Pod goes on is not known", doctor.Survey{Jobs: jobs{job("b", forbid)}, LeasesHidden: true, Pods: pods{pod("x", "a", corev1.PodRunning, true)}}, nil},
		{"only the first of a line", doctor.Survey{Jobs: jobs{job("b", forbid), job("c", forbid)}, LeasesHidden: true}, []string{"error job/b NobodyMoves"}},
		{"the turn was taken, and the run not released", doctor.Survey{Jobs: jobs{job("b", forbid)}, Leases: leases{lease("b/b")}}, []string{"error job/b NobodyMoves"}},
		{"it came a moment ago", doctor.Survey{At: noon.Add(-59*time.Minute - 30*time.Second), Jobs: jobs{job("b", forbid)}}, nil},
		{"nobody stops the older run", doctor.Survey{Jobs: jobs{job("a", grouped, created(2*time.Hour)), job("b", replace)}, Leases: leases{lease("a/a")}}, []string{"error job/b NobodyMoves"}},
	} {
		t.Run(test.because, func(t *testing.T) {
			t.Parallel()
			check(t, test.survey, test.want)
		})
	}
}
