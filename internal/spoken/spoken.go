// Package spoken writes down what a record says, for tests.
package spoken

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/sessfix/sessfix/format"
)

// Words are messages in one line: for each its role, what is marked, its title, and its blocks.
func Words(list []format.Message) string {
	var out []string
	for _, m := range list {
		words := m.Role.String()
		for _, mark := range []struct {
			is   bool
			word string
		}{{m.For == format.ModelOnly, " (model)"}, {m.For == format.PeopleOnly, " (people)"}, {m.Stands, " stands"}, {m.Copy, " copy"}} {
			if mark.is {
				words += mark.word
			}
		}
		for _, s := range []string{m.Title, m.Model} {
			if s != "" {
				words += " <" + s + ">"
			}
		}
		out = append(out, words+": "+blocks(m.Blocks))
	}
	return strings.Join(out, " | ")
}

func blocks(list []format.Block) string {
	var out []string
	for _, b := range list {
		words := b.Kind.String()
		if b.Kind == format.Text {
			words = ""
		}
		for _, s := range []string{b.ID, b.Name, string(b.Input), b.Media, b.Data, b.URL, b.Signature} {
			if s != "" {
				words += " " + s
			}
		}
		for _, mark := range []struct {
			is   bool
			word string
		}{{b.Failed, " failed"}, {b.MadeUp, " made up"}, {b.Sealed, " sealed"}} {
			if mark.is {
				words += mark.word
			}
		}
		if b.Text != "" {
			words += " " + fmt.Sprintf("%q", b.Text)
		}
		if len(b.Content) > 0 {
			words += " [" + blocks(b.Content) + "]"
		}
		out = append(out, strings.TrimSpace(words))
	}
	return strings.Join(out, "; ")
}

// Fault says what no telling may do: text that is no UTF-8, an input that is no JSON, a message that says nothing and changes nothing.
func Fault(list []format.Message) string {
	for _, m := range list {
		if !utf8.ValidString(m.Title + m.ID + m.Model) {
			return "a message's title, id or model is no UTF-8"
		}
		if len(m.Blocks) == 0 && !m.Stands {
			return "a message says nothing"
		}
		if fault := blockFault(m.Blocks); fault != "" {
			return fault
		}
	}
	return ""
}

func blockFault(list []format.Block) string {
	for _, b := range list {
		switch {
		case !utf8.ValidString(b.Text + b.ID + b.Name + b.Media + b.Data + b.URL + b.Signature):
			return "a block's text is no UTF-8"
		case len(b.Input) > 0 && !json.Valid(b.Input):
			return "an input is no JSON"
		case len(b.Content) > 0 && b.Kind != format.Result:
			return "a block that is no result has content"
		}
		if fault := blockFault(b.Content); fault != "" {
			return fault
		}
	}
	return ""
}
