package scan

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// Unescape decodes the inside of a JSON string, without its quotes, and appends it to dst.
// Lone surrogates become U+FFFD. What is no escape of JSON is copied as it is.
func Unescape(dst, inner []byte) []byte {
	for {
		x := bytes.IndexByte(inner, '\\')
		if x < 0 || x+1 == len(inner) {
			return append(dst, inner...)
		}
		dst = append(dst, inner[:x]...)
		inner = inner[x:]
		if c := escapes[inner[1]]; c != 0 && c != 'u' {
			dst = append(dst, c)
			inner = inner[2:]
			continue
		}
		r, ok := escaped(inner)
		if !ok {
			dst = append(dst, '\\')
			inner = inner[1:]
			continue
		}
		inner = inner[6:]
		if utf16.IsSurrogate(r) {
			low, _ := escaped(inner)
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				inner = inner[6:]
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
}

// escaped reads a \uXXXX at the start of b.
func escaped(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		h := hexValue[c]
		if h < 0 {
			return 0, false
		}
		r = r<<4 | rune(h)
	}
	return r, true
}

// escapes gives what each byte behind a backslash stands for, 'u' for itself, 0 for no escape.
var escapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'u': 'u',
}

// hexValue gives the value of a hexadecimal digit, -1 for any other byte.
var hexValue = func() (t [256]int8) {
	for c := range t {
		switch {
		case '0' <= c && c <= '9':
			t[c] = int8(c - '0')
		case 'a' <= c && c <= 'f':
			t[c] = int8(c - 'a' + 10)
		case 'A' <= c && c <= 'F':
			t[c] = int8(c - 'A' + 10)
		default:
			t[c] = -1
		}
	}
	return t
}()
