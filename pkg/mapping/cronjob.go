package mapping

import (
	"errors"
	"fmt"
	"maps"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// manual is what the annotation of a Job that was started by hand from a CronJob says.
const manual = "manual"

// FromCronJob gives the Work that a CronJob makes Jobs of, for one more: labels, annotations and spec of its template, and
// the mark of a start by hand, as in `kubectl create job --from`. Without a name each submit has one of its own, after the
// CronJob's.
func FromCronJob(c *batchv1.CronJob, name string) *v1beta2.Work {
	template := c.Spec.JobTemplate
	w := fromForeign(&batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: c.Namespace, Labels: template.Labels, Annotations: template.Annotations},
		Spec:       template.Spec,
	})
	if name == "" {
		w.GenerateName = c.Name + "-"
	}
	w.Annotations = merged(w.Annotations, map[string]string{work.AnnotationCronJobManual: manual})
	return w
}

// maxCronJobName is how long the name of a CronJob may be: the API keeps 11 characters for what its Jobs are named with.
const maxCronJobName = maxLabel - 11

// randomEnding is how many characters the API server puts behind a generateName.
const randomEnding = 5

// ToCronJob gives a CronJob that makes such Jobs. The labels are those of both; what a CronJob cannot give its Jobs is an
// error.
func ToCronJob(job *batchv1.Job, schedule string) (*batchv1.CronJob, error) {
	switch {
	case len(job.Name) > maxCronJobName, job.Name == "" && len(job.GenerateName)+randomEnding > maxCronJobName:
		return nil, fmt.Errorf("the name of a CronJob has at most %d characters, because the names of its Jobs begin with it", maxCronJobName)
	case len(job.Finalizers) > 0, len(job.OwnerReferences) > 0:
		return nil, errors.New("metadata.finalizers and metadata.ownerReferences: a CronJob gives its Jobs labels and annotations only")
	case job.Spec.ManualSelector != nil && *job.Spec.ManualSelector:
		return nil, errors.New("spec.manualSelector: the Jobs of a CronJob cannot share a selector; the server makes one for each")
	}
	c := &batchv1.CronJob{
		TypeMeta:   metav1.TypeMeta{APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "CronJob"},
		ObjectMeta: metav1.ObjectMeta{Name: job.Name, GenerateName: job.GenerateName, Namespace: job.Namespace, Labels: job.Labels},
		Spec: batchv1.CronJobSpec{Schedule: schedule, JobTemplate: batchv1.JobTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: job.Labels, Annotations: maps.Clone(job.Annotations)},
			Spec:       job.Spec,
		}},
	}
	drop(c.Spec.JobTemplate.Annotations, work.AnnotationCronJobManual, batchv1.CronJobScheduledTimestampAnnotation) // of one Job only
	return c, nil
}
