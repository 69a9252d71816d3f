package export

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

// unescape decodes the inside of a JSON string.
func unescape(inner []byte) string { return valid(string(scan.Unescape(nil, inner))) }

func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// tidy makes sure that all text is text, and every input one JSON value.
func tidy(m *format.Message) {
	m.Title, m.ID, m.Model = valid(m.Title), valid(m.ID), valid(m.Model)
	tidyBlocks(m.Blocks)
}

func tidyBlocks(list []format.Block) {
	for i := range list {
		b := &list[i]
		b.Text, b.ID, b.Name, b.Media, b.Data, b.URL, b.Signature = valid(b.Text), valid(b.ID), valid(b.Name), valid(b.Media), valid(b.Data), valid(b.URL), valid(b.Signature)
		switch {
		case len(b.Input) == 0:
		case !json.Valid(b.Input):
			b.Text, b.Input = valid(string(b.Input)), nil
		case !utf8.Valid(b.Input):
			b.Input = []byte(valid(string(b.Input)))
		}
		tidyBlocks(b.Content)
	}
}

// visible shows what does not print, newlines and tabs left as they are: a terminal could take it for commands, and a reader be
// misled by text that runs the other way.
func visible(text string) string {
	plain := true
	for _, r := range text {
		if r != '\n' && r != '\t' && !strconv.IsPrint(r) && r != '\u00a0' {
			plain = false
			break
		}
	}
	if plain {
		return text
	}
	var b strings.Builder
	for _, r := range strings.ReplaceAll(text, "\r\n", "\n") {
		switch {
		case r == '\n', r == '\t', r == '\u00a0', strconv.IsPrint(r), r == '\u200d': // the last joins emoji
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}
