package doctor_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
	"github.com/kubectl-work/kubectl-work/pkg/watch/doctor"
)

var noon = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(noon.Add(-d)) }

// job is an hour old; its uid is its name.
func job(name string, edits ...func(*batchv1.Job)) *batchv1.Job {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "data", UID: types.UID(name), CreationTimestamp: ago(time.Hour), Labels: map[string]string{}, Annotations: map[string]string{},
	}}
	for _, edit := range edits {
		edit(j)
	}
	return j
}

// etl makes a Job a run of Work etl.
func etl(number int) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Labels[work.LabelWork], j.Labels[work.LabelRun] = "etl", strconv.Itoa(number)
	}
}

func held(holds ...work.Hold) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Spec.Suspend = new(true)
		j.Annotations[work.AnnotationHolds] = work.Holds(holds).String()
	}
}

func waits(on work.Dependency) work.Hold {
	return work.Hold{Type: work.HoldWaiting, Since: ago(time.Hour), On: &on}
}

func pinned(name string) work.Dependency {
	return work.Dependency{Work: name, Job: name, UID: types.UID(name), Outcome: "Succeeded"}
}

func grouped(j *batchv1.Job) { j.Labels[work.LabelGroup] = "g" }

func inLine(policy string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		grouped(j)
		held(work.Hold{Type: work.HoldQueued, Group: "g", Policy: policy, Since: ago(time.Hour)})(j)
	}
}

func over(d time.Duration) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: corev1.ConditionTrue, LastTransitionTime: ago(d)}}
	}
}

func deleted(d time.Duration) func(*batchv1.Job) {
	return func(j *batchv1.Job) { j.DeletionTimestamp = new(ago(d)) }
}

func finalizer(j *batchv1.Job) { j.Finalizers = []string{"example.com/other", work.FinalizerCleanup} }

func restored(j *batchv1.Job) { j.Annotations[work.AnnotationUID] = "another" }

func ownedBy(kind, name, uid string) func(*batchv1.Job) {
	return func(j *batchv1.Job) {
		j.OwnerReferences = append(j.OwnerReferences, metav1.OwnerReference{APIVersion: "v1", Kind: kind, Name: name, UID: types.UID(uid)})
	}
}

func anchor(edits ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: watch.AnchorPrefix + "etl", Namespace: "data", UID: "anchor", CreationTimestamp: ago(time.Hour), Labels: map[string]string{work.LabelAnchor: "etl"},
	}}
	for _, edit := range edits {
		edit(c)
	}
	return c
}

func lease(holder string, edits ...func(*coordinationv1.Lease)) *coordinationv1.Lease {
	slot := watch.Slot{Namespace: "data", Group: "g"}
	l := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: slot.Lease(), Namespace: "data", CreationTimestamp: ago(time.Hour), Labels: map[string]string{work.LabelGroup: "g"}},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder},
	}
	for _, edit := range edits {
		edit(l)
	}
	return l
}

// pod is one of a Job, which controls it when controlled is set.
func pod(name, job string, phase corev1.PodPhase, controlled bool) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "data", CreationTimestamp: ago(time.Hour), Labels: map[string]string{batchv1.JobNameLabel: job, work.LabelGroup: "g"},
	}, Status: corev1.PodStatus{Phase: phase}}
	if controlled {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "Job", Name: job, UID: types.UID(job), Controller: new(true)}}
	}
	return p
}

type (
	jobs    = []*batchv1.Job
	pods    = []*corev1.Pod
	anchors = []*corev1.ConfigMap
	leases  = []*coordinationv1.Lease
)

// check compares what is found, in short: severity, object, reason and what --fix does.
func check(t *testing.T, s doctor.Survey, want []string) {
	t.Helper()
	if s.At.IsZero() {
		s.At = noon
	}
	var got []string
	for _, found := range doctor.Examine(s) {
		line := fmt.Sprintf("%s %s %s", found.Severity, found.Object, found.Reason)
		if found.Fix != nil {
			line += ": " + found.Fix.Does()
		}
		got = append(got, line)
		assert.NotEmpty(t, found.ID)
		assert.NotEmpty(t, found.Message)
		assert.NotEmpty(t, found.Advice, "what to do")
	}
	assert.Equal(t, want, got)
}

