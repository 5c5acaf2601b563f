package render

import (
	"fmt"
	"io"
	"time"

	"github.com/kubectl-work/kubectl-work/pkg/status"
)

// DoctorOutput is the answer of doctor in JSON.
type DoctorOutput struct {
	APIVersion string       `json:"apiVersion"`
	Kind       string       `json:"kind"`
	Code       int          `json:"code"`
	Error      string       `json:"error,omitempty"`
	Items      []DoctorItem `json:"items"`
	Unread     []string     `json:"unread,omitempty"` // what could not be looked at, and why
}

// DoctorItem is one thing that was found.
type DoctorItem struct {
	Namespace string `json:"namespace,omitempty"`
	Object    string `json:"object"` // kind/name
	status.Finding
	Fixable bool   `json:"fixable,omitempty"` // doctor --fix puts it right
	Fixed   string `json:"fixed,omitempty"`   // what it did
	Error   string `json:"error,omitempty"`   // why it did not
}

// DoctorReport writes what was found, a block each. With namespaces each object is told with its own.
func DoctorReport(w io.Writer, items []DoctorItem, at time.Time, namespaces bool) error {
	for _, i := range items {
		if _, err := fmt.Fprintf(w, "%s: %s (%s)\n", DoctorName(i, namespaces), Line(i.Reason+" - "+i.Message), findingMarks(i.Finding, at)); err != nil {
			return err
		}
		for _, line := range findingLines(i.Finding) {
			if _, err := fmt.Fprintf(w, "  %s\n", line); err != nil {
				return err
			}
		}
	}
	return nil
}

// DoctorName is the object that an item is about.
func DoctorName(i DoctorItem, namespaces bool) string {
	if namespaces && i.Namespace != "" {
		return Line(i.Object + " in namespace " + i.Namespace)
	}
	return Line(i.Object)
}
