package export

import (
	"strings"
	"unicode/utf8"

	"github.com/sessfix/sessfix/scan"
)

// unescape decodes the inside of a JSON string.
func unescape(inner []byte) string {
	text := string(scan.Unescape(nil, inner))
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	return text
}