func TestLeftovers(t *testing.T) {
	t.Parallel()
	young := func(c *corev1.ConfigMap) { c.CreationTimestamp = ago(5 * time.Second) }
	for _, test := range []struct {
		because string
		survey  doctor.Survey
		want    []string
	}{
		{"nothing is there", doctor.Survey{}, nil},
		{"an anchor without runs", doctor.Survey{Anchors: anchors{anchor()}}, []string{"info configmap/kubectl-work-anchor-etl AnchorUnused: removed"}},
		{"an anchor that remembers runs", doctor.Survey{Anchors: anchors{anchor(func(c *corev1.ConfigMap) { c.Data = map[string]string{"runs.json": `[{"metadata":{"name":"etl"}}]`} })}}, nil},
		{"an anchor with a run that names another owner", doctor.Survey{Anchors: anchors{anchor()}, Jobs: jobs{job("etl", etl(1))}}, nil},
		{"an anchor that owns a clone", doctor.Survey{Anchors: anchors{anchor()}, Jobs: jobs{job("clone", ownedBy("ConfigMap", "x", "anchor"))}}, nil},
		{"a run in another namespace", doctor.Survey{Anchors: anchors{anchor()}, Jobs: jobs{job("etl", etl(1), func(j *batchv1.Job) { j.Namespace = "other" })}}, []string{"info configmap/kubectl-work-anchor-etl AnchorUnused: removed"}},
		{"an anchor whose run is about to be made", doctor.Survey{Anchors: anchors{anchor(young)}}, nil},
		{"an anchor on its way out", doctor.Survey{Anchors: anchors{anchor(func(c *corev1.ConfigMap) { c.DeletionTimestamp = new(ago(0)) })}}, nil},
		{"a ConfigMap of another name with our label", doctor.Survey{Anchors: anchors{anchor(func(c *corev1.ConfigMap) { c.Name = "mine" })}}, nil},

		{"a slot without runs", doctor.Survey{Leases: leases{lease("gone/gone")}}, []string{"info lease/" + lease("").Name + " SlotUnused: removed"}},
		{"a slot with a run that has ended", doctor.Survey{Leases: leases{lease("a/a")}, Jobs: jobs{job("a", grouped, over(time.Hour))}}, nil},
		{"a slot that still keeps others from a Pod", doctor.Survey{Leases: leases{lease("gone/gone")}, Pods: pods{pod("x", "gone", corev1.PodRunning, true)}}, nil},
		{"whether a Pod goes on is not known", doctor.Survey{Leases: leases{lease("gone/gone")}, PodsHidden: true}, nil},
		{"a Lease of another name", doctor.Survey{Leases: leases{lease("", func(l *coordinationv1.Lease) { l.Name = "theirs" })}}, nil},

		{"our finalizer on a run that goes on", doctor.Survey{Jobs: jobs{job("a", finalizer)}}, nil},
		{"on one that has ended", doctor.Survey{Jobs: jobs{job("a", finalizer, over(time.Minute))}}, []string{"warning job/a FinalizerLeft: finalizer kubectl-work.dev/cleanup taken off"}},
		{"on one that has just ended", doctor.Survey{Jobs: jobs{job("a", finalizer, over(time.Second))}}, nil},
		{"on one that is being deleted", doctor.Survey{Jobs: jobs{job("a", finalizer, deleted(time.Minute))}}, []string{"error job/a FinalizerHolds: finalizer kubectl-work.dev/cleanup taken off"}},

		{"holds that somebody overrode", doctor.Survey{Jobs: jobs{job("a", held(waits(pinned("b"))), func(j *batchv1.Job) { j.Spec.Suspend = new(false) })}}, []string{"warning job/a HoldsOverridden: holds dropped"}},
		{"holds of a copy are not ours to drop", doctor.Survey{Jobs: jobs{job("a", restored, held(waits(pinned("b"))), func(j *batchv1.Job) { j.Spec.Suspend = new(false) })}}, []string{"warning job/a RestoredCopy"}},

		{"a Pod that nobody controls", doctor.Survey{Pods: pods{pod("x", "a", corev1.PodRunning, false)}}, []string{"warning pod/x StrayPods"}},
		{"several, which have ended", doctor.Survey{Pods: pods{pod("x", "a", corev1.PodFailed, false), pod("y", "a", corev1.PodSucceeded, false)}}, []string{"info pod/x StrayPods"}},
		{"of two Jobs", doctor.Survey{Pods: pods{pod("x", "a", corev1.PodFailed, false), pod("y", "b", corev1.PodPending, false), pod("z", "b", corev1.PodPending, true)}}, []string{"warning pod/y StrayPods", "info pod/x StrayPods"}},
	} {
		t.Run(test.because, func(t *testing.T) {
			t.Parallel()
			check(t, test.survey, test.want)
		})
	}
}

