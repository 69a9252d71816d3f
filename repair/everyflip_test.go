package repair_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/internal/damage/trial"
	"github.com/sessfix/sessfix/verify"
)

// TestEveryFlip turns every bit of a small compressed log, one at a time. A flip is either
// noticed, or provably without effect: all frames can be read, say the same as before, pass their
// check, and have a header that the client accepts. Whatever comes of it, no record of another
// frame is lost.
func TestEveryFlip(t *testing.T) {
	name := "stop-second-call.v0.jsonl.zstd"
	healthy := base(t, name)
	// The log ends in open calls, which would hide an unnoticed flip behind their own findings: it
	// is closed first.
	closed, err := trial.Of(t.Context(), trial.PackedPath, healthy)
	if err != nil || !closed.Repaired() {
		t.Fatalf("the base session does not close: %v", err)
	}
	data := closed.Out
	frames, err := damage.Frames(data)
	if err != nil || len(frames) < 4 {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	text := plain(t, data)
	step := 1
	if testing.Short() {
		step = 13
	}
	start := 0
	for n, frame := range frames {
		from := start
		start += len(frame)
		t.Run(fmt.Sprintf("frame %d", n+1), func(t *testing.T) {
			t.Parallel()
			others := recordsBut(t, frames, n)
			harmless, repaired, refused := 0, 0, 0
			for bit := 0; bit < 8*len(frame); bit += step {
				flipped := bytes.Clone(data)
				at := from + bit/8
				flipped[at] ^= 1 << (bit % 8)
				what := fmt.Sprintf("byte %d (%d of its frame), bit %d", at, bit/8, bit%8)
				tr, err := trial.Of(t.Context(), trial.PackedPath, flipped)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				if tr.Unknown {
					t.Fatalf("%s: not taken for a session any more", what)
				}
				switch tr.Before.Verdict {
				case verify.Clean:
					harmless++
					if !bytes.Equal(plain(t, flipped), text) || reserved(flipped[from:]) {
						t.Fatalf("%s: not noticed", what)
					}
					continue
				case verify.Refused:
					refused++
					continue
				}
				repaired++
				if err := tr.Check(false); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				out, err := trial.Lines(tr.Out)
				if err != nil {
					t.Fatalf("%s: %v", what, err)
				}
				for i, rec := range others {
					if !slices.ContainsFunc(out, func(l []byte) bool { return bytes.Equal(l, rec) }) {
						t.Fatalf("%s: record %d of the untouched frames is lost", what, i+1)
					}
				}
				if err := again(t.Context(), trial.PackedPath, bytes.Clone(flipped), tr, bit%5 == 0); err != nil {
					t.Fatalf("%s: %v", what, err)
				}
			}
			t.Logf("%d bits: %d repaired, %d refused, %d without effect", 8*len(frame)/step, repaired, refused, harmless)
			// The window descriptor and the content size have bits that change nothing.
			if harmless > len(frame)/4 {
				t.Errorf("%d flips had no effect, which is too many to believe", harmless)
			}
			if repaired == 0 {
				t.Error("no flip was repaired")
			}
		})
	}
}

// plain decodes a file that must be whole.
func plain(t *testing.T, data []byte) []byte {
	t.Helper()
	if _, err := damage.Frames(data); err != nil {
		t.Fatal(err)
	}
	text, err := damage.Unpack(data)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// reserved tells whether a frame's descriptor has bits that the client refuses.
func reserved(frame []byte) bool { return frame[4]&0x18 != 0 }

// recordsBut are the lines of all frames but one.
func recordsBut(t *testing.T, frames [][]byte, but int) [][]byte {
	t.Helper()
	var out [][]byte
	for i, f := range frames {
		if i != but {
			lines, err := trial.Lines(f)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, lines...)
		}
	}
	return out
}
