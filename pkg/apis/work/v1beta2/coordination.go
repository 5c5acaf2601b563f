package v1beta2

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"
)

// ConcurrencyPolicy says whether runs of one group may go on at the same time. The words are those of a CronJob.
type ConcurrencyPolicy string

// The policies. The zero value is Allow.
const (
	ConcurrencyAllow   ConcurrencyPolicy = "Allow"
	ConcurrencyForbid  ConcurrencyPolicy = "Forbid"  // one at a time, the others wait in line
	ConcurrencyReplace ConcurrencyPolicy = "Replace" // only the newest lives
)

// DependencyOutcome is the end of another run that releases this one.
type DependencyOutcome string

// The outcomes. The zero value is Succeeded.
const (
	DependencySucceeded DependencyOutcome = "Succeeded"
	DependencyFailed    DependencyOutcome = "Failed"
	DependencyFinished  DependencyOutcome = "Finished" // either
)

// Words that Dependency.Run may be, besides a number.
const (
	RunLatest = "latest" // the newest run there is, whatever its state
	RunNext   = "next"   // the first run that starts from now on
)

// What a pause does to activeDeadlineSeconds.
const (
	FreezeBudget = "Budget" // a resumed run has what was left of it
	FreezeNone   = "None"   // Kubernetes' own way: it starts anew
)

// FromTerminationMessage hands on what the dependency's container wrote to its termination message.
const FromTerminationMessage = "terminationMessage"

// Coordination is what orders runs among each other. Both versions say it in the same way.
type Coordination struct {
	// ConcurrencyPolicy: Allow (the default), Forbid or Replace.
	ConcurrencyPolicy ConcurrencyPolicy `json:"concurrencyPolicy,omitempty"`

	// ConcurrencyGroup names the group that the policy is about. Default: the Work's name, or the stem of its generateName.
	ConcurrencyGroup string `json:"concurrencyGroup,omitempty"`

	// DependsOn keeps a run from starting until runs of other Works have ended as wanted.
	DependsOn []Dependency `json:"dependsOn,omitempty"`

	// Owner makes the Job go with another object of its namespace.
	Owner *Owner `json:"owner,omitempty"`

	// PausePolicy says who may pause a run and what a pause does to its deadline.
	PausePolicy *PausePolicy `json:"pausePolicy,omitempty"`
}

// Dependency is a run of another Work.
type Dependency struct {
	Work string `json:"work"`

	// Outcome: Succeeded (the default), Failed or Finished.
	Outcome DependencyOutcome `json:"outcome,omitempty"`

	// Run is a run's number, latest or next. Default: the run that the same call makes, else the newest that has not ended.
	Run *intstr.IntOrString `json:"run,omitempty"`

	// Inputs are environment variables that get their value from the run that ended.
	Inputs map[string]Input `json:"inputs,omitempty"`
}

// Input says where a value comes from.
type Input struct {
	// From: terminationMessage.
	From string `json:"from"`
}

// Owner is the controller of a run's Job: another object of the same namespace, or an anchor.
type Owner struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind,omitempty"`
	Name       string `json:"name,omitempty"`

	// Anchor makes a ConfigMap that owns all runs of the Work: deleting it deletes them.
	Anchor bool `json:"anchor,omitempty"`
}

// PausePolicy is what pause obeys.
type PausePolicy struct {
	// Allowed: default true.
	Allowed *bool `json:"allowed,omitempty"`

	// RequireReason: a pause without --reason is refused.
	RequireReason bool `json:"requireReason,omitempty"`

	// Freeze: Budget (the default) or None.
	Freeze string `json:"freeze,omitempty"`
}

// Exclusive tells whether runs wait for others of their group.
func (c *Coordination) Exclusive() bool {
	return c.ConcurrencyPolicy == ConcurrencyForbid || c.ConcurrencyPolicy == ConcurrencyReplace
}

func (c *Coordination) deepCopy() Coordination {
	out := *c
	out.DependsOn = slices.Clone(c.DependsOn)
	for i := range out.DependsOn {
		d := &out.DependsOn[i]
		d.Run, d.Inputs = clone(d.Run), maps.Clone(d.Inputs)
	}
	out.Owner, out.PausePolicy = clone(c.Owner), clone(c.PausePolicy)
	if p := out.PausePolicy; p != nil {
		p.Allowed = clone(p.Allowed)
	}
	return out
}
