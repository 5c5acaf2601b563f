package watch

import (
	"bytes"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/jsonpath"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work"
)

// Holds tells whether an object is as w says: a condition of its status, or a value at a JSONPath, in the forms of
// kubectl wait --for.
func Holds(w work.When, object map[string]any) (bool, error) {
	if w.Condition != "" {
		name, want, given := strings.Cut(w.Condition, "=")
		if !given {
			want = "True"
		}
		conditions, _, _ := unstructured.NestedSlice(object, "status", "conditions")
		for _, c := range conditions {
			one, is := c.(map[string]any)
			if is && strings.EqualFold(fmt.Sprint(one["type"]), name) && strings.EqualFold(fmt.Sprint(one["status"]), want) {
				return true, nil
			}
		}
		return false, nil
	}
	path, want, given := strings.Cut(w.JSONPath, "}=")
	if given {
		path += "}"
	}
	template := jsonpath.New("until").AllowMissingKeys(true)
	if err := template.Parse(path); err != nil {
		return false, fmt.Errorf("jsonpath %s: %w", path, err)
	}
	var found bytes.Buffer
	if err := template.Execute(&found, object); err != nil {
		return false, fmt.Errorf("jsonpath %s: %w", path, err)
	}
	if !given {
		return found.Len() > 0, nil
	}
	return found.String() == want, nil
}
