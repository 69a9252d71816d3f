package pi

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// roles are those of messages.
var roles = map[string]bool{
	"user": true, "assistant": true, "toolResult": true, "system": true, "custom": true, "hookMessage": true, "bashExecution": true,
	"branchSummary": true, "compactionSummary": true,
}

// word is a type or role. One that is known but for bytes that are no UTF-8, or for what took their place, is mended:
// else the client takes the entry for one that it does not know.
func (d *decoder) word(r *session.Record, b *format.Batch, key int, known map[string]bool) string {
	text := d.f.Str(key)
	if known[string(text)] || ascii(text) {
		return string(text)
	}
	pure := bytes.Map(func(c rune) rune {
		if c == utf8.RuneError {
			return -1
		}
		return c
	}, text)
	if !known[string(pure)] {
		return string(text)
	}
	n := report(b, r, format.BadWord, fmt.Sprintf("the word %q has bytes in it that do not belong there: the client does not know it", pure))
	n.Repair = "the bytes are taken out of the word"
	c := d.f.At(key)
	n.Patches = []finding.Patch{{At: r.Text + int64(c.Off), Del: int64(c.Len), Ins: []byte(`"` + string(pure) + `"`)}}
	return string(pure)
}

func ascii(s []byte) bool {
	for _, c := range s {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
