package mapping

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Manifest is an object as a person would write it, in JSON: no status, no nulls, none of the empty structs that the
// API types write although nobody set them.
func Manifest(object any) ([]byte, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	var tree map[string]any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	delete(tree, "status")
	if data, err = json.Marshal(prune(tree)); err != nil {
		return nil, fmt.Errorf("encode document: %w", err)
	}
	return data, nil
}
