package scan

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"
	"unicode/utf8"
)

// slowStops tells the same as stops, a byte at a time.
func slowStops(text []byte) (ends, slashes []bool) {
	escaped := false
	for _, c := range text {
		end := c == '"' || c < 0x20
		if escaped {
			end = escapes[c] == 0 || c == 'u'
		}
		ends = append(ends, end)
		slashes = append(slashes, c == '\\')
		escaped = c == '\\' && !escaped
	}
	return ends, slashes
}

func checkStops(t *testing.T, text []byte) {
	t.Helper()
	ends, slashes := slowStops(text)
	buf := append(bytes.Clone(text), bytes.Repeat([]byte("\xFF"), Pad)...)
	var s stops
	s.reset()
	good := true
	bit := func(m []byte, i int) bool { return m[i/8]>>(i%8)&1 == 1 }
	for i := 0; i < len(text); i += chunk {
		good = s.fill(buf, i, len(text))
		for k := 0; k < int(s.size)+64; k++ {
			in := i+k < len(text) && k < chunk
			if got, want := bit(s.ends[:], k), in && ends[i+k] || !in && k < int(s.size); got != want {
				t.Fatalf("%.300q: byte %d ends the plain part: %v", text, i+k, got)
			}
			if got, want := bit(s.slashes[:], k), in && slashes[i+k]; got != want {
				t.Fatalf("%.300q: byte %d is a backslash: %v", text, i+k, got)
			}
		}
	}
	if good != utf8.Valid(text) {
		t.Fatalf("%.300q: UTF-8 is right: %v", text, good)
	}
}

var stopPieces = []string{"a", "plain text", `"`, `\`, `\\`, `\"`, `\u00e9`, `\x`, "\n", "\x00", "\x1F", " ", "\x7F", "é", "日本", "🚀",
	"\u0080", "\u07FF", "\u0800", "\uFFFF", "\U00010000", "\U0010FFFF", "\uD7FF", "\uE000", "\xFF", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
	"\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\x80", "\xC3", "\xE6\x97", "\xF0\x9F\x9A"}

func TestStops(t *testing.T) {
	if !hasAVX2 {
		t.Skip("this processor has no AVX2")
	}
	rng := rand.New(rand.NewSource(1))
	for _, good := range []bool{true, false} {
		for range 3000 {
			var text []byte
			for n := rng.Intn(90); n >= 0; n-- {
				piece := stopPieces[rng.Intn(len(stopPieces))]
				if !good || utf8.ValidString(piece) {
					text = append(text, piece...)
				}
			}
			// What is cut off in the last character shows in the byte behind it.
			checkStops(t, append(text, 'x'))
		}
	}
	for _, piece := range stopPieces {
		for at := range 200 {
			checkStops(t, []byte(string(bytes.Repeat([]byte("x"), at))+piece+"x"))
		}
		for at := chunk - 8; at < chunk+8; at++ {
			checkStops(t, []byte(string(bytes.Repeat([]byte("x"), at))+piece+"x"))
		}
	}
}

func FuzzStops(f *testing.F) {
	for _, piece := range stopPieces {
		f.Add([]byte(piece), uint16(60))
		f.Add([]byte(piece), uint16(chunk-2))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint16) {
		if !hasAVX2 {
			t.Skip("this processor has no AVX2")
		}
		text := append(bytes.Repeat([]byte("x"), int(at)%(2*chunk)), data...)
		checkStops(t, append(text, 'x'))
	})
}

// Values larger than a chunk come out the same from all three scans, wherever the chunks end in them.
func TestLargeValues(t *testing.T) {
	rng := rand.New(rand.NewSource(2))
	m := mustMachine(t, "a", "a.b", "a.b[]", "[]", "c", "c[]", "d", "*")
	text := func(n int) string { return string(benchText(rng, n)) }
	for round := range 300 {
		var b bytes.Buffer
		b.WriteString(`{"a":{"b":[`)
		for n := rng.Intn(1500); n > 0; n-- {
			fmt.Fprintf(&b, `"%s",`, text(1+rng.Intn(2)))
		}
		fmt.Fprintf(&b, `"%s"]},"%s":"%s","n":[`, text(rng.Intn(700)), text(1), text(rng.Intn(700)))
		for n := rng.Intn(3000); n > 0; n-- {
			fmt.Fprintf(&b, `%d,`, rng.Intn(1000))
		}
		b.WriteString(`7],"d":[`)
		for n := rng.Intn(1500); n > 0; n-- {
			fmt.Fprintf(&b, `"%s",`, bytes.TrimSpace(benchText(rng, 1)))
		}
		b.WriteString(`7],"c":[`)
		for n := rng.Intn(1500); n > 0; n-- {
			fmt.Fprintf(&b, `"%s",`, text(1))
		}
		fmt.Fprintf(&b, `{"x":"%s"}]}`, text(rng.Intn(700)))
		s := b.Bytes()
		if round%3 == 0 {
			s[rng.Intn(len(s))] = byte(rng.Intn(256))
		}
		if round%3 == 1 {
			s = s[:rng.Intn(len(s))]
		}
		judgeBoth(t, m, string(s))
	}
}
