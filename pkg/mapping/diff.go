package mapping

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/kubectl-work/kubectl-work/pkg/apis/work/v1beta2"
)

// Change is one field that differs between two documents: its path in the user's own terms, and both values as JSON, ""
// where there is none.
type Change struct {
	Path     string
	Old, New string
}

// String is one line: spec.template.spec.containers[0].image: "a:1" -> "a:2".
func (c Change) String() string {
	old, now := c.Old, c.New
	if old == "" {
		old = "(not set)"
	}
	if now == "" {
		now = "(not set)"
	}
	return fmt.Sprintf("%s: %s -> %s", c.Path, short(old), short(now))
}

// short cuts a value that would fill the screen.
func short(text string) string {
	const most = 100
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Diff lists what differs between the document of a run and another document, in the order of the paths. It compares
// before defaulting, as the hash does. A run that carries no readable document has none.
func Diff(run *batchv1.Job, w *v1beta2.Work) ([]Change, error) {
	was, _, err := DecodeSpec(run)
	if err != nil {
		return nil, err
	}
	old, err := tree(was)
	if err != nil {
		return nil, err
	}
	now, err := tree(w)
	if err != nil {
		return nil, err
	}
	var changes []Change
	compare("", old, now, &changes)
	return changes, nil
}

// DiffJobs lists what differs between two Jobs as a server has them, without what a server or we added.
func DiffJobs(a, b *batchv1.Job) ([]Change, error) {
	old, err := jobTree(a)
	if err != nil {
		return nil, err
	}
	now, err := jobTree(b)
	if err != nil {
		return nil, err
	}
	var changes []Change
	compare("spec", old, now, &changes)
	return changes, nil
}

func jobTree(job *batchv1.Job) (any, error) {
	data, err := canonicalSpec(Clean(job).Spec)
	if err != nil {
		return nil, err
	}
	var out any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		return nil, fmt.Errorf("read Job: %w", err)
	}
	return out, nil
}

// OnlyMutable tells whether all that differs between a run and the Job that a document wants may be changed while the run
// goes on (https://kubernetes.io/docs/concepts/workloads/controllers/job, mutable fields of a Job).
func OnlyMutable(run, wanted *batchv1.Job) bool {
	now, _, err := DecodeSpec(wanted)
	if err != nil {
		return false
	}
	changes, err := Diff(run, now)
	if err != nil || len(changes) == 0 {
		return false
	}
	if !indexed(wanted) && !reflect.DeepEqual(run.Spec.Completions, effectiveCompletions(wanted)) {
		return false // setting parallelism alone makes a work queue of a Job for one Pod
	}
	return !slices.ContainsFunc(changes, func(c Change) bool { return !mutable(c.Path, wanted) })
}

func indexed(job *batchv1.Job) bool {
	mode := job.Spec.CompletionMode
	return mode != nil && *mode == batchv1.IndexedCompletion
}

// effectiveCompletions is what the API server makes of completions: 1 when parallelism is not set either.
func effectiveCompletions(job *batchv1.Job) *int32 {
	if job.Spec.Completions == nil && job.Spec.Parallelism == nil {
		return new(int32(1))
	}
	return job.Spec.Completions
}

func mutable(path string, wanted *batchv1.Job) bool {
	switch path {
	case "spec.parallelism", "spec.suspend", "spec.backoffLimit", "spec.maxRetries", "spec.retryFactor", "spec.activeDeadlineSeconds",
		"spec.ttlSecondsAfterFinished", "spec.cleanupPolicy", "spec.cleanupPolicy.ttlSecondsAfterFinished",
		"metadata.labels", "metadata.annotations":
		return true
	case "spec.completions":
		return indexed(wanted)
	}
	return strings.HasPrefix(path, "metadata.labels.") || strings.HasPrefix(path, "metadata.labels[") ||
		strings.HasPrefix(path, "metadata.annotations.") || strings.HasPrefix(path, "metadata.annotations[")
}

func tree(w *v1beta2.Work) (any, error) {
	data, err := Canonical(w)
	if err != nil {
		return nil, err
	}
	var out any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		return nil, fmt.Errorf("read document: %w", err)
	}
	if m, ok := out.(map[string]any); ok {
		delete(m, "apiVersion") // the version that it is written in changes nothing
		delete(m, "kind")
	}
	return out, nil
}

func compare(path string, old, now any, changes *[]Change) {
	if reflect.DeepEqual(old, now) {
		return
	}
	a, aMap := old.(map[string]any)
	b, bMap := now.(map[string]any)
	if aMap && bMap {
		for _, key := range keysOf(a, b) {
			compare(joinKey(path, key), a[key], b[key], changes)
		}
		return
	}
	c, cList := old.([]any)
	d, dList := now.([]any)
	if cList && dList && (len(c) == len(d) || isObjects(c) && isObjects(d)) {
		for i := range max(len(c), len(d)) {
			compare(fmt.Sprintf("%s[%d]", path, i), at(c, i), at(d, i), changes)
		}
		return
	}
	*changes = append(*changes, Change{Path: path, Old: shown(old), New: shown(now)})
}

func keysOf(maps ...map[string]any) []string {
	var keys []string
	for _, m := range maps {
		for key := range m {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

func joinKey(path, key string) string {
	switch {
	case strings.ContainsAny(key, "./"):
		return path + "[" + key + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

func isObjects(list []any) bool {
	for _, item := range list {
		if _, ok := item.(map[string]any); !ok {
			return false
		}
	}
	return true
}

func at(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return nil
}

// shown is a value as JSON, on one line.
func shown(v any) string {
	if v == nil {
		return ""
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSpace(out.String())
}
