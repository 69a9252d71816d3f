package repair_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// A frame in which a wrong bit was turned back is believed, but where it takes intact messages out
// of the replay only on demand: nothing that failed its check hides what did not.
func TestRestoredFrameHidesNothing(t *testing.T) {
	files, _ := filepath.Glob("../testdata/sessions/dsh/*.v0.jsonl.zstd")
	tried := 0
	for _, path := range files {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		w := scan.NewFrameWalker(bytes.NewReader(data), int64(len(data)), nil)
		for {
			g, text, err := w.Next(nil)
			if err != nil {
				break
			}
			if g.Frame == 1 || g.Len > 2000 {
				continue
			}
			hides := bytes.Contains(text, []byte(`"op":"replace"`))
			damaged := bytes.Clone(data)
			damaged[g.Off+g.Len/2] ^= 0x04
			want := verify.Repairable
			if hides {
				tried++
				want = verify.Refused
			}
			if got := judged(t, path, damaged, nil); got.Verdict != want && !open(t, path, data) {
				t.Errorf("%s, frame %d: %s, want %s", path, g.Frame, got.Verdict, want)
			}
			if !hides {
				continue
			}
			in := input(t, path, damaged)
			in.Accept = map[finding.Code]bool{finding.FrameChecksum: true}
			res, err := verify.Session(t.Context(), in)
			if err != nil || res.Verdict != verify.Repairable {
				t.Fatalf("%s, frame %d, accepted: %v %v", path, g.Frame, res, err)
			}
			p, err := repair.MakePlan(t.Context(), in, res)
			if err != nil {
				t.Fatal(err)
			}
			r, err := p.Apply(bytes.NewReader(damaged), int64(len(damaged)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := repair.Prove(t.Context(), in, r); err != nil {
				t.Error(err)
			}
		}
		w.Close()
	}
	if tried == 0 {
		t.Error("no session has a frame that hides others")
	}
}

func input(t *testing.T, path string, data []byte) verify.Input {
	t.Helper()
	s, err := store.Recognise(context.Background(), path, bytes.NewReader(data), int64(len(data)), store.Options{Formats: []format.Format{dsh.Format{}}})
	if err != nil {
		t.Fatal(err)
	}
	return verify.InputOf(s, bytes.NewReader(data), int64(len(data)))
}

func judged(t *testing.T, path string, data []byte, accept map[finding.Code]bool) *verify.Result {
	t.Helper()
	in := input(t, path, data)
	in.Accept = accept
	res, err := verify.Session(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// open tells whether a session is refused for a reason of its own.
func open(t *testing.T, path string, data []byte) bool {
	return judged(t, path, data, nil).Verdict == verify.Refused
}
