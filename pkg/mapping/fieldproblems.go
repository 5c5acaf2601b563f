package mapping

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FieldProblems turns the causes of an API server's refusal (Status.Details.Causes) into problems with the lines of the
// file, in the order of the file.
func FieldProblems(d *Document, causes []metav1.StatusCause) Problems {
	var problems Problems
	for _, cause := range causes {
		problems = append(problems, d.Problem(d.ownPath(cause.Field), serverMessage(cause.Message), ""))
	}
	return problems.sorted()
}

// ownPath is the place in the user's file that made field, a path of the Job the server was sent.
func (d *Document) ownPath(field string) string {
	for _, name := range []string{"labels", "annotations"} { // the server's own types have no metadata here
		if rest, ok := strings.CutPrefix(field, templatePath+"."+name); ok && (rest == "" || rest[0] == '[' || rest[0] == '.') {
			field = templatePath + ".metadata." + name + rest
		}
	}
	spec := &d.Work.Spec
	switch {
	case field == specPath+".backoffLimit" && spec.MaxRetries != nil:
		return specPath + ".maxRetries"
	case field == specPath+".ttlSecondsAfterFinished" && spec.TTLSecondsAfterFinished == nil && spec.CleanupPolicy != nil:
		return specPath + ".cleanupPolicy.ttlSecondsAfterFinished"
	}
	return field
}

// serverMessage takes out of a field error the value printed as a Go struct or as JSON, which may fill a screen and
// which the user has in the file.
func serverMessage(message string) string {
	const invalid, most = "Invalid value: ", 400
	if rest, ok := strings.CutPrefix(message, invalid); ok && !strings.HasPrefix(rest, `"`) {
		if brace := strings.IndexByte(rest, '{'); brace >= 0 {
			if end := strings.LastIndex(rest, "}: "); end > brace {
				message = rest[end+len("}: "):]
			}
		}
	}
	if len(message) > most {
		message = strings.ToValidUTF8(message[:most], "") + "…"
	}
	return message
}
