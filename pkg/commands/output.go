package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/yaml"
)

// format is the value of -o.
type format string

// The formats of commands that answer with an object.
const (
	formatText format = ""
	formatJSON format = "json"
	formatYAML format = "yaml"
	formatName format = "name"
	formatWide format = "wide"
)

const jsonPathPrefix = "jsonpath="

// checkFormat refuses a format that a command does not have.
func checkFormat(f format, allowed ...format) error {
	if slices.Contains(allowed, f) || f == formatText {
		return nil
	}
	for _, a := range allowed {
		switch {
		case a == jsonPathPrefix && strings.HasPrefix(string(f), jsonPathPrefix):
			_, err := jsonPathOf(f)
			return err
		case a == customColumnsPrefix && strings.HasPrefix(string(f), customColumnsPrefix):
			_, err := columnsOf(f)
			return err
		}
	}
	var names []string
	for _, a := range allowed {
		names = append(names, strings.TrimSuffix(string(a), "="))
	}
	return refuse("-o %s is not a format of this command; give one of: %s", f, strings.Join(names, ", "))
}

func jsonPathOf(f format) (*jsonpath.JSONPath, error) {
	template := strings.TrimPrefix(string(f), jsonPathPrefix)
	parser := jsonpath.New("-o").AllowMissingKeys(true)
	if err := parser.Parse(template); err != nil {
		return nil, refuse("-o %s: %v", f, err)
	}
	return parser, nil
}

// printObject writes an object in one of the machine formats.
func printObject(w io.Writer, f format, object any) error {
	data, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	switch {
	case f == formatJSON:
		var tree json.RawMessage = data
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "    ")
		encoder.SetEscapeHTML(false)
		return encoder.Encode(tree)
	case f == formatYAML:
		text, err := yaml.JSONToYAML(data)
		if err != nil {
			return fmt.Errorf("encode the answer: %w", err)
		}
		_, err = w.Write(text)
		return err
	case strings.HasPrefix(string(f), customColumnsPrefix):
		return printColumns(w, f, object)
	case strings.HasPrefix(string(f), jsonPathPrefix):
		parser, err := jsonPathOf(f)
		if err != nil {
			return err
		}
		var tree any
		if err := json.Unmarshal(data, &tree); err != nil {
			return fmt.Errorf("encode the answer: %w", err)
		}
		if err := parser.Execute(w, tree); err != nil {
			return refuse("-o %s: %v", f, err)
		}
		_, err = fmt.Fprintln(w)
		return err
	}
	return refuse("-o %s is not a format of this command", f)
}

// checkDryRun refuses a value of --dry-run that kubectl does not have.
func checkDryRun(value string) error {
	if !slices.Contains([]string{"none", "client", "server"}, value) {
		return refuse("--dry-run=%s: give none, client or server", value)
	}
	return nil
}
