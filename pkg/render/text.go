// Package render turns verdicts, lists and timelines into text and JSON.
//
// It owns every word of a screen and the versioned JSON of -o json. It never fetches, judges or reads a clock: what it
// draws and the moment it draws for are arguments. Text of the cluster passes Line, so that nothing a Pod
// printed can steer a terminal.
//
// The JSON contract: one object {apiVersion: kubectl-work.dev/output/v1, kind, code, outcome, items[]}. Fields are added,
// never renamed or removed, within output/v1.
package render

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/duration"
)

// Line makes text of the cluster safe for one line of a terminal: control characters and escape sequences show as
// blanks or go.
func Line(text string) string {
	return strings.TrimRightFunc(clean(text, false), unicode.IsSpace)
}

// maxShown is how much of a line of output a screen that only explains shows, in characters; logs shows all of it.
const maxShown = 400

// Short is Line for a line of output, cut where it is too long to read.
func Short(text string) string {
	if len(text) > maxShown*utf8.UTFMax { // cleaning needs no more
		text = text[:maxShown*utf8.UTFMax]
	}
	runes := []rune(Line(text))
	if len(runes) <= maxShown {
		return string(runes)
	}
	return string(runes[:maxShown]) + "…"
}

func clean(text string, multiline bool) string {
	var out strings.Builder
	runes := []rune(text)
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case r == 0x1b:
			i = skipEscape(runes, i)
		case (r == '\n' || r == '\t') && multiline:
			out.WriteRune(r)
		case r == '\n' || r == '\t' || r == '\r':
			out.WriteByte(' ')
		case unicode.IsControl(r), r == 0x2028, r == 0x2029, unicode.Is(unicode.Bidi_Control, r):
		default:
			out.WriteRune(r)
		}
	}
	return out.String()
}

// skipEscape returns the index of the last rune of the escape sequence that starts at i: a control sequence (ESC [ …), a
// string (ESC ] … ended by BEL or ESC \), or two characters.
func skipEscape(runes []rune, i int) int {
	if i+1 >= len(runes) {
		return i
	}
	switch runes[i+1] {
	case '[':
		for j := i + 2; j < len(runes); j++ {
			if runes[j] >= 0x40 && runes[j] <= 0x7e {
				return j
			}
		}
		return len(runes) - 1
	case ']', 'P', 'X', '^', '_':
		for j := i + 2; j < len(runes); j++ {
			if runes[j] == 0x07 {
				return j
			}
			if runes[j] == 0x1b && j+1 < len(runes) && runes[j+1] == '\\' {
				return j + 1
			}
		}
		return len(runes) - 1
	}
	return i + 1
}

// Age is the time from since to now in kubectl's short form, "<unknown>" without a start. Negative ages are 0s.
func Age(since, now time.Time) string {
	if since.IsZero() || since.Unix() <= 0 {
		return "<unknown>"
	}
	return duration.HumanDuration(max(now.Sub(since), 0))
}
