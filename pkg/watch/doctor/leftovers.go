package doctor

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// findAnchors: one that is young may be that of a run which is about to be made, and one that remembers runs is no leftover.
func findAnchors(v view) []Trouble {
	var found []Trouble
	for _, config := range v.Anchors {
		used := slices.ContainsFunc(v.Jobs, func(job *batchv1.Job) bool {
			return job.Namespace == config.Namespace && (watch.Owns(config.UID, job) || job.Labels[work.LabelWork] == config.Labels[work.LabelAnchor])
		})
		if used || !watch.IsAnchor(config) || config.DeletionTimestamp != nil || !v.old(config.CreationTimestamp.Time, settled) {
			continue
		}
		name := strings.TrimPrefix(config.Name, watch.AnchorPrefix)
		if memory, err := mapping.ParseMemory(config.Data[mapping.MemoryKey]); err == nil && len(memory) > 0 {
			continue // history and retry have a use for it; delete NAME removes it
		}
		found = append(found, Trouble{
			Namespace: config.Namespace, Object: "configmap/" + config.Name,
			Finding: status.Finding{
				Severity: status.SeverityInfo, Reason: "AnchorUnused", Message: fmt.Sprintf("it anchors the runs of Work %s, and there are none", name),
				Evidence: []status.Evidence{{Object: "configmap/" + config.Name, Path: fmt.Sprintf(".metadata.labels[%q]", work.LabelAnchor), Value: config.Labels[work.LabelAnchor]}},
				Next:     "it stays until somebody removes it",
				Advice:   []status.Advice{fixes(config.Namespace, "removes it; the next run with an anchor makes it anew")},
			},
			Fix: RemoveAnchor{Anchor: watch.Anchor{Namespace: config.Namespace, Work: name, Tenant: config.Labels[work.LabelTenant]}},
		})
	}
	return found
}

// findSlots: as long as a Pod of the group goes on its Lease keeps others from starting beside it.
func findSlots(v view) []Trouble {
	var found []Trouble
	if v.PodsHidden {
		return nil
	}
	for _, lease := range v.Leases {
		slot := watch.Slot{Namespace: lease.Namespace, Tenant: lease.Labels[work.LabelTenant], Group: lease.Labels[work.LabelGroup]}
		has := func(object metav1.Object) bool {
			labels := object.GetLabels()
			return object.GetNamespace() == slot.Namespace && labels[work.LabelGroup] == slot.Group && labels[work.LabelTenant] == slot.Tenant
		}
		if lease.Name != slot.Lease() || lease.DeletionTimestamp != nil || !v.old(lease.CreationTimestamp.Time, settled) ||
			slices.ContainsFunc(v.Jobs, func(job *batchv1.Job) bool { return has(job) }) ||
			slices.ContainsFunc(v.Pods, func(pod *corev1.Pod) bool { return has(pod) && !status.Terminal(pod) }) {
			continue
		}
		found = append(found, Trouble{
			Namespace: lease.Namespace, Object: "lease/" + lease.Name,
			Finding: status.Finding{
				Severity: status.SeverityInfo, Reason: "SlotUnused", Message: fmt.Sprintf("the runs of group %s took turns with it, and there are none", slot.Group),
				Evidence: []status.Evidence{{Object: "lease/" + lease.Name, Path: fmt.Sprintf(".metadata.labels[%q]", work.LabelGroup), Value: slot.Group}},
				Next:     "it stays until somebody removes it, or runs of the group come again",
				Advice:   []status.Advice{fixes(lease.Namespace, "removes it; the next run of the group makes it anew")},
			},
			Fix: RemoveSlot{Lease: lease},
		})
	}
	return found
}

// findFinalizers: a client that looks takes ours off at once.
func findFinalizers(v view) []Trouble {
	var found []Trouble
	for _, job := range v.Jobs {
		verdict := v.verdicts[job.UID]
		if !slices.Contains(job.Finalizers, work.FinalizerCleanup) {
			continue
		}
		f := status.Finding{
			Evidence: []status.Evidence{{Object: "job/" + job.Name, Path: ".metadata.finalizers", Value: strings.Join(job.Finalizers, ", ")}},
			Next:     "kubectl work watch takes it off, while it runs",
			Advice:   []status.Advice{fixes(job.Namespace, "takes the finalizer off")},
		}
		switch {
		case job.DeletionTimestamp != nil:
			f.Severity, f.Reason, f.Since = status.SeverityError, "FinalizerHolds", job.DeletionTimestamp.Time
			f.Message = fmt.Sprintf("it is being deleted, and our finalizer %s holds it", work.FinalizerCleanup)
		case verdict.Phase.Finished():
			f.Severity, f.Reason, f.Since = status.SeverityWarning, "FinalizerLeft", verdict.Since
			f.Message = fmt.Sprintf("it is %s, and our finalizer %s would hold it when it is deleted", verdict.Phase, work.FinalizerCleanup)
		default:
			continue
		}
		if !v.old(f.Since, settled) {
			continue
		}
		t := aboutJob(job, f)
		t.Fix = DropFinalizer{Job: job}
		found = append(found, t)
	}
	return found
}

