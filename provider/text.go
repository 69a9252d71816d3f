package provider

import "bytes"

// Blank tells whether the inside of a JSON string, escapes as they are, is nothing but white space.
func Blank(s []byte) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
		case '\\':
			i++
			if i == len(s) || s[i] != 'n' && s[i] != 't' && s[i] != 'r' {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// Escapes finds the first escape, in JSON from at on, that is one half of a surrogate pair without the other, and the
// first that is U+0000; -1 where there is none.
func Escapes(raw []byte, at int) (lone, nul int) {
	lone, nul = -1, -1
	for at < len(raw) {
		i := bytes.Index(raw[at:], []byte(`\u`))
		if i < 0 {
			break
		}
		i += at
		// An even number of backslashes in front of it: this one escapes.
		n := 0
		for i-n-1 >= 0 && raw[i-n-1] == '\\' {
			n++
		}
		if n%2 == 1 {
			at = i + 2
			continue
		}
		at = i + 6
		switch half(raw[i:]) {
		case 0:
			if nul < 0 && bytes.HasPrefix(raw[i:], []byte(`\u0000`)) {
				nul = i
			}
		case 1:
			if i+6 <= len(raw) && half(raw[i+6:]) == 2 {
				at = i + 12
			} else if lone < 0 {
				lone = i
			}
		case 2:
			if lone < 0 {
				lone = i
			}
		}
	}
	return lone, nul
}

// half tells whether an escape is the first or the second half of a pair, 0 for neither.
func half(s []byte) int {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' || s[2] != 'd' && s[2] != 'D' {
		return 0
	}
	switch s[3] {
	case '8', '9', 'a', 'b', 'A', 'B':
		return 1
	case 'c', 'd', 'e', 'f', 'C', 'D', 'E', 'F':
		return 2
	}
	return 0
}
