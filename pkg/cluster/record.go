package cluster

import (
	"context"
	"sync/atomic"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/uuid"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
)

// Recorder writes Events about Jobs, in the background: repeated ones are counted, and too many are dropped. Without the
// right to make events it does nothing.
type Recorder struct {
	broadcaster record.EventBroadcaster
	recorder    record.EventRecorder
	pending     atomic.Int64 // events that no request was made for yet
}

// Recorder starts one; it ends with ctx.
func (c *Client) Recorder(ctx context.Context) (*Recorder, error) {
	scheme := runtime.NewScheme()
	if err := batchv1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	r := &Recorder{broadcaster: broadcaster, recorder: broadcaster.NewRecorder(scheme, corev1.EventSource{Component: manager})}
	broadcaster.StartRecordingToSink(&countingSink{EventSink: &corev1client.EventSinkImpl{Interface: c.core.Events("")}, r: r})
	return r, nil
}

// countingSink notes which events a request was made for.
type countingSink struct {
	record.EventSink
	r *Recorder
}

// Create implements record.EventSink.
func (s *countingSink) Create(event *corev1.Event) (*corev1.Event, error) {
	defer s.r.pending.Add(-1)
	return s.EventSink.Create(event)
}

// Patch implements record.EventSink: one more of an event that is there.
func (s *countingSink) Patch(old *corev1.Event, patch []byte) (*corev1.Event, error) {
	defer s.r.pending.Add(-1)
	return s.EventSink.Patch(old, patch)
}

// Event tells of something that was done about a Job. kind is Normal or Warning.
func (r *Recorder) Event(job *batchv1.Job, kind, reason, message string) {
	r.pending.Add(1)
	r.recorder.Event(job, kind, reason, message)
}

// closeTime bounds how long Close waits for events that are on their way.
const closeTime = time.Second

// Close takes no more events, and gives those that were told a moment to arrive.
func (r *Recorder) Close(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	for r.pending.Load() > 0 && sleep(ctx, closeTime/50) { //nolint:mnd // short
	}
	r.broadcaster.Shutdown()
}

// RecordOnce writes one Event about a Job, for a command that ends right after it: who did what, and why. It is a trace beside
// the annotations; that it could not be written changes nothing.
func (c *Client) RecordOnce(ctx context.Context, job *batchv1.Job, reason, message string) {
	now := metav1.NewTime(c.Now())
	event := &corev1.Event{
		ObjectMeta: metav1.ObjectMeta{Name: job.Name + "." + string(uuid.NewUUID())[:13], Namespace: job.Namespace},
		InvolvedObject: corev1.ObjectReference{
			APIVersion: batchv1.SchemeGroupVersion.String(), Kind: "Job", Namespace: job.Namespace, Name: job.Name, UID: job.UID, ResourceVersion: job.ResourceVersion,
		},
		Reason: reason, Message: message, Type: corev1.EventTypeNormal, Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source: corev1.EventSource{Component: manager}, ReportingController: manager,
	}
	ctx, cancel := context.WithTimeout(ctx, closeTime)
	defer cancel()
	_, _ = c.core.Events(job.Namespace).Create(ctx, event, metav1.CreateOptions{FieldManager: manager})
}
