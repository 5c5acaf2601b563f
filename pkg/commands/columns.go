package commands

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"github.com/kubectl-work/kubectl-work/pkg/render"
)

// customColumnsPrefix begins -o custom-columns=NAME:PATH,NAME:PATH, as in kubectl. A path is one into an item of -o json.
const customColumnsPrefix = "custom-columns="

// column is one of custom-columns.
type column struct {
	header string
	path   *jsonpath.JSONPath
}

// columnsOf reads custom-columns. Paths may leave out the braces and the first dot, as in kubectl.
func columnsOf(f format) ([]column, error) {
	var columns []column
	for part := range strings.SplitSeq(strings.TrimPrefix(string(f), customColumnsPrefix), ",") {
		header, path, found := strings.Cut(part, ":")
		if !found || header == "" || path == "" {
			return nil, refuse("-o %s: %q is not NAME:PATH; write it like custom-columns=JOB:.name,WHY:.verdict.reason", f, part)
		}
		path = strings.TrimSuffix(strings.TrimPrefix(path, "{"), "}")
		if !strings.HasPrefix(path, ".") && !strings.HasPrefix(path, "[") {
			path = "." + path
		}
		parser := jsonpath.New(header).AllowMissingKeys(true)
		if err := parser.Parse("{" + path + "}"); err != nil {
			return nil, refuse("-o %s: %s: %v", f, part, err)
		}
		columns = append(columns, column{header: header, path: parser})
	}
	return columns, nil
}

// printColumns writes a row an item of an Output. What an item does not have is <none>.
func printColumns(w io.Writer, f format, object any) error {
	columns, err := columnsOf(f)
	if err != nil {
		return err
	}
	data, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	var tree struct {
		Items []any `json:"items"`
	}
	if err := json.Unmarshal(data, &tree); err != nil {
		return fmt.Errorf("encode the answer: %w", err)
	}
	header := make([]string, len(columns))
	for i, c := range columns {
		header[i] = c.header
	}
	var rows [][]string
	for _, item := range tree.Items {
		row := make([]string, len(columns))
		for i, c := range columns {
			var cell bytes.Buffer
			if err := c.path.Execute(&cell, item); err != nil {
				return refuse("-o %s: %s: %v", f, c.header, err)
			}
			if row[i] = render.Line(cell.String()); row[i] == "" {
				row[i] = "<none>"
			}
		}
		rows = append(rows, row)
	}
	return render.Table(w, header, rows)
}
