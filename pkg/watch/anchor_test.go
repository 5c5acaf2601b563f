package watch_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

func TestAnAnchorStaysWhileARunOfItsWorkIsLeft(t *testing.T) {
	t.Parallel()
	config := func(edits ...func(*corev1.ConfigMap)) *corev1.ConfigMap {
		c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kubectl-work-anchor-etl", UID: "anchor", Labels: map[string]string{work.LabelAnchor: "etl"}}}
		for _, edit := range edits {
			edit(c)
		}
		return c
	}
	owned := func(j *batchv1.Job) {
		j.OwnerReferences = []metav1.OwnerReference{{Kind: "ConfigMap", Name: "kubectl-work-anchor-etl", UID: "anchor"}}
	}
	run := made("etl", time.Hour, runOf("etl", 1), owned)
	for _, test := range []struct {
		because string
		anchor  *corev1.ConfigMap
		jobs    []*batchv1.Job
		want    string
	}{
		{"no run is left", config(), nil, ""},
		{"those that go do not count", config(), []*batchv1.Job{made("gone", time.Hour, runOf("etl", 1))}, ""},
		{"another run is left, whoever owns it", config(), []*batchv1.Job{made("etl-r2", time.Hour, runOf("etl", 2))}, "job/etl-r2 is a run of the Work"},
		{"a clone is no run", config(), []*batchv1.Job{made("other", time.Hour, runOf("etl", 2))}, ""},
		{"a clone that it owns", config(), []*batchv1.Job{made("other", time.Hour, runOf("etl", 2), owned)}, "it owns job/other"},
		{"not ours", config(func(c *corev1.ConfigMap) { c.Labels = nil }), nil, "it is no anchor of ours (label kubectl-work.dev/anchor)"},
		{"not of this Work", config(func(c *corev1.ConfigMap) { c.Labels[work.LabelAnchor] = "load" }), nil, "it is no anchor of ours (label kubectl-work.dev/anchor)"},
		{"of another tenant", config(func(c *corev1.ConfigMap) { c.Labels[work.LabelTenant] = "b" }), nil, "it belongs to another tenant (b)"},
	} {
		t.Run(test.because, func(t *testing.T) {
			t.Parallel()
			var jobs []batchv1.Job
			for _, j := range test.jobs {
				jobs = append(jobs, *j)
			}
			assert.Equal(t, test.want, watch.AnchorOf(run).Decide(test.anchor, jobs, map[types.UID]bool{"gone": true}))
		})
	}
	assert.True(t, watch.Anchored(run))
	assert.False(t, watch.Anchored(made("etl", time.Hour, runOf("etl", 1))))
	assert.False(t, watch.Anchored(made("other", time.Hour, runOf("etl", 1), owned)), "a clone has no anchor of its own")
}
