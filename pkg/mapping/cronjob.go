package mapping

import (
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
