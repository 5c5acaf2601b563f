package mapping

import (
	"fmt"
	"strings"
)

// is says what v is: "0123 is read as the number 83", "a list".
func (v *value) is() string {
	switch v.kind {
	case boolKind, numberKind:
		if v.raw != "" && v.raw != v.text {
			return v.raw + " is read as " + meaning{v.kind, v.text}.String()
		}
		return v.text + " is " + v.kind.String()
	case stringKind:
		return v.shown() + " is a string"
	case nullKind, listKind, objectKind:
	}
	return "this is " + v.kind.String()
}

// said is a scalar as it stands in the file, without quotes.
func (v *value) said() string {
	if v.raw != "" {
		return v.raw
	}
	return v.text
}

// shown is a scalar as it may stand in a message or in a list that is proposed.
func (v *value) shown() string {
	if v.kind == stringKind {
		return quoted(v.text)
	}
	return v.text
}

// unquote proposes to take the quotes away when that makes v one of what is wanted.
func unquote(v *value, wanted ...string) string {
	for _, w := range wanted {
		if v.kind == stringKind && v.raw == "" && v.text == w {
			return "take the quotes away: " + w
		}
	}
	return ""
}

// quoted is text in double quotes, escaped, cut to a length that fits a message.
func quoted(text string) string {
	const most = 80
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return fmt.Sprintf("%q", text)
}
