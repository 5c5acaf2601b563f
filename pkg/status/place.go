package status

import (
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// Place is where a run stands in the line of its concurrency group.
type Place struct {
	Position  int    `json:"position,omitempty"` // from 1; 0 while something else holds it, too
	Of        int    `json:"of"`                 // how many are in line
	Turn      string `json:"turn,omitempty"`     // the Job that has the turn
	TurnPhase Phase  `json:"turnPhase,omitempty"`
}

// group names a concurrency group.
type group struct{ namespace, tenant, name string }

// Places finds the places of all runs that wait in line, by their uid, among all runs of their groups.
func Places(runs []*batchv1.Job, at time.Time) map[types.UID]*Place {
	groups := map[group][]*batchv1.Job{}
	for _, run := range runs {
		if name := run.Labels[work.LabelGroup]; name != "" {
			g := group{run.Namespace, run.Labels[work.LabelTenant], name}
			groups[g] = append(groups[g], run)
		}
	}
	places := map[types.UID]*Place{}
	for _, runs := range groups {
		line := Line(runs, runs[0])
		base := Place{Of: len(line)}
		if holders := Holders(runs, runs[0]); len(holders) > 0 {
			base.Turn = holders[0].Name
			base.TurnPhase, _ = phaseOf(newView(Snapshot{Job: holders[0], At: at, PodsHidden: true}))
		}
		for _, run := range runs {
			if phase, _ := phaseOf(newView(Snapshot{Job: run, At: at, PodsHidden: true})); phase == PhaseQueued {
				p := base
				places[run.UID] = &p
			}
		}
		for i, run := range line {
			if p := places[run.UID]; p != nil {
				p.Position = i + 1
			}
		}
	}
	return places
}

// placeOf is the place of a run that waits in line; nil when it does not, or nothing is known of the others.
func placeOf(v view) *Place {
	if v.Place != nil || v.Related == nil {
		return v.Place
	}
	return Places(append([]*batchv1.Job{v.Job}, v.Related...), v.At)[v.Job.UID]
}
