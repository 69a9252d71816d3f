package export

import (
	"crypto/sha256"
	"encoding/hex"
	"unicode/utf8"
)

// pageText is what a session says, in the page's JSON.
type pageText string

// MarshalJSON writes it so that nothing in it can end the element that it stands in.
func (t pageText) MarshalJSON() ([]byte, error) { return appendPageText(nil, string(t)), nil }

// appendPageText appends a JSON string. All that HTML knows is escaped, and what a line ends with. A byte that is no UTF-8 becomes the
// surrogate DC00 + byte, which no text can hold, so that the page can show the byte.
func appendPageText[T string | []byte](dst []byte, s T) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			switch {
			case r == utf8.RuneError && n == 1:
				dst = append(append(dst, s[from:i]...), '\\', 'u', 'd', 'c', digits[c>>4], digits[c&15])
			case r == '\u2028' || r == '\u2029':
				dst = append(append(dst, s[from:i]...), '\\', 'u', '2', '0', '2', digits[r&15])
			default:
				i += n
				continue
			}
			i += n
			from = i
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' && c != 0x7f {
			i++
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		}
		i++
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}

// shortHash is the beginning of a text's hash.
func shortHash[T string | []byte](s T) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:4])
}
