package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// Table writes rows under a header as kubectl does: columns left aligned, three blanks between them, no lines, nothing
// after the last word of a row. Cells pass Line. A nil header writes none.
func Table(w io.Writer, header []string, rows [][]string) error {
	var out bytes.Buffer
	left := tw.CellAlignment{Global: tw.AlignLeft}
	padding := tw.CellPadding{Global: tw.Padding{Left: tw.Empty, Right: "   ", Overwrite: true}}
	formatting := tw.CellFormatting{AutoFormat: tw.Off, AutoWrap: tw.WrapNone}
	table := tablewriter.NewTable(&out,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone, Symbols: tw.NewSymbols(tw.StyleNone),
			Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
		})),
		tablewriter.WithConfig(tablewriter.Config{
			Header: tw.CellConfig{Alignment: left, Padding: padding, Formatting: formatting},
			Row:    tw.CellConfig{Alignment: left, Padding: padding, Formatting: formatting},
		}),
		tablewriter.WithTrimSpace(tw.Off),
	)
	if header != nil {
		table.Header(header)
	}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = Line(cell)
		}
		if err := table.Append(cells); err != nil {
			return fmt.Errorf("write table: %w", err)
		}
	}
	if err := table.Render(); err != nil {
		return fmt.Errorf("write table: %w", err)
	}
	for line := range strings.Lines(out.String()) {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}
