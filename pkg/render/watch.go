package render

import (
	"fmt"
	"time"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// WatchEvent is one line of a watch in JSON.
type WatchEvent struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"` // WatchEvent
	Type       string    `json:"type"` // Changed: the verdict did; Deleted: the Job is gone; Acted: the watch did something
	Time       time.Time `json:"time"`
	Message    string    `json:"message,omitempty"` // what was done
	Item       Item      `json:"item"`
}

// The types of a WatchEvent.
const (
	WatchChanged = "Changed"
	WatchDeleted = "Deleted"
	WatchActed   = "Acted"
)

// WatchLine is one line of a watch, for a person and for a program.
type WatchLine struct {
	Text  string
	Event WatchEvent
}

// WatchChange is the line about a run whose verdict changed, or that is gone. namespaces names its namespace.
func WatchChange(job *batchv1.Job, v status.Verdict, deleted bool, at time.Time, namespaces bool) WatchLine {
	line := watchLine(WatchChanged, job, at)
	line.Event.Item.Verdict = &v
	text := State(job.Name, v)
	switch {
	case deleted:
		line.Event.Type = WatchDeleted
		text = fmt.Sprintf("job/%s is gone; it was %s", job.Name, v.Phase)
	case v.Phase.Finished():
		text = Verdict(job.Name, v)
	}
	line.Text = watchText(job, text, at, namespaces)
	return line
}

// WatchAct is the line about something that was done about a run.
func WatchAct(job *batchv1.Job, what string, at time.Time, namespaces bool) WatchLine {
	line := watchLine(WatchActed, job, at)
	line.Event.Message = what
	line.Text = watchText(job, fmt.Sprintf("job/%s %s", job.Name, what), at, namespaces)
	return line
}

func watchLine(kind string, job *batchv1.Job, at time.Time) WatchLine {
	return WatchLine{Event: WatchEvent{APIVersion: OutputVersion, Kind: "WatchEvent", Type: kind, Time: at.UTC().Truncate(time.Second), Item: ItemOf(job)}}
}

func watchText(job *batchv1.Job, text string, at time.Time, namespaces bool) string {
	where := ""
	if namespaces {
		where = job.Namespace + " "
	}
	return Line(at.UTC().Format(time.RFC3339) + " " + where + text)
}
