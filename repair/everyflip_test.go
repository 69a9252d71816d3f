package repair_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/internal/damage/trial"
	"github.com/sessfix/sessfix/verify"
)

// TestEveryFlip turns every bit of a small compressed log, one at a time. A flip is either
// noticed, or provably without effect: all frames can be read, say the same as before, pass their
// check, and have a header that the client accepts. Every few bits the flipped log is repaired as
// well: it ends clean or refused, and no record of another frame is lost. To look for the one bit
// that is wrong costs a decode for each bit of the frame, hence small frames and not all repairs.
func TestEveryFlip(t *testing.T) {
	data := reframed(t, "tiny.v0.jsonl", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12")
	frames, err := damage.Frames(data)
	if err != nil || len(frames) != 12 {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	text := plain(t, data)
	step, repairs := 5, 7 // neither has a factor in common with 8, so that every place in a byte is met
	if os.Getenv("SESSFIX_EVERY_CUT") != "" {
		step, repairs = 1, 31
	}
	start := 0
	for n, frame := range frames {
		from := start
		start += len(frame)
		t.Run(fmt.Sprintf("frame %d", n+1), func(t *testing.T) {
			t.Parallel()
			others := recordsBut(t, frames, n)
			harmless, repaired, refused := 0, 0, 0
			for bit := 0; bit < 8*len(frame); bit++ {
				if bit >= 8*8 && bit%step != 0 {
					continue // of the frame's header every bit is met, whatever the step
				}
				flipped := bytes.Clone(data)
				at := from + bit/8
				flipped[at] ^= 1 << (bit % 8)
				what := fmt.Sprintf("byte %d (%d of its frame), bit %d", at, bit/8, bit%8)
				tr, err := trial.Look(t.Context(), trial.PackedPath, flipped)
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
				case verify.Refused:
					refused++
				default:
					repaired++
					if bit%repairs == 0 {
						flipRepaired(t, what, flipped, text, others)
					}
				}
			}
			t.Logf("%d bits: %d repairable, %d refused, %d without effect", 8*len(frame)/step, repaired, refused, harmless)
			// The bits of the window descriptor change nothing, nor does an offset into a run that
			// repeats itself; there is little else.
			if harmless > 24 {
				t.Errorf("%d flips had no effect, which is too many to believe", harmless)
			}
			if repaired == 0 {
				t.Error("no flip can be repaired")
			}
		})
	}
}

// flipRepaired repairs a flipped log and looks for the records of the other frames. What a frame
// says that fails its check is not true: no line may come out that the healthy log does not hold.
func flipRepaired(t *testing.T, what string, flipped, healthy []byte, others [][]byte) {
	t.Helper()
	tr, err := once(t.Context(), trial.PackedPath, flipped, true)
	if err != nil {
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
	for _, l := range out {
		made := slices.ContainsFunc(tr.Plan.Closings, func(c format.Closing) bool { return bytes.Equal(bytes.TrimSpace(c.Line), l) })
		if !made && !hasLine(healthy, l) {
			t.Fatalf("%s: damaged text came out as a record: %s", what, l)
		}
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
