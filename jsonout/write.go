package jsonout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Write writes a value as one JSON document and a newline, on many lines where it is indented.
// Characters that do not print are escaped, as JSON may: a terminal could take them for commands.
func Write(w io.Writer, v any, indent bool) error {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if indent {
		e.SetIndent("", " ")
	}
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escape(buf.Bytes()))
	return err
}

func escape(text []byte) []byte {
	for i := 0; ; {
		r, n := utf8.DecodeRune(text[i:])
		if n == 0 {
			return text
		}
		if r >= 0x80 && !strconv.IsPrint(r) {
			break
		}
		i += n
	}
	var out []byte
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		switch {
		case r < 0x80 || strconv.IsPrint(r):
			out = append(out, text[:n]...)
		case r > 0xFFFF:
			a, b := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, a, b)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		text = text[n:]
	}
	return out
}
