package watch

import (
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
	"github.com/kubectl-work/kubectl-work/pkg/cluster"
	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// surroundings are the runs that have to do with others, from the loop's own copies: those of groups, those that are held,
// and how their dependencies stand. They say when a look is worth it.
type surroundings struct {
	mu     sync.Mutex
	runs   map[types.UID]*batchv1.Job
	groups map[Slot]map[types.UID]place
	held   map[types.UID]work.Holds
}

// place is how a run stands in its group.
type place struct {
	created  time.Time
	inLine   bool // it waits for nothing but the slot
	replaces bool // as the newest it takes the place of the others
	holds    bool // it has the slot, or may take it at any moment
	over     bool // it has ended, or was told to
	going    bool // it is being deleted
	busy     bool // Pods of it have not ended
}

func placeOf(seen cluster.Observed) place {
	one := []*batchv1.Job{seen.Job}
	return place{
		created: seen.Job.CreationTimestamp.Time, inLine: status.InLine(seen.Job), replaces: status.Replacing(one, seen.Job) != nil,
		holds: len(status.Holders(one, seen.Job)) > 0, over: status.Ended(seen.Job) || ending(seen.Job), going: seen.Job.DeletionTimestamp != nil,
		busy: status.Busy(seen.Pods, seen.Job.UID),
	}
}

func (r *surroundings) init() {
	r.runs, r.groups, r.held = map[types.UID]*batchv1.Job{}, map[Slot]map[types.UID]place{}, map[types.UID]work.Holds{}
}

// note takes up a run as it was seen, and returns what else has to be looked at because of it: runs that wait for it, and the
// slot of its group.
func (r *surroundings) note(seen cluster.Observed) []key {
	r.mu.Lock()
	defer r.mu.Unlock()
	job := seen.Job
	before := r.runs[job.UID]
	r.runs[job.UID] = job
	delete(r.held, job.UID)
	if holds, err := work.ParseHolds(job.Annotations[work.AnnotationHolds]); err == nil && Moves(job) && !seen.Deleted {
		r.held[job.UID] = holds
	}
	var others []key
	if slot, grouped := SlotOf(job); grouped {
		if r.groups[slot] == nil {
			r.groups[slot] = map[types.UID]place{}
		}
		now := placeOf(seen)
		if last, known := r.groups[slot][job.UID]; !known || last != now || seen.Deleted {
			others = append(others, key{slot: slot})
		}
		if r.groups[slot][job.UID] = now; seen.Deleted { // Pods of it that are left are found when the slot is moved
			delete(r.groups[slot], job.UID)
		}
	}
	if before != nil && before.ResourceVersion == job.ResourceVersion && !seen.Deleted {
		return others
	}
	for uid, holds := range r.held {
		if uid != job.UID && waitsFor(holds, job) {
			others = append(others, key{run: uid})
		}
	}
	return others
}

// waitsFor tells whether one of the holds is about a run, or may turn out to be.
func waitsFor(holds work.Holds, job *batchv1.Job) bool {
	for _, h := range holds {
		if h.On != nil && (h.On.UID == job.UID || h.On.UID == "" && h.On.Work == mapping.WorkName(job)) {
			return true
		}
	}
	return false
}

func (r *surroundings) forget(run types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if job := r.runs[run]; job != nil {
		if slot, grouped := SlotOf(job); grouped {
			delete(r.groups[slot], run)
			if len(r.groups[slot]) == 0 {
				delete(r.groups, slot)
			}
		}
	}
	delete(r.runs, run)
	delete(r.held, run)
}

// related are the runs that a held one depends on, as far as they are in scope. Those of its group are not among them: a line is
// as long as it likes, and every run in it would look at all of it.
func (r *surroundings) related(job *batchv1.Job) []*batchv1.Job {
	r.mu.Lock()
	defer r.mu.Unlock()
	related := []*batchv1.Job{}
	for _, h := range r.held[job.UID] {
		if h.On != nil && r.runs[h.On.UID] != nil {
			related = append(related, r.runs[h.On.UID])
		}
	}
	return related
}

const (
	outOfScope = 5 * time.Second // between looks at what is not in scope, or no run
)

// of says whether a look at what a held run waits for is worth it.
func (r *surroundings) of(job *batchv1.Job, now time.Time) (a Around) {
	r.mu.Lock()
	defer r.mu.Unlock()
	holds, is := r.held[job.UID]
	if !is {
		return a
	}
	for _, h := range holds {
		switch {
		case h.On != nil && h.On.UID != "":
			if other := r.runs[h.On.UID]; other == nil {
				a.Worth, a.Again = true, outOfScope
			} else if status.Ended(other) {
				a.Worth = true
			}
		case h.On != nil: // the first of its Work that comes
			a.Worth, a.Again = a.Worth || r.next(*h.On, job), outOfScope
		case h.Until != nil && h.Until.When != nil:
			a.Worth, a.Again = true, outOfScope
		case h.Until != nil && h.Until.After != nil:
			left := h.Until.After.Sub(now)
			a.Worth = a.Worth || left <= 0
			if left > 0 {
				a.Again = soonest(a.Again, left)
			}
		}
	}
	a.Circle = r.circle(job)
	return a
}

// next tells whether a run is in scope that a dependency without one waits for.
func (r *surroundings) next(d work.Dependency, job *batchv1.Job) bool {
	for uid, other := range r.runs {
		if uid != job.UID && mapping.WorkName(other) == d.Work && mapping.RunNumber(other) > d.After {
			return true
		}
	}
	return false
}

// circle are the names of runs that wait for each other, beginning and ending with this one; "" when there is no way back.
func (r *surroundings) circle(job *batchv1.Job) string {
	var walk func(at types.UID, path []string, seen map[types.UID]bool) string
	walk = func(at types.UID, path []string, seen map[types.UID]bool) string {
		for _, h := range r.held[at] {
			if h.On == nil || h.On.UID == "" {
				continue
			}
			if h.On.UID == job.UID {
				return strings.Join(append(path, job.Name), " -> ")
			}
			if other := r.runs[h.On.UID]; other != nil && !seen[other.UID] {
				seen[other.UID] = true
				if found := walk(other.UID, append(path, other.Name), seen); found != "" {
					return found
				}
			}
		}
		return ""
	}
	return walk(job.UID, []string{job.Name}, map[types.UID]bool{})
}

// free tells whether a slot may be moved, as far as the copies tell: somebody waits in line, and nobody has the turn or the
// newest replaces whoever has.
func (r *surroundings) free(slot Slot) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	waits, taken, open := false, false, 0
	var newest place
	var last types.UID
	for uid, p := range r.groups[slot] {
		waits, taken = waits || p.inLine, taken || p.holds || p.busy
		if !p.over {
			open++
		}
		if !p.over && !p.going && (last == "" || p.created.After(newest.created) || p.created.Equal(newest.created) && uid > last) {
			newest, last = p, uid
		}
	}
	return waits && (!taken || newest.replaces && open > 1)
}
