package mapping

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// maxInput bounds one file. The API server takes 3 MiB in one request; a file may hold several.
const maxInput = 16 << 20

// maxDocuments bounds the documents of one file, empty ones included.
const maxDocuments = 10_000

// chunk is a part of a file that is read on its own, so that an error in one hides nothing in the others.
type chunk struct {
	text         string
	line, column int // lines of the file before it, characters of its first line before it
}

// clean makes data text: no byte order mark, "\n" as line break, valid UTF-8.
func clean(data []byte) (string, *Problem) {
	if len(data) > maxInput {
		return "", &Problem{Message: fmt.Sprintf("the file has %d MiB, %d MiB is the most", len(data)>>20, maxInput>>20), Fix: "split it"}
	}
	if name := otherEncoding(data); name != "" {
		return "", &Problem{Line: 1, Column: 1, Message: "the file is encoded as " + name + ", UTF-8 is wanted", Fix: "save it as UTF-8"}
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	line, column := 1, 1
	for rest := data; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			return "", &Problem{
				Line: line, Column: column, Message: fmt.Sprintf("byte 0x%02X is not UTF-8", rest[0]),
				Fix: "save the file as UTF-8",
			}
		case (r < 0x20 && r != '\t' && r != '\n') || r == 0x7F:
			return "", &Problem{
				Line: line, Column: column, Message: fmt.Sprintf("control character U+%04X", r),
				Fix: `delete it, or write it as \x` + fmt.Sprintf("%02X", r) + " in double quotes",
			}
		case r == '\n':
			line, column = line+1, 1
		default:
			column++
		}
		rest = rest[size:]
	}
	return string(data), nil
}

// otherEncoding names a Unicode encoding that is not UTF-8, by its mark or by the zero bytes that ASCII text has in it.
func otherEncoding(data []byte) string {
	has := func(marks ...string) bool {
		for _, mark := range marks {
			if strings.HasPrefix(string(data[:min(4, len(data))]), mark) {
				return true
			}
		}
		return false
	}
	zero := func(i int) bool { return len(data) > 3 && data[i] == 0 }
	switch {
	case has("\xFF\xFE\x00\x00", "\x00\x00\xFE\xFF"), zero(0) && zero(1), zero(1) && zero(2) && zero(3):
		return "UTF-32"
	case has("\xFF\xFE"), zero(1) && zero(3):
		return "UTF-16 (little endian)"
	case has("\xFE\xFF"), zero(0) && zero(2):
		return "UTF-16 (big endian)"
	}
	return ""
}

// split cuts text at the lines that begin with "---". Such a line separates documents wherever it stands: YAML forbids
// it inside block and quoted text, and indented it is no separator.
func split(text string) []chunk {
	var chunks []chunk
	var current strings.Builder
	start, line := 0, 0
	flush := func() {
		chunks = append(chunks, jsonStream(chunk{text: current.String(), line: start})...)
		current.Reset()
	}
	for l := range strings.Lines(text) {
		if isSeparator(l) && current.Len() > 0 {
			// Directives (%YAML 1.1) belong to the document that follows.
			if before := current.String(); hasDirective(before) {
				current.WriteString(l)
				line++
				continue
			}
			flush()
			start = line
		}
		current.WriteString(l)
		line++
	}
	if current.Len() > 0 {
		flush()
	}
	return chunks
}

func isSeparator(line string) bool {
	rest, ok := strings.CutPrefix(line, "---")
	return ok && (rest == "" || strings.ContainsRune(" \t\n", rune(rest[0])))
}

// hasDirective says that text is nothing but directives and comments.
func hasDirective(text string) bool {
	found := false
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "%"):
			found = true
		case strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#"):
			return false
		}
	}
	return found
}

// jsonStream cuts a chunk that is JSON into its values.
func jsonStream(c chunk) []chunk {
	if trimmed := strings.TrimSpace(c.text); !strings.HasPrefix(trimmed, "{") || !strings.HasSuffix(trimmed, "}") {
		return []chunk{c}
	}
	var parts []chunk
	decoder := json.NewDecoder(strings.NewReader(c.text))
	line, column := c.line, 0
	for start := 0; len(parts) <= maxDocuments; {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			if strings.TrimSpace(c.text[start:]) == "" {
				return parts
			}
			return []chunk{c} // no JSON: YAML in flow style, or wrong, which the YAML parser says with a line
		}
		end := int(decoder.InputOffset())
		text := c.text[start:end]
		parts = append(parts, chunk{text: jsonAsYAML(text), line: line, column: column})
		line += strings.Count(text, "\n")
		if last := strings.LastIndexByte(text, '\n'); last >= 0 {
			column = utf8.RuneCountInString(text[last+1:])
		} else {
			column += utf8.RuneCountInString(text)
		}
		start = end
	}
	return parts
}

// jsonAsYAML replaces what valid JSON text may hold and the YAML parser does not take: surrogate pairs, the escape \/,
// and tabs, which JSON has between its values only.
func jsonAsYAML(text string) string {
	text = strings.ReplaceAll(text, "\t", " ")
	if !strings.Contains(text, `\u`) && !strings.Contains(text, `\/`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '\\' || i+1 >= len(text) {
			b.WriteByte(text[i])
			i++
			continue
		}
		if high, low := escapedUnit(text[i:]), escapedUnit(text[min(i+6, len(text)):]); utf16.IsSurrogate(high) {
			b.WriteRune(utf16.DecodeRune(high, low)) // U+FFFD for a half alone, as in Go's own decoder
			i += 6
			if utf16.DecodeRune(high, low) != utf8.RuneError {
				i += 6
			}
			continue
		}
		if text[i+1] != '/' {
			b.WriteByte('\\')
		}
		b.WriteByte(text[i+1])
		i += 2
	}
	return b.String()
}

// escapedUnit is the code unit of the escape \uXXXX that text begins with, 0 when it begins otherwise.
func escapedUnit(text string) rune {
	if len(text) < 6 || !strings.HasPrefix(text, `\u`) {
		return 0
	}
	unit, err := strconv.ParseUint(text[2:6], 16, 16)
	if err != nil {
		return 0
	}
	return rune(unit)
}
