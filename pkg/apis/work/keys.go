// Package work holds what every version of the Work API shares: the group, the labels and annotations that make a
// Job the record of a Work, and the holds stored in one of them.
//
// It owns names and their stored forms. It never talks to a cluster and reads neither clock nor environment.
package work

// Group is the API group of Work. No server knows it: a Work is stored on a batch/v1 Job.
const Group = "kubectl-work.dev"

// FieldManager is the manager of every write of ours.
const FieldManager = "kubectl-work"

// Labels on the Job and on its Pods.
const (
	LabelWork = Group + "/work" // the Work's name, or its short form when it has over 63 characters
	LabelRun  = Group + "/run"  // run number, decimal, from 1

	LabelTenant = Group + "/tenant" // whom the Work belongs to
	LabelGroup  = Group + "/group"  // concurrency group of a run under Forbid or Replace
	LabelAnchor = Group + "/anchor" // on the ConfigMap that owns a Work's runs: the Work's name or its short form
)

// Annotations on the Job.
const (
	AnnotationName        = Group + "/name"         // the Work's full name, when the label holds a short form
	AnnotationSpec        = Group + "/spec"         // the whole Work document, canonical JSON, or gzip+base64 of it
	AnnotationSpecHash    = Group + "/spec-hash"    // sha256 of the hub document before defaulting, hex
	AnnotationSubmitID    = Group + "/submit-id"    // random per call and document, or given
	AnnotationSubmittedBy = Group + "/submitted-by" // user name, best effort
	AnnotationHolds       = Group + "/holds"        // JSON of Holds, at most 8 KiB
	AnnotationStatus      = Group + "/status"       // JSON of Status, at most 8 KiB
	AnnotationUID         = Group + "/uid"          // our own metadata.uid, from the first later patch on
	AnnotationProfile     = Group + "/profile"      // name of the profile that was added to the template
	AnnotationTraceParent = Group + "/traceparent"  // W3C trace context
	AnnotationTraceState  = Group + "/tracestate"
)

// AnnotationConverted is on documents, never on Jobs: what the version that the document is written in cannot say.
const AnnotationConverted = Group + "/converted"

// AnnotationInput and the name of an environment variable is on the Pods: what a dependency handed on.
const AnnotationInput = Group + "/input-"

// FinalizerCleanup is on Jobs whose cleanupPolicy asks for it: they stay until a client has seen their end.
const FinalizerCleanup = Group + "/cleanup"

// AnnotationDebug is on the Pods: the port and path where a task serves its own status, as PORT/PATH.
const AnnotationDebug = Group + "/debug"

// Keys of others that change what a Job means.
const (
	LabelKueueQueue         = "kueue.x-k8s.io/queue-name"
	AnnotationLastApplied   = "kubectl.kubernetes.io/last-applied-configuration"
	AnnotationCronJobManual = "cronjob.kubernetes.io/instantiate"
)
