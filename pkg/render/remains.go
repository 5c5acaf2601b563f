package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Holder is something that is still there although its Job was deleted.
type Holder struct {
	Text    string // job/etl held by finalizer example.com/keep for 3m
	Command string // lets exactly this one go, "" when the cluster itself will do so
	Why     string // when to use Command, and what it costs
}

// Why a command that lets something go is a last resort.
const (
	whyFinalizer = "A finalizer waits for the program that set it. If that is gone for good, this removes just the one (what it guards is then lost)"
	whyNode      = "A Pod ends when its node says so. If the node is surely off, this forgets the Pod (it may still be running there otherwise)"
)

// collector are the finalizers of the garbage collector, which removes them when it has done its part.
var collector = []string{metav1.FinalizerDeleteDependents, metav1.FinalizerOrphanDependents}

// overdue is how long a Pod may outlast its grace before its node is worth a word.
const overdue = 5 * time.Second

// Holders says what is left of a deleted Job, and what holds it. job is nil when it is gone.
func Holders(job *batchv1.Job, pods []*corev1.Pod, at time.Time) []Holder {
	var holders []Holder
	if job != nil {
		holders = append(holders, holderOf("job", &job.ObjectMeta, "not being deleted", at))
	}
	for _, pod := range pods {
		idle := "not being deleted yet"
		if pod.Status.Phase != "" {
			idle = string(pod.Status.Phase) + ", " + idle
		}
		h := holderOf("pod", &pod.ObjectMeta, idle, at)
		if pod.DeletionTimestamp != nil && pod.Spec.NodeName != "" {
			h.Text += " on node " + Line(pod.Spec.NodeName)
			if late := at.Sub(pod.DeletionTimestamp.Time); late > overdue && len(pod.Finalizers) == 0 {
				h.Text += ", which has not confirmed it"
				h.Command, h.Why = fmt.Sprintf("kubectl delete pod %s -n %s --force", pod.Name, pod.Namespace), whyNode
			}
		}
		if pod.DeletionTimestamp != nil && len(pod.Finalizers) > 0 {
			h.Text += ", its Job " + there(job)
		}
		holders = append(holders, h)
	}
	return holders
}

func there(job *batchv1.Job) string {
	if job == nil {
		return "is gone"
	}
	return "is still there"
}

func holderOf(kind string, meta *metav1.ObjectMeta, idle string, at time.Time) Holder {
	name := kind + "/" + Line(meta.Name)
	if meta.DeletionTimestamp == nil {
		return Holder{Text: name + " " + idle}
	}
	// the stamp of a graceful deletion is when the grace is over
	if left := meta.DeletionTimestamp.Sub(at); left > 0 && len(meta.Finalizers) == 0 {
		return Holder{Text: fmt.Sprintf("%s is ending, for at most %s more", name, left.Round(time.Second))}
	}
	since := Age(meta.DeletionTimestamp.Time, at)
	if len(meta.Finalizers) == 0 {
		return Holder{Text: fmt.Sprintf("%s should have ended %s ago", name, since)}
	}
	h := Holder{Text: fmt.Sprintf("%s held by finalizer %s for %s", name, Line(strings.Join(meta.Finalizers, ", ")), since)}
	if slices.Contains(meta.Finalizers, metav1.FinalizerDeleteDependents) {
		h.Text += " (foreground: what it owns goes first)"
	}
	for i, finalizer := range meta.Finalizers {
		if !slices.Contains(collector, finalizer) {
			h.Command, h.Why = removeFinalizer(kind, meta, i), whyFinalizer
			break
		}
	}
	return h
}

// removeFinalizer is a command that fails when the finalizer is not the one it was.
func removeFinalizer(kind string, meta *metav1.ObjectMeta, i int) string {
	return fmt.Sprintf(`kubectl patch %s %s -n %s --type=json -p '[{"op":"test","path":"/metadata/finalizers/%d","value":%q},{"op":"remove","path":"/metadata/finalizers/%d"}]'`,
		kind, meta.Name, meta.Namespace, i, meta.Finalizers[i], i)
}
