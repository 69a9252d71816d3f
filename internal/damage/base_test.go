package damage_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/internal/damage/trial"
	"github.com/sessfix/sessfix/verify"
)

// TestLibraryClosers compares our closers with those of the client's own library, which were
// written down when the sessions were made. Only the words of an outcome that nobody knows are ours.
func TestLibraryClosers(t *testing.T) {
	paths, err := filepath.Glob(testdata + "/sessions/dsh/*.closers.json")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d files of closers, %v", len(paths), err)
	}
	closed := 0
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".closers.json")
		if !strings.Contains(name, ".v") {
			name += ".v0"
		}
		for _, ext := range []string{".jsonl", ".jsonl.zstd"} {
			data, err := os.ReadFile(filepath.Join(filepath.Dir(path), name+ext))
			if err != nil {
				continue // not shipped in this encoding
			}
			var want []json.RawMessage
			text, err := os.ReadFile(path)
			if err == nil {
				err = json.Unmarshal(text, &want)
			}
			if err != nil {
				t.Fatal(err)
			}
			tr, err := trial.Of(t.Context(), trial.Path+strings.TrimPrefix(ext, ".jsonl"), data)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if len(want) == 0 {
				if tr.Before.Verdict != verify.Clean {
					t.Errorf("%s%s: the library adds nothing, the verdict is %s", name, ext, tr.Before.Verdict)
				}
				continue
			}
			if !tr.Repaired() || len(tr.Plan.Closings) != len(want) {
				t.Errorf("%s%s: the library adds %d closers", name, ext, len(want))
				continue
			}
			for i, c := range tr.Plan.Closings {
				closed++
				if have := bytes.TrimSpace(c.Line); !bytes.Equal(wordless(t, have), wordless(t, want[i])) {
					t.Errorf("%s%s: closer %d is\n%s, the library's is\n%s", name, ext, i+1, have, want[i])
				}
			}
		}
	}
	if closed < 30 {
		t.Errorf("only %d closers were compared", closed)
	}
}

// wordless takes the text out of a result of unknown outcome.
func wordless(t *testing.T, line []byte) []byte {
	t.Helper()
	if !bytes.Contains(line, []byte(`"TOOL_OUTCOME_UNKNOWN"`)) {
		return line
	}
	i := bytes.Index(line, []byte(`"text":"`))
	j := bytes.Index(line[i+8:], []byte(`"}]`))
	if i < 0 || j < 0 {
		t.Fatalf("no text in %s", line)
	}
	return append(bytes.Clone(line[:i+8]), line[i+8+j:]...)
}

// TestHugeLine has a healthy record of 24 MB, which is too much to ship, and the same one torn.
func TestHugeLine(t *testing.T) {
	p, err := damage.NewPart(readBase(t, "tiny.v0.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	huge := strings.Repeat("a page that a tool read, ", 1<<20)
	if err := p.Do(damage.Step{Verb: "replace", Args: []string{"line", "4", "Ripe?", huge}}); err != nil {
		t.Fatal(err)
	}
	tr, err := trial.Of(t.Context(), trial.Path, p.Bytes())
	if err != nil || tr.Before.Verdict != verify.Clean || len(tr.Before.Findings) > 0 {
		t.Fatalf("%v, %d findings, %v", tr.Before.Verdict, len(tr.Before.Findings), err)
	}
	if err := p.Do(damage.Step{Verb: "cut", Args: []string{"line", "4", "at", "20000000"}}); err != nil {
		t.Fatal(err)
	}
	tr, err = trial.Of(t.Context(), trial.Path, p.Bytes())
	if err != nil || !tr.Repaired() {
		t.Fatalf("torn: %v", err)
	}
	if err := tr.Check(true); err != nil {
		t.Fatal(err)
	}
	if n := tr.Result.Account.Quarantined; n != 20000000 {
		t.Errorf("%d bytes are set aside", n)
	}
}

func readBase(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(testdata, "sessions/dsh", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestParse rejects recipes that do not say enough.
func TestParse(t *testing.T) {
	head := "what: w\nsource: s\nagent: dsh\nverdict: clean\n"
	for text, want := range map[string]string{
		head + "\nfrom x":                        "",
		head:                                     "begins with a healthy session",
		"verdict: clean\n\nfrom x":               "says what, source and agent",
		head + "verdict: broken\n\nfrom x":       "no verdict",
		head + "colour: red\n\nfrom x":           "unknown key",
		head + "verdict: repairable\n\nfrom x":   "says what its result is",
		head + "finding: TORN_TAIL 12\n\nfrom x": "no place",
		head + "\nfrom x\nreplace line 1 \"a":    "invalid syntax",
	} {
		_, err := damage.Parse("case", text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	p, err := damage.NewPart([]byte("{\"a\":1}\n{\"b\":2}\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"fly", "cut", "cut 99", "cut line 3 at 0", "glue 2", "torn-line 1 on 2", "replace line 1 x y", "drop-frame 1", "flip line 1 byte 99 bit 0"} {
		s, err := damage.ParseStep(step)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Do(s); err == nil {
			t.Errorf("%q is taken", step)
		}
	}
}
