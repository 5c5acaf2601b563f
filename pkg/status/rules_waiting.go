package status

import (
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// nobodyLooks is said of what only a client of ours can end.
const nobodyLooks = "it goes on by itself only while kubectl work watch, or a kubectl work wait for it, runs"

// waitingFor says which other runs a held one waits for. f has what all of them share.
func waitingFor(v view, holds work.Holds, f Finding) []Finding {
	f.Severity, f.Next = SeverityInfo, nobodyLooks
	f.Evidence = []Evidence{{Object: "job/" + v.Job.Name, Path: fmt.Sprintf(".metadata.annotations[%q]", work.AnnotationHolds), Value: holds.String()}}
	var all []Finding
	for _, h := range holds {
		one := f
		one.Since = h.Since.Time
		switch {
		case h.Type == work.HoldWaiting && h.On != nil:
			one.Reason, one.Message = "DependencyPending", v.dependency(*h.On)
			if h.On.Job != "" {
				one.Advice = []Advice{{Command: "kubectl work describe " + h.On.Job, Risk: RiskInspect, Why: "the run that it waits for"}}
			}
		case h.Type == work.HoldQueued:
			one.Reason, one.Message = "InLine", v.place(h)
			one.Advice = []Advice{{Command: "kubectl work list -l " + work.LabelGroup + "=" + h.Group, Risk: RiskInspect, Why: "the runs of its group"}}
		default:
			one.Reason, one.Message = string(h.Type), "held by a newer version of kubectl work ("+string(h.Type)+")"
		}
		all = append(all, one)
	}
	return all
}

// dependency says which run another one waits for, and where that stands.
func (v view) dependency(d work.Dependency) string {
	if d.Job == "" {
		return fmt.Sprintf("waits for the next run of Work %s, which is not there yet", d.Work)
	}
	text := fmt.Sprintf("waits for job/%s to end %s", d.Job, d.Outcome)
	i := slices.IndexFunc(v.Related, func(run *batchv1.Job) bool { return run.UID == d.UID })
	switch {
	case v.Related == nil:
		return text
	case i < 0:
		return text + "; it is gone"
	}
	phase, _ := phaseOf(newView(Snapshot{Job: v.Related[i], At: v.At, PodsHidden: true}))
	return text + "; it is " + string(phase)
}

// place says where a run stands in its line, and who has the slot.
func (v view) place(h work.Hold) string {
	text := "waits in line in group " + h.Group
	if h.Policy == policyReplace {
		text = "takes the place of older runs in group " + h.Group
	}
	p := placeOf(v)
	if p == nil {
		return text
	}
	if p.Position > 0 && h.Policy != policyReplace {
		text += fmt.Sprintf("; place %d of %d", p.Position, p.Of)
	}
	if p.Turn != "" {
		text += fmt.Sprintf("; job/%s has the turn (%s)", p.Turn, p.TurnPhase)
	}
	return text
}

// untilText says what ends a pause by itself, "" for nothing.
func untilText(u *work.Until) string {
	switch {
	case u == nil:
		return ""
	case u.Signal:
		return "whoever was told to resume it, does"
	case u.After != nil:
		return "it is resumed after " + u.After.UTC().Format(time.RFC3339) + ", while kubectl work watch or a kubectl work wait for it runs"
	case u.When != nil:
		return fmt.Sprintf("it is resumed when %s/%s has %s, while kubectl work watch or a kubectl work wait for it runs", u.When.Kind, u.When.Name, or(u.When.Condition, u.When.JSONPath))
	}
	return ""
}

func or(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// findOverridden: somebody started a run that holds of ours still name: spec.suspend is the truth.
func findOverridden(v view, p Phase) []Finding {
	holds, err := work.ParseHolds(v.Job.Annotations[work.AnnotationHolds])
	if suspended(v.Job) || p.Finished() || err != nil || len(holds) == 0 || v.Job.DeletionTimestamp != nil {
		return nil
	}
	var names []string
	for _, h := range holds {
		names = append(names, string(h.Type))
	}
	return []Finding{{
		Severity: SeverityWarning, Reason: "HoldsOverridden", Since: releasedAt(v.Job),
		Message:  fmt.Sprintf("it was started%s although it was held (%s)", by(SuspendManager(v.Job)), join(names...)),
		Evidence: []Evidence{{Object: "job/" + v.Job.Name, Path: ".spec.suspend", Value: "false"}},
	}}
}