func TestManyStraysAreOneFinding(t *testing.T) {
	t.Parallel()
	var s doctor.Survey
	for i := range 15 {
		s.Pods = append(s.Pods, pod(fmt.Sprintf("x%02d", i), "a", corev1.PodFailed, false))
	}
	found := doctor.Examine(s)
	assert.Len(t, found, 1)
	assert.Equal(t, "15 Pods of job/a have no controller, 0 of them go on", found[0].Message)
	assert.Len(t, found[0].Details, 11)
	assert.Equal(t, "and 5 more", found[0].Details[10])
}

func TestOwners(t *testing.T) {
	t.Parallel()
	owner := doctor.Owner{Namespace: "data", APIVersion: "v1", Kind: "ConfigMap", Name: "release"}
	run := job("a", ownedBy("ConfigMap", "release", "was"))
	for _, test := range []struct {
		because string
		owners  map[doctor.Owner]doctor.OwnerState
		jobs    jobs
		want    []string
	}{
		{"it was not looked at", nil, jobs{run}, nil},
		{"it is there", map[doctor.Owner]doctor.OwnerState{owner: {UID: "was"}}, jobs{run}, nil},
		{"it is gone", map[doctor.Owner]doctor.OwnerState{owner: {}}, jobs{run}, []string{"warning job/a OwnerGone"}},
		{"the garbage collector is at it", map[doctor.Owner]doctor.OwnerState{owner: {}}, jobs{job("a", ownedBy("ConfigMap", "release", "was"), deleted(0))}, nil},
		{"another one has its name", map[doctor.Owner]doctor.OwnerState{owner: {UID: "is"}}, jobs{run}, []string{"warning job/a OwnerReplaced"}},
		{"there is no such kind", map[doctor.Owner]doctor.OwnerState{owner: {Unknown: true}}, jobs{run}, []string{"warning job/a OwnerKindUnknown"}},
	} {
		t.Run(test.because, func(t *testing.T) {
			t.Parallel()
			check(t, doctor.Survey{Jobs: test.jobs, Owners: test.owners}, test.want)
		})
	}
}

func TestWhatTheCallerAndTheServerLack(t *testing.T) {
	t.Parallel()
	right := func(verb, resource string) cluster.Right { return cluster.Right{Verb: verb, Resource: resource} }
	check(t, doctor.Survey{
		Lacking: []cluster.Right{right("create", "jobs"), right("watch", "jobs"), right("list", "events"), {Verb: "get", Resource: "pods", Subresource: "log"}},
		Drift:   -3 * time.Second, Server: "v1.30.4-eks-1234",
	}, []string{"warning right/jobs RightMissing", "warning right/pods/log RightMissing", "warning server/clock ClockSkew", "warning server/version ServerOld", "info right/events RightMissing"})
	check(t, doctor.Survey{Lacking: []cluster.Right{right("list", "jobs")}}, []string{"error right/jobs RightMissing"})
	check(t, doctor.Survey{Drift: 2 * time.Second, Server: "v1.31.0"}, nil)
	check(t, doctor.Survey{Server: "no version"}, nil)

	found := doctor.Examine(doctor.Survey{Namespace: "data", Lacking: []cluster.Right{right("watch", "jobs"), right("patch", "jobs")}})
	assert.Equal(t, "no right to watch, patch jobs in namespace data", found[0].Message)
	assert.Len(t, found[0].Details, 2, "what each is for")
	assert.Equal(t, status.ConfidenceLow, doctor.Examine(doctor.Survey{Server: "v1.20.0"})[0].Confidence, "nobody has seen that")
}
