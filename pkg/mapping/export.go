package mapping

import (
	"maps"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// generatedLabels are set by the API server on a Job and its template from the Job's own uid and name.
func generatedLabels() []string {
	return []string{"controller-uid", "job-name", batchv1.ControllerUidLabel, batchv1.JobNameLabel}
}

// trackingAnnotation marks Jobs of old servers whose Pods are counted by finalizers.
const trackingAnnotation = "batch.kubernetes.io/job-tracking"

// ToWork gives the document that a Job was submitted from; of a Job that somebody else made, a Work whose mapping gives
// that Job. The result can be submitted again as it is.
func ToWork(job *batchv1.Job) (*v1beta2.Work, error) {
	if Ours(job) {
		w, newer, err := DecodeSpec(job)
		if newer {
			return nil, ErrNewer
		}
		if err == nil {
			w.TypeMeta = metav1.TypeMeta{APIVersion: v1beta2.GroupVersion.String(), Kind: v1beta2.Kind}
			return w, nil
		}
		if job.Annotations[work.AnnotationSpec] != "" {
			return nil, err
		}
	}
	return fromForeign(job), nil
}

// fromForeign is the Work of a Job that somebody else made.
func fromForeign(job *batchv1.Job) *v1beta2.Work {
	clean := Clean(job)
	w := &v1beta2.Work{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1beta2.GroupVersion.String(), Kind: v1beta2.Kind},
		ObjectMeta: clean.ObjectMeta,
		Spec:       v1beta2.WorkSpec{JobSpec: clean.Spec},
	}
	moveTTL(w)
	return w
}

// moveTTL writes the time to live of a Job where a Work has it.
func moveTTL(w *v1beta2.Work) {
	if ttl := w.Spec.TTLSecondsAfterFinished; ttl != nil {
		w.Spec.CleanupPolicy = &v1beta2.CleanupPolicy{TTLSecondsAfterFinished: ttl}
		w.Spec.TTLSecondsAfterFinished = nil
	}
}

// AsWork is the Work that a document says; of a plain Job, in the words of a Work.
func AsWork(d *Document) *v1beta2.Work {
	w := d.Work.DeepCopy()
	if d.Imported {
		moveTTL(w)
	}
	return w
}

// AsJob is the Job that a document becomes, for who creates it without us: without our labels and our record of the Work.
func AsJob(w *v1beta2.Work) (*batchv1.Job, error) {
	job, err := ToJob(w, Injection{Run: 1})
	if err != nil {
		return nil, err
	}
	out := Clean(job)
	out.Finalizers, out.OwnerReferences = job.Finalizers, job.OwnerReferences
	if out.Name == "" {
		out.GenerateName = w.GenerateName
	}
	return out, nil
}

// Clean returns a copy of a Job without what a server or we added to it: it can be created again under another name.
func Clean(job *batchv1.Job) *batchv1.Job {
	out := &batchv1.Job{
		TypeMeta: metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job"},
		ObjectMeta: metav1.ObjectMeta{
			Name: job.Name, Namespace: job.Namespace, GenerateName: job.GenerateName,
			Labels: withoutOwnKeys(job.Labels), Annotations: withoutOwnKeys(job.Annotations),
		},
		Spec: *job.Spec.DeepCopy(),
	}
	if out.Name != "" {
		out.GenerateName = ""
	}
	drop(out.Labels, generatedLabels()...)
	drop(out.Annotations, trackingAnnotation, work.AnnotationLastApplied)
	out.Spec.Template.Labels = withoutOwnKeys(out.Spec.Template.Labels)
	if out.Spec.ManualSelector == nil || !*out.Spec.ManualSelector {
		out.Spec.Selector = nil
		out.Spec.ManualSelector = nil
		drop(out.Spec.Template.Labels, generatedLabels()...)
	}
	out.Labels, out.Annotations = orNil(out.Labels), orNil(out.Annotations)
	out.Spec.Template.Labels = orNil(out.Spec.Template.Labels)
	out.Spec.Template.CreationTimestamp = metav1.Time{}
	return out
}

func withoutOwnKeys(m map[string]string) map[string]string {
	out := maps.Clone(m)
	maps.DeleteFunc(out, func(key, _ string) bool { return strings.HasPrefix(key, work.Group+"/") })
	return out
}

func drop(m map[string]string, keys ...string) {
	for _, key := range keys {
		delete(m, key)
	}
}

func orNil(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}
