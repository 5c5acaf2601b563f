// Package v1alpha1 is the first version of the Work API. It is read and written; the code works on v1beta2, and package
// mapping converts between the two without loss.
package v1alpha1

import (
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// GroupVersion of the documents of this package.
var GroupVersion = schema.GroupVersion{Group: work.Group, Version: "v1alpha1"}

// DefaultRetryFactor multiplies maxRetries when retryFactor is not set: in this version nothing is added.
const DefaultRetryFactor = "1"

// Work is a one-shot, terminable task.
type Work struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec WorkSpec `json:"spec"`
}

// WorkSpec is a JobSpec and what a Work adds to it.
type WorkSpec struct {
	// Every field of a JobSpec, same name, same meaning. restartPolicy of the template defaults to Never.
	batchv1.JobSpec `json:",inline"`

	// MaxRetries is how often the task is tried again after a failed Pod.
	MaxRetries *int32 `json:"maxRetries,omitempty"`

	// RetryFactor is a decimal number of at least 1, as text. Default "1".
	RetryFactor string `json:"retryFactor,omitempty"`

	// RetryStrategy says the same as maxRetries, and on which exit codes. Beside maxRetries or podFailurePolicy it is an
	// error. In v1beta2 it is maxRetries and podFailurePolicy.
	RetryStrategy *RetryStrategy `json:"retryStrategy,omitempty"`

	// Priority orders a waiting line. In v1beta2 it is schedulingPolicy.priority.
	Priority *int32 `json:"priority,omitempty"`

	// What orders runs among each other.
	v1beta2.Coordination `json:",inline"`

	// Profile names a profile: environment, volumes, sidecars and tolerations that are added to the template.
	Profile string `json:"profile,omitempty"`

	// Tenant is whom the Work belongs to: a label on Job and Pods.
	Tenant string `json:"tenant,omitempty"`

	// Debug is where the task serves its own status.
	Debug *v1beta2.Debug `json:"debug,omitempty"`
}

// RetryStrategy says how often a task is tried again, and after which failures.
type RetryStrategy struct {
	// Limit is how often the task is tried again after a failed Pod.
	Limit *int32 `json:"limit,omitempty"`

	// OnExitCodes are the exit codes after which it is tried again; any other one ends the Job. Empty: after any. Needs
	// restartPolicy Never.
	OnExitCodes []int32 `json:"onExitCodes,omitempty"`
}
