// Package v1beta2 is the hub version of the Work API: what the code works on and what is stored.
//
// It owns the types and their defaults. A Work carries every field of the batch/v1 JobSpec under the same name by
// embedding it, so a Work can always say what a Job can say; what a Work adds stands beside.
package v1beta2

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// Kind of the documents of this package.
const Kind = "Work"

// GroupVersion of the documents of this package.
var GroupVersion = schema.GroupVersion{Group: work.Group, Version: "v1beta2"}

// DefaultRetryFactor multiplies maxRetries when retryFactor is not set.
const DefaultRetryFactor = "1.5"

// DefaultDebugPath is where a task serves its own status when it does not say where.
const DefaultDebugPath = "debug/work-status"

// DefaultHistoryLimit is how many ended runs an anchor remembers when historyLimit is not set.
const DefaultHistoryLimit = 5

// Work is a one-shot, terminable task: it runs as a batch/v1 Job of its name and ends Succeeded or Failed.
type Work struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec WorkSpec `json:"spec"`
}

// WorkSpec is a JobSpec and what a Work adds to it.
type WorkSpec struct {
	// Every field of a JobSpec, same name, same meaning. restartPolicy of the template defaults to Never.
	batchv1.JobSpec `json:",inline"`

	// MaxRetries is how often the task is tried again after a failed Pod. The Job's backoffLimit becomes
	// ceil(maxRetries × retryFactor). Setting backoffLimit too is an error. Unset stays unset.
	MaxRetries *int32 `json:"maxRetries,omitempty"`

	// RetryFactor is a decimal number of at least 1, as text ("1.5"): head room for Pods that fail through no fault
	// of the task (evictions, lost nodes). Default "1.5".
	RetryFactor string `json:"retryFactor,omitempty"`

	// CleanupPolicy says what happens to the Job after it finished.
	CleanupPolicy *CleanupPolicy `json:"cleanupPolicy,omitempty"`

	// SchedulingPolicy says where and when its Pods run. What the template says too must be the same there.
	SchedulingPolicy *SchedulingPolicy `json:"schedulingPolicy,omitempty"`

	// What orders runs among each other.
	Coordination `json:",inline"`

	// Profile names a profile: environment, volumes, sidecars and tolerations that are added to the template.
	Profile string `json:"profile,omitempty"`

	// Tenant is whom the Work belongs to: a label on Job and Pods. It informs; RBAC protects.
	Tenant string `json:"tenant,omitempty"`

	// Debug is where the task serves its own status, for `describe --debug`.
	Debug *Debug `json:"debug,omitempty"`
}

// SchedulingPolicy says where and when the Pods of a Work run. All but Priority and QueueName are the template's fields of
// the same name.
type SchedulingPolicy struct {
	// Priority orders a waiting line: the higher goes first.
	Priority *int32 `json:"priority,omitempty"`

	// QueueName is Kueue's LocalQueue: the label kueue.x-k8s.io/queue-name.
	QueueName string `json:"queueName,omitempty"`

	PriorityClassName         string                            `json:"priorityClassName,omitempty"`
	NodeSelector              map[string]string                 `json:"nodeSelector,omitempty"`
	Affinity                  *corev1.Affinity                  `json:"affinity,omitempty"`
	Tolerations               []corev1.Toleration               `json:"tolerations,omitempty"`
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`
}

// Debug is where a task serves its own status.
type Debug struct {
	// Port of its Pod, from 1 to 65535.
	Port int32 `json:"port"`

	// Path there. Default debug/work-status.
	Path string `json:"path,omitempty"`
}

// CleanupPolicy says what happens to a finished run.
type CleanupPolicy struct {
	// TTLSecondsAfterFinished: the cluster deletes the Job and its Pods this many seconds after it finished.
	TTLSecondsAfterFinished *int32 `json:"ttlSecondsAfterFinished,omitempty"`

	// Propagation is what the deletion does to Pods: Foreground (the default, and the only one that the cluster does by
	// itself), Background or Orphan. With another than Foreground only a running watch deletes.
	Propagation string `json:"propagation,omitempty"`

	// Finalizer keeps the Job until a client of ours has seen its end, whatever deletes it. Without a running client
	// nothing takes it off.
	Finalizer bool `json:"finalizer,omitempty"`

	// HistoryLimit is how many ended runs the anchor remembers after their Jobs are gone. Default 5.
	HistoryLimit *int32 `json:"historyLimit,omitempty"`
}
