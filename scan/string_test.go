package scan

import (
	"bytes"
	"testing"
)

// The wide loop and the portable one agree on every byte at every place of a long string, behind a
// backslash and without one. The other scan, byte by byte, is the yardstick.
func TestLongStrings(t *testing.T) {
	fast, slow := mustMachine(t, "s"), mustMachine(t, "s")
	for _, before := range []string{"", `\`, `\\`, `\\\`, `\n`, `é`, `\u00e9`} {
		for at := range 100 {
			for c := range 256 {
				text := `{"s":"` + string(bytes.Repeat([]byte("x"), at)) + before + string([]byte{byte(c)}) + string(bytes.Repeat([]byte("y"), 99-at)) + `"}`
				buf := append([]byte(text), make([]byte, Pad)...)
				end, f := fast.Value(buf, 0, len(text))
				want, g := slow.careful(buf, 0, len(text), false)
				if end != want || f != g {
					t.Fatalf("%q at %d: %d %+v, byte by byte %d %+v", before+string([]byte{byte(c)}), at, end, f, want, g)
				}
				if f.Cause == OK && (len(fast.Caps) != 1 || fast.Caps[0] != slow.Caps[0]) {
					t.Fatalf("%q at %d: captures %+v, byte by byte %+v", before+string([]byte{byte(c)}), at, fast.Caps, slow.Caps)
				}
			}
		}
	}
}
