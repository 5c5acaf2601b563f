package commands

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-work/kubectl-work/pkg/mapping"
	"github.com/kubectl-work/kubectl-work/pkg/render"
	"github.com/kubectl-work/kubectl-work/pkg/status"
	"github.com/kubectl-work/kubectl-work/pkg/watch"
)

// watchView prints what a watch sees and does, and keeps what its exit code is made of. The loop calls it one call at a time;
// ended is asked from elsewhere.
type watchView struct {
	app    *app
	output format
	all    bool
	names  []string
	seen   func(render.WatchEvent) // nil: nobody keeps them

	mu     sync.Mutex
	failed map[types.UID]string // what could not be done for a run, as it was last told
	open   map[types.UID]bool   // runs that have not ended
	codes  map[types.UID]Code   // of those that have, and count
	newest map[string]newest    // by name asked for
}

// newest is the newest run of a Work, or the Job of a name.
type newest struct {
	number int
	uid    types.UID
	code   Code
}

func newWatchView(o *watchOptions, names []string) *watchView {
	return &watchView{
		app: o.app, output: o.output, all: o.all, names: names,
		failed: map[types.UID]string{}, open: map[types.UID]bool{}, codes: map[types.UID]Code{}, newest: map[string]newest{},
	}
}

// changed prints the new verdict of a run, and notes its code. Runs that had ended when the watch began are not printed.
func (v *watchView) changed(c watch.Changed) {
	code, over := codeOfChange(c)
	v.mu.Lock()
	uid := c.Job.UID
	_, known := v.codes[uid]
	old := over && !v.open[uid] && !known
	switch {
	case !over:
		v.open[uid] = true
	case !old:
		delete(v.open, uid)
		v.codes[uid] = code
	}
	v.noteNewest(c.Job, code)
	if c.Deleted {
		delete(v.failed, uid)
	}
	v.mu.Unlock()
	line := render.WatchChange(c.Job, c.Verdict, c.Deleted, c.At, v.all)
	if v.seen != nil {
		v.seen(line.Event)
	}
	if !old || c.Deleted {
		v.print(line)
	}
}

// codeOfChange is the exit code of a run that has ended.
func codeOfChange(c watch.Changed) (code Code, over bool) {
	switch {
	case c.Verdict.Phase == status.PhaseSucceeded:
		return CodeOK, true
	case c.Verdict.Phase.Finished():
		return CodeFailed, true
	}
	return CodeGone, c.Deleted
}

// noteNewest keeps the newest run of each name that was asked for; v.mu must be held.
func (v *watchView) noteNewest(job *batchv1.Job, code Code) {
	for _, name := range v.names {
		number := 0
		switch {
		case mapping.Ours(job) && mapping.WorkName(job) == name:
			number = mapping.RunNumber(job)
		case job.Name != name:
			continue
		}
		if last, is := v.newest[name]; !is || number >= last.number {
			v.newest[name] = newest{number: number, uid: job.UID, code: code}
		}
	}
}

// did prints what was done about a run. The same failure is told once.
func (v *watchView) did(d watch.Done) {
	if d.Err != nil {
		text := message(d.Err)
		var uid types.UID
		name := d.What
		if d.Job != nil {
			uid, name = d.Job.UID, "job/"+d.Job.Name
		}
		v.mu.Lock()
		told := v.failed[uid] == name+text
		v.failed[uid] = name + text
		v.mu.Unlock()
		if !told {
			v.app.note("%s: %s", name, text)
		}
		return
	}
	if d.Job != nil {
		v.print(render.WatchAct(d.Job, d.What, d.At, v.all))
	}
}

// print writes one line. That nobody reads it any more does not end the work.
func (v *watchView) print(line render.WatchLine) {
	text := line.Text
	if v.output == formatJSON {
		data, err := json.Marshal(line.Event)
		if err != nil { // plain values always marshal
			return
		}
		text = string(data)
	}
	fmt.Fprintln(v.app.Out, text)
}

// ended tells whether every run that counts has ended.
func (v *watchView) ended() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.open) == 0
}

// missing are the names that no run was seen of.
func (v *watchView) missing() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(v.names), func(name string) bool {
		_, is := v.newest[name]
		return is
	})
}

// result is the worst code of the runs that count, and of names that no run was seen of.
func (v *watchView) result() error {
	missing := v.missing()
	v.mu.Lock()
	defer v.mu.Unlock()
	codes := slices.Collect(maps.Values(v.codes))
	for _, last := range v.newest {
		codes = append(codes, last.code)
	}
	if len(missing) > 0 { // they are told
		codes = append(codes, CodeGone)
	}
	if code := worst(codes); code != CodeOK {
		return &codeError{Code: code}
	}
	return nil
}
