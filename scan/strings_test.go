package scan

import (
	"bytes"
	"testing"
)

// All scans agree on every byte at every place of a long string, behind a backslash and without
// one. The careful one is the yardstick.
func TestLongStrings(t *testing.T) {
	fast, words, slow := mustMachine(t, "s"), mustMachine(t, "s"), mustMachine(t, "s")
	words.wide = false
	for _, before := range []string{"", `\`, `\\`, `\\\`, `\n`, `é`, `\u00e9`} {
		for at := range 100 {
			for c := range 256 {
				text := `{"s":"` + string(bytes.Repeat([]byte("x"), at)) + before + string([]byte{byte(c)}) + string(bytes.Repeat([]byte("y"), 99-at)) + `"}`
				buf := append([]byte(text), make([]byte, Pad)...)
				want, g := slow.careful(buf, 0, len(text), false)
				for _, m := range []*Machine{fast, words} {
					end, f := m.Value(buf, 0, len(text))
					if end != want || f != g {
						t.Fatalf("%q at %d: %d %+v, byte by byte %d %+v", before+string([]byte{byte(c)}), at, end, f, want, g)
					}
					if f.Cause == OK && (len(m.Caps) != 1 || m.Caps[0] != slow.Caps[0]) {
						t.Fatalf("%q at %d: captures %+v, byte by byte %+v", before+string([]byte{byte(c)}), at, m.Caps, slow.Caps)
					}
				}
			}
		}
	}
}
