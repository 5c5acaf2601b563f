package mapping

import (
	"bytes"
	"encoding/json"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
)

// Dropped lists the fields of a Job's spec that were sent and are not in the server's answer, in the order of their paths: a
// server that does not know a field, or has its feature off, leaves it out and says nothing. Fields that the server
// added, and values that it writes in another form, are no difference; neither are objects and lists that were sent empty.
func Dropped(sent, answer *batchv1.Job) ([]string, error) {
	before, err := specTree(sent)
	if err != nil {
		return nil, err
	}
	after, err := specTree(answer)
	if err != nil {
		return nil, err
	}
	return dropped(specPath, before, after), nil
}

func specTree(job *batchv1.Job) (any, error) {
	data, err := json.Marshal(job.Spec)
	if err != nil {
		return nil, fmt.Errorf("encode the spec of job/%s: %w", job.Name, err)
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return nil, fmt.Errorf("read the spec of job/%s: %w", job.Name, err)
	}
	return prune(tree), nil
}

// dropped lists the paths at and below path that answer lacks.
func dropped(path string, sent, answer any) []string {
	switch sent := sent.(type) {
	case map[string]any:
		there, is := answer.(map[string]any)
		if !is {
			return lost(path, len(sent) > 0 && answer == nil)
		}
		var paths []string
		for _, key := range keysOf(sent) {
			paths = append(paths, dropped(joinKey(path, key), sent[key], there[key])...)
		}
		return paths
	case []any:
		there, is := answer.([]any)
		if !is {
			return lost(path, len(sent) > 0 && answer == nil)
		}
		return droppedItems(path, sent, there)
	}
	return lost(path, sent != nil && answer == nil)
}

func lost(path string, is bool) []string {
	if !is {
		return nil
	}
	return []string{path}
}

// droppedItems compares lists. What has a name is held against what has it too; anything else against the item at its place,
// or any other: admission may have put items before it.
func droppedItems(path string, sent, answer []any) []string {
	var paths []string
	for i, item := range sent {
		here := fmt.Sprintf("%s[%d]", path, i)
		if name := nameOf(item); name != "" {
			paths = append(paths, dropped(here, item, named(answer, name))...)
			continue
		}
		missing := dropped(here, item, at(answer, i))
		for _, other := range answer {
			if len(missing) > 0 && len(dropped(here, item, other)) == 0 {
				missing = nil
			}
		}
		paths = append(paths, missing...)
	}
	if len(paths) == 0 && len(answer) < len(sent) {
		return []string{fmt.Sprintf("%s[%d]", path, len(answer))}
	}
	return paths
}

func nameOf(item any) string {
	object, _ := item.(map[string]any)
	name, _ := object["name"].(string)
	return name
}

func named(items []any, name string) any {
	for _, item := range items {
		if nameOf(item) == name {
			return item
		}
	}
	return nil
}
