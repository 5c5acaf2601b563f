package watch

import (
	"encoding/json"
	"fmt"
	"maps"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// change is what one write changes of a Job. The zero value changes nothing but our record of the Job's uid, which tells a
// restored copy from the original.
type change struct {
	holds    *work.Holds // what holds it from now on
	suspend  *bool
	deadline *int64            // activeDeadlineSeconds
	status   *work.Status      // our record
	queue    string            // let Kueue's queue of this name see it
	inputs   map[string]string // for the containers, by environment variable
	spec     map[string]any    // other fields that may change while it is suspended
}

// patch is a merge patch. The resourceVersion guards it: whoever changed the Job meanwhile makes it a conflict.
func (c change) patch(job *batchv1.Job) []byte {
	annotations := map[string]any{work.AnnotationUID: string(job.UID)}
	metadata := map[string]any{"uid": job.UID, "resourceVersion": job.ResourceVersion, "annotations": annotations}
	spec := map[string]any{}
	maps.Copy(spec, c.spec)
	if c.holds != nil {
		annotations[work.AnnotationHolds] = nil
		if text := c.holds.String(); text != "" {
			annotations[work.AnnotationHolds] = text
		}
	}
	if c.status != nil {
		annotations[work.AnnotationStatus] = c.status.String()
	}
	if c.suspend != nil {
		spec["suspend"] = *c.suspend
	}
	if c.deadline != nil {
		spec["activeDeadlineSeconds"] = *c.deadline
	}
	if c.queue != "" {
		metadata["labels"] = map[string]any{work.LabelKueueQueue: c.queue}
	}
	if len(c.inputs) > 0 {
		values := map[string]any{}
		for name, value := range c.inputs {
			values[work.AnnotationInput+name] = value
		}
		spec["template"] = merged(spec["template"], map[string]any{"metadata": map[string]any{"annotations": values}})
	}
	body := map[string]any{"metadata": metadata}
	if len(spec) > 0 {
		body["spec"] = spec
	}
	patch, err := json.Marshal(body)
	if err != nil { // strings, numbers and booleans always marshal
		return nil
	}
	return patch
}

func merged(into any, from map[string]any) map[string]any {
	out, is := into.(map[string]any)
	if !is {
		out = map[string]any{}
	}
	maps.Copy(out, from)
	return out
}

// ended ends a Job for good and says why: a deadline of 0 makes the Job controller record Failed without starting another
// Pod. An unreadable status annotation is overwritten: it is a cache.
func ended(job *batchv1.Job, reason, message string, at time.Time) change {
	recorded, err := work.ParseStatus(job.Annotations[work.AnnotationStatus])
	if err != nil {
		recorded = work.Status{}
	}
	recorded = recorded.WithEnd(reason, message, at)
	return change{holds: &work.Holds{}, suspend: new(false), deadline: new(int64(0)), status: &recorded}
}

// released takes holds off a run. With none left it starts, or the queue of Kueue that it names decides from then on.
func released(job *batchv1.Job, left work.Holds) change {
	c := change{holds: &left}
	switch queue := withheldQueue(job); {
	case len(left) > 0:
	case queue != "":
		c.queue = queue
	default:
		c.suspend = new(false)
	}
	return c
}

// WithoutHolds is the patch that drops the holds of a run which somebody started past them; the run itself goes on as it does.
func WithoutHolds(run *batchv1.Job) []byte { return change{holds: &work.Holds{}}.patch(run) }

// remains says what happens to a run that released gave these holds, "" when it is still held.
func remains(c change) string {
	switch {
	case c.queue != "":
		return fmt.Sprintf("handed to queue %s, which decides when it starts", c.queue)
	case c.suspend != nil:
		return "released"
	}
	return ""
}
