package report

import (
	"fmt"
	"path"
	"strings"
)

// uri is a path as reports for other programs name it: a reference that is relative where the path is, else one of the scheme
// file. Bytes that a reference may not hold are escaped one by one, so that names that are no UTF-8 survive as well.
func uri(name string, windows bool) string {
	if windows {
		name = strings.ReplaceAll(name, `\`, "/")
	}
	switch {
	case windows && strings.HasPrefix(name, "//"):
		return "file:" + escaped(name) // a share: its host stands where one belongs
	case windows && len(name) > 2 && name[1] == ':' && name[2] == '/':
		return "file:///" + name[:2] + escaped(path.Clean(name[2:]))
	case strings.HasPrefix(name, "/"):
		return "file://" + escaped(path.Clean(name))
	}
	return escaped(path.Clean(name))
}

// relative tells references that need a base.
func relative(ref string) bool { return !strings.HasPrefix(ref, "file:") }

// escaped leaves alone what a path may hold anywhere in a reference. A colon is not among it: in front it would end a scheme.
func escaped(name string) string {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~/+@=,", c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
