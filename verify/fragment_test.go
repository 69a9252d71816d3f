package verify_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/sessfix/sessfix/format/all"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/store"
)

// known are fragments that look like records: an object inside of a record that could be one of its own.
var known = map[string]bool{
	`{"type":"reasoning","id":"rs_2","summary":[],"encrypted_content":"c2Vj"}`: true, // as the client's history has it too
}

// Of a record that is torn anywhere, no piece is taken for a record, whatever objects it holds.
func TestFragments(t *testing.T) {
	bare := filepath.Join(t.TempDir(), "rollout-2026-03-01T09-30-00-019d0002-1111-7222-8333-000000000020.jsonl")
	if err := os.WriteFile(bare, []byte(bareRollout), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, root := range []string{filepath.Join("..", "testdata", "sessions"), filepath.Dir(bare)} {
		fragmentsBelow(t, root)
	}
}

// bareRollout is one of codex before its records had an envelope.
const bareRollout = `{"id":"019d0002-1111-7222-8333-000000000020","timestamp":"2026-03-01T09:30:00.000Z","instructions":null}
{"type":"message","role":"user","content":[{"type":"input_text","text":"Rake the path."}]}
{"record_type":"state"}
{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"A rake."}],"encrypted_content":"c2Vj"}
{"type":"local_shell_call","id":"ls_1","call_id":"call_1","status":"completed","action":{"type":"exec","command":["rake","path"]}}
{"type":"function_call_output","call_id":"call_1","output":"{\"output\":\"done\",\"metadata\":{\"exit_code\":0}}"}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"It is raked."}]}
`

func fragmentsBelow(t *testing.T, root string) {
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		found, err := store.Open(t.Context(), []string{path}, store.Options{Formats: all.Formats()})
		if err != nil {
			return err
		}
		defer found.Close()
		for _, group := range found.Groups() {
			for _, s := range group {
				if s.Path == path && s.Dialect != nil && s.Medium == scan.Lines {
					t.Run(filepath.ToSlash(path[len(root)+1:]), func(t *testing.T) { t.Parallel(); fragments(t, s) })
					t.Run(filepath.ToSlash(path[len(root)+1:])+" glued", func(t *testing.T) { t.Parallel(); glued(t, s) })
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func fragments(t *testing.T, s store.Session) {
	data, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	framing := s.Dialect.Framing()
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	if len(lines) > 40 {
		lines = lines[:40]
	}
	for n, line := range lines {
		// Each place where an object or an array begins or ends, and some others.
		for cut := 1; cut < len(line); cut++ {
			if !bytes.ContainsAny(line[cut-1:cut+1], "{}[]") && cut%29 != 0 {
				continue
			}
			for _, piece := range [][]byte{line[:cut], line[cut:]} {
				sc, err := scan.New(t.Context(), bytes.NewReader(piece), int64(len(piece)), scan.Options{Medium: scan.Lines, Framing: framing})
				if err != nil {
					t.Fatal(err)
				}
				for sc.Next() {
					if r := sc.Record(); !known[string(r.Raw)] {
						t.Errorf("line %d, cut at %d: %.80q of it is taken for a record", n+1, cut, r.Raw)
					}
				}
			}
		}
	}
}

// A record behind the torn beginning of another one is found, whole, wherever that one is torn.
func glued(t *testing.T, s store.Session) {
	data, err := os.ReadFile(s.Path)
	if err != nil {
		t.Fatal(err)
	}
	framing := s.Dialect.Framing()
	if framing.Arrays {
		t.Skip("a record behind the beginning of an array may be its element")
	}
	lines := bytes.Split(bytes.TrimSpace(data), []byte("\n"))
	for n := 1; n+1 < len(lines) && n < 30; n++ {
		torn, next := lines[n], lines[n+1]
		for cut := 1; cut < len(torn); cut++ {
			if !bytes.ContainsAny(torn[cut-1:cut], "{}[]:,") && cut%29 != 0 {
				continue
			}
			text := append(bytes.Clone(torn[:cut]), next...)
			sc, err := scan.New(t.Context(), bytes.NewReader(text), int64(len(text)), scan.Options{Medium: scan.Lines, Framing: framing})
			if err != nil {
				t.Fatal(err)
			}
			if !sc.Next() || !bytes.Equal(sc.Record().Raw, next) || sc.Next() {
				t.Errorf("line %d, cut at %d: the record of line %d is not found behind it", n+1, cut, n+2)
			}
		}
	}
}
