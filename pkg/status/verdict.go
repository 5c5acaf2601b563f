package status

import "time"

// Phase is where a run stands. The zero value is a phase that is not known.
type Phase string

// The phases, in the order in which a run usually meets them.
const (
	PhasePending      Phase = "Pending"      // nothing has happened yet
	PhaseWaiting      Phase = "Waiting"      // held by a dependency
	PhaseQueued       Phase = "Queued"       // held by a queue
	PhasePaused       Phase = "Paused"       // held by a person, or by parallelism 0
	PhaseInitializing Phase = "Initializing" // Pods exist, none runs yet
	PhaseRunning      Phase = "Running"      // a Pod runs or has run
	PhaseTerminating  Phase = "Terminating"  // decided or deleted, Pods are still ending
	PhaseSucceeded    Phase = "Succeeded"
	PhaseFailed       Phase = "Failed"
)

// Phases lists all phases.
func Phases() []Phase {
	return []Phase{PhasePending, PhaseWaiting, PhaseQueued, PhasePaused, PhaseInitializing, PhaseRunning, PhaseTerminating, PhaseSucceeded, PhaseFailed}
}

// Finished tells whether the Job controller has recorded the end: it never changes again.
func (p Phase) Finished() bool { return p == PhaseSucceeded || p == PhaseFailed }

// Outcome is what a waiter may act on; it can be known before the run is finished.
type Outcome string

// The outcomes.
const (
	OutcomeNone      Outcome = ""
	OutcomeSucceeded Outcome = "Succeeded"
	OutcomeFailed    Outcome = "Failed"
)

// Class groups findings that keep a run from starting or going on, by how long they may last before a waiter gives up.
type Class string

// The classes. Their default grace is in DefaultGrace.
const (
	ClassNone          Class = ""              // nothing that a waiter gives up on
	ClassNever         Class = "never"         // cannot work without a change: an invalid image name
	ClassImage         Class = "image"         // the image cannot be pulled
	ClassConfig        Class = "config"        // a Secret, ConfigMap, service account or claim is missing
	ClassPolicy        Class = "policy"        // Pod Security or an admission policy refuses the Pods
	ClassQuota         Class = "quota"         // quota or a webhook refuses the Pods
	ClassUnschedulable Class = "unschedulable" // no node takes the Pod
	ClassNode          Class = "node"          // the node does not answer, or cannot make the Pod
	ClassSidecar       Class = "sidecar"       // the main container ended, a helper keeps the Pod alive
)

// DefaultGrace is how long a finding of each class may last before the run counts as stuck: long enough for what often
// mends itself (a registry that recovers, a Secret that comes a moment later, an autoscaler).
func DefaultGrace() map[Class]time.Duration {
	return map[Class]time.Duration{
		ClassNever:         0,
		ClassImage:         time.Minute,
		ClassConfig:        time.Minute,
		ClassPolicy:        10 * time.Second,
		ClassQuota:         2 * time.Minute,
		ClassUnschedulable: 5 * time.Minute,
		ClassNode:          5 * time.Minute,
		ClassSidecar:       2 * time.Minute,
	}
}

// Severity orders findings for a reader.
type Severity string

// The severities.
const (
	SeverityInfo    Severity = "info"    // worth knowing
	SeverityWarning Severity = "warning" // may need someone
	SeverityError   Severity = "error"   // the reason of a failure, or it will not go on by itself
)

// Risk says what a command of Advice does.
type Risk string

// The risks.
const (
	RiskInspect Risk = "inspect" // reads only
	RiskSafe    Risk = "safe"    // changes nothing that is running
	RiskChanges Risk = "changes" // changes or ends what is running
)

// Verdict is the judgement of one Snapshot.
type Verdict struct {
	Phase     Phase     `json:"phase"`
	Outcome   Outcome   `json:"outcome,omitempty"`
	Reason    string    `json:"reason,omitempty"`    // CamelCase, of the Job condition or the first finding
	Message   string    `json:"message,omitempty"`   // the cause in one sentence
	Since     time.Time `json:"since,omitzero"`      // of the phase, zero when not known
	Released  time.Time `json:"released,omitzero"`   // since when it may run: its creation, or the end of its last suspension; zero while it is held
	Scheduled bool      `json:"scheduled,omitempty"` // a living Pod has a node
	Partial   bool      `json:"partial,omitempty"`   // Pods could not be seen
	Progress  Progress  `json:"progress"`
	Place     *Place    `json:"place,omitempty"`    // of a run that waits in line, where it was found out
	Failure   *Failure  `json:"failure,omitempty"`  // when the outcome is Failed
	Findings  []Finding `json:"findings,omitempty"` // all that match; the first gave Reason and Message
}

// Progress counts Pods (or completion indexes) of the run.
type Progress struct {
	Wanted    *int32 `json:"wanted,omitempty"` // completions; nil for a work queue, where one success is enough
	Active    int32  `json:"active"`
	Ready     int32  `json:"ready"`
	Succeeded int32  `json:"succeeded"`
	Failed    int32  `json:"failed"`

	Terminating int32    `json:"terminating,omitempty"` // Pods on their way out
	Indexes     *Indexes `json:"indexes,omitempty"`     // of an Indexed Job
}

// Confidence says how sure a rule is of what it tells. The zero value is sure.
type Confidence string

// ConfidenceLow marks findings of rules that follow from documentation and source, but were never seen at work on a real
// cluster by those who wrote them.
const ConfidenceLow Confidence = "low"

// Finding is one cause or remark.
type Finding struct {
	ID       string     `json:"id"` // stable, kebab-case
	Severity Severity   `json:"severity"`
	Class    Class      `json:"class,omitempty"`
	Reason   string     `json:"reason"`            // CamelCase
	Message  string     `json:"message"`           // one sentence
	Details  []string   `json:"details,omitempty"` // the parts of a cause that has several
	Evidence []Evidence `json:"evidence,omitempty"`
	Field    string     `json:"field,omitempty"` // what it is about in the Job: spec.template.spec.containers[0].image
	Since    time.Time  `json:"since,omitzero"`

	Confidence Confidence `json:"confidence,omitempty"` // low: the rule has not been seen at work on a real cluster
	Next       string     `json:"next,omitempty"`       // what happens by itself
	Advice     []Advice   `json:"advice,omitempty"`
}

// Evidence is where a finding was read.
type Evidence struct {
	Object string `json:"object"` // kind/name
	Path   string `json:"path"`   // JSON path inside it
	Value  string `json:"value"`
}

// Advice is one command and what it is for.
type Advice struct {
	Command string `json:"command"`
	Risk    Risk   `json:"risk"`
	Why     string `json:"why"`
}
