package watch

import (
	"encoding/json"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// AdoptPatch makes a Job a run of a Work: wanted is the Job that the document becomes. Only labels and annotations are
// written, never its template, so its Pods stay as they are. What is recorded of an earlier life is dropped.
func AdoptPatch(job, wanted *batchv1.Job) ([]byte, error) {
	labels := map[string]any{}
	for _, key := range []string{work.LabelWork, work.LabelRun, work.LabelTenant} {
		if value := wanted.Labels[key]; value != "" {
			labels[key] = value
		}
	}
	annotations := map[string]any{work.AnnotationStatus: nil, work.AnnotationHolds: nil, work.AnnotationUID: string(job.UID)}
	if isSuspended(job) {
		holds, err := work.ParseHolds(job.Annotations[work.AnnotationHolds])
		paused, is := holds.Find(work.HoldPaused)
		if err == nil && is {
			annotations[work.AnnotationHolds] = work.Holds{paused}.String()
		}
	}
	for _, key := range []string{work.AnnotationName, work.AnnotationSpec, work.AnnotationSpecHash, work.AnnotationSubmitID, work.AnnotationSubmittedBy} {
		if value := wanted.Annotations[key]; value != "" {
			annotations[key] = value
		}
	}
	return json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": job.UID, "resourceVersion": job.ResourceVersion, "labels": labels, "annotations": annotations,
	}})
}

// Restored tells whether a Job's annotations tell of another one: it was restored from a backup, or copied.
func Restored(run *batchv1.Job) bool {
	uid := run.Annotations[work.AnnotationUID]
	return uid != "" && uid != string(run.UID)
}