// findOverridden takes up what the judge says; the holds of a restored copy are not ours to drop.
func findOverridden(v view) []Trouble {
	var found []Trouble
	for _, job := range v.Jobs {
		for _, f := range v.verdicts[job.UID].Findings {
			if f.ID != "holds-overridden" || watch.Restored(job) {
				continue
			}
			f.Next = "it goes on; its holds mean nothing, and confuse who reads them"
			f.Advice = []status.Advice{fixes(job.Namespace, "drops the holds; the run goes on as it does")}
			t := aboutJob(job, f)
			t.Fix = DropHolds{Job: job}
			found = append(found, t)
		}
	}
	return found
}

func findRestored(v view) []Trouble {
	var found []Trouble
	for _, job := range v.Jobs {
		for _, f := range v.verdicts[job.UID].Findings {
			if f.ID == "restored-copy" {
				f.Next = "no client moves it while it is held, and its records are those of another run"
				f.Advice = []status.Advice{
					inspect(job.Namespace, "kubectl work export "+job.Name, "its document, for a file"),
					changes(job.Namespace, "kubectl work submit --adopt -f FILE", "makes it a run of its own: labels and annotations only"),
				}
				found = append(found, aboutJob(job, f))
			}
		}
	}
	return found
}

// findStrays gathers the Pods of one Job: there may be many.
func findStrays(v view) []Trouble {
	type key struct{ namespace, job string }
	strays, order := map[key][]*corev1.Pod{}, []key{}
	for _, pod := range v.Pods {
		if metav1.GetControllerOf(pod) != nil || pod.DeletionTimestamp != nil {
			continue
		}
		k := key{pod.Namespace, pod.Labels[batchv1.JobNameLabel]}
		if strays[k] == nil {
			order = append(order, k)
		}
		strays[k] = append(strays[k], pod)
	}
	var found []Trouble
	for _, k := range order {
		found = append(found, straysOf(k.job, strays[k]))
	}
	return found
}

func straysOf(job string, pods []*corev1.Pod) Trouble {
	const shown = 10
	f := status.Finding{Severity: status.SeverityInfo, Reason: "StrayPods", Since: oldest(pods), Next: "nothing counts, restarts or removes them"}
	var names []string
	live := 0
	for _, pod := range pods {
		if !status.Terminal(pod) {
			live++
		}
		if names = append(names, pod.Name); len(names) <= shown {
			f.Details = append(f.Details, fmt.Sprintf("pod %s %s", pod.Name, pod.Status.Phase))
		}
	}
	if live > 0 {
		f.Severity = status.SeverityWarning
	}
	if more := len(pods) - shown; more > 0 {
		f.Details, names = append(f.Details, fmt.Sprintf("and %d more", more)), names[:shown]
	}
	f.Message = fmt.Sprintf("%d Pods of job/%s have no controller, %d of them go on", len(pods), job, live)
	if len(pods) == 1 {
		f.Message, f.Details = fmt.Sprintf("a Pod of job/%s without a controller; it is %s", job, pods[0].Status.Phase), nil
	}
	namespace := pods[0].Namespace
	f.Advice = []status.Advice{
		inspect(namespace, "kubectl logs "+names[0], "whether its output is still wanted"),
		changes(namespace, "kubectl delete pod "+strings.Join(names, " "), "removes them, and their output"),
	}
	return Trouble{Namespace: namespace, Object: "pod/" + names[0], Finding: f}
}

func oldest(pods []*corev1.Pod) time.Time {
	return slices.MinFunc(pods, func(a, b *corev1.Pod) int { return a.CreationTimestamp.Compare(b.CreationTimestamp.Time) }).CreationTimestamp.Time
}
