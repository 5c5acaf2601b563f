package render

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// OutputVersion is the apiVersion of everything that -o json and -o yaml print about runs.
const OutputVersion = work.Group + "/output/v1"

// Output is the answer of a command in JSON.
type Output struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"` // WaitResult, SubmitResult, Description, RunList …
	Code       int            `json:"code"`
	Exit       *int           `json:"exit,omitempty"`    // what the program ended with, where that is a container's own code
	Outcome    status.Outcome `json:"outcome,omitempty"` // in a word: Succeeded, Failed, or why there is none; the same as in the last line on stderr
	Error      string         `json:"error,omitempty"`
	Items      []Item         `json:"items"`
}

// Item is one run in an Output.
type Item struct {
	Name      string          `json:"name"` // of the Job
	Namespace string          `json:"namespace"`
	UID       string          `json:"uid,omitempty"`
	Work      string          `json:"work,omitempty"` // of a Job of ours
	Run       int             `json:"run,omitempty"`
	Code      *int            `json:"code,omitempty"`   // this run's own exit code, of commands that wait
	Result    string          `json:"result,omitempty"` // how waiting for it ended: Reached, Failed, Stuck …
	Remark    string          `json:"remark,omitempty"` // one sentence about the result that the verdict does not say
	File      string          `json:"file,omitempty"`   // and the line in it that the cause is about, where the run came from a file
	Line      int             `json:"line,omitempty"`
	Created   time.Time       `json:"created,omitzero"`
	Started   time.Time       `json:"started,omitzero"`
	Completed time.Time       `json:"completed,omitzero"`
	Verdict   *status.Verdict `json:"verdict,omitempty"`
	Pods      []Pod           `json:"pods,omitempty"`
	Events    []Event         `json:"events,omitempty"`

	Timeline []Step              `json:"timeline,omitempty"`
	Figures  *Figures            `json:"figures,omitempty"`
	Usage    []status.Usage      `json:"usage,omitempty"`
	Tasks    []status.TaskStatus `json:"tasks,omitempty"`
	Unread   []string            `json:"unread,omitempty"` // what would have explained more and could not be read
}

// Step is one point in the life of a run.
type Step struct {
	status.Step
	TookSeconds float64 `json:"tookSeconds"` // since the step before
}

// Figures are the figures of /debug.
type Figures struct {
	Derived          bool      `json:"derived"` // from objects and events, because no watcher measured them
	SyncDelaySeconds *float64  `json:"syncDelaySeconds,omitempty"`
	SuccessRate      *float64  `json:"successRate,omitempty"` // of the last attempts to make a Pod, 0 to 1
	LastRetry        time.Time `json:"lastRetry,omitzero"`
}

// Pod is one try in an Item.
type Pod struct {
	Name  string          `json:"name"`
	Phase corev1.PodPhase `json:"phase"`
	State string          `json:"state,omitempty"` // of its containers, in words
	Node  string          `json:"node,omitempty"`
	Index string          `json:"index,omitempty"` // completion index
}

// Event is one event in an Item.
type Event struct {
	Last    time.Time `json:"last"`
	Count   int32     `json:"count"`
	Type    string    `json:"type"`
	Reason  string    `json:"reason"`
	Object  string    `json:"object"`
	Message string    `json:"message"`
}

// ItemOf describes a Job without a verdict.
func ItemOf(job *batchv1.Job) Item {
	item := Item{
		Name: job.Name, Namespace: job.Namespace, UID: string(job.UID), Created: job.CreationTimestamp.Time,
	}
	if mapping.Ours(job) {
		item.Work, item.Run = mapping.WorkName(job), mapping.RunNumber(job)
	}
	if t := job.Status.StartTime; t != nil {
		item.Started = t.Time
	}
	if t := job.Status.CompletionTime; t != nil {
		item.Completed = t.Time
	}
	return item
}

// NameLine is the -o name form of a Job.
func NameLine(name string) string { return "job.batch/" + name }
