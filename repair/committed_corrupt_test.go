package repair_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/format/all"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// texts are what the files below a folder say: of compressed ones what whole frames hold.
func texts(t *testing.T, dir string) (all [][]byte) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		text := data
		if frames, _ := damage.Frames(data); len(frames) > 0 {
			text = nil
			for _, f := range frames {
				if t, err := damage.Unpack(f); err == nil {
					text = append(text, t...)
				}
			}
		}
		all = append(all, text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// holds tells whether a record stands in texts: as a line of its own, or anyhow.
func holds(texts [][]byte, record []byte) (line, anyhow bool) {
	for _, text := range texts {
		anyhow = anyhow || bytes.Contains(text, record)
		for l := range bytes.Lines(text) {
			line = line || bytes.Equal(bytes.TrimRight(l, "\r\n"), record)
		}
	}
	return line, anyhow
}

// Of the damaged sessions that are shipped, before and after their repair: what is called committed stands there as a line, and
// what is called not committed stands nowhere, neither in the session nor in what the repair kept.
func TestCommittedCorrupt(t *testing.T) {
	paths, err := filepath.Glob("../testdata/corrupt/*.recipe")
	if err != nil || len(paths) < 100 {
		t.Fatalf("%d recipes, %v", len(paths), err)
	}
	seen := map[verify.Outcome]int{}
	for i, path := range paths {
		if testing.Short() && i%5 != 0 {
			continue
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".recipe")
		r, err := damage.Parse(name, string(text))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { committedCorrupt(t, r, seen) })
	}
	if seen[verify.Absent] == 0 || seen[verify.Stored] == 0 || seen[verify.Unsure] == 0 {
		t.Errorf("not all outcomes were seen: %v", seen)
	}
}

func committedCorrupt(t *testing.T, r *damage.Recipe, seen map[verify.Outcome]int) {
	dir, cases := t.TempDir(), t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../testdata/corrupt/"+r.Name)); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Hour)
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error { return os.Chtimes(path, past, past) })
	at := filepath.Join(dir, filepath.FromSlash(r.File))
	records := healthy(t, r)
	ask := func() {
		found, err := store.Open(t.Context(), []string{at}, store.Options{Formats: all.Formats()})
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		groups := found.Groups()
		if len(groups) != 1 {
			return // the file is nobody's, or two sessions'
		}
		now, kept := texts(t, dir), texts(t, cases)
		for i, record := range records {
			c, err := repair.Committed(t.Context(), groups[0], verify.Question{Record: record, Owner: nobody, Roots: found.Roots}, cases)
			if err != nil {
				t.Fatalf("record %d: %v", i+1, err)
			}
			seen[c.Outcome]++
			line, anyhow := holds(now, record)
			_, aside := holds(kept, record)
			switch {
			case c.Outcome == verify.Stored && !line && c.Where[0].Match == "bytes":
				t.Errorf("record %d is called committed, and does not stand there", i+1)
			case c.Outcome == verify.Absent && (anyhow || aside):
				t.Errorf("record %d is called not committed, and stands there (%t) or is kept by the repair (%t)", i+1, anyhow, aside)
			}
		}
	}
	ask()
	found, err := store.Open(t.Context(), []string{at}, store.Options{Formats: all.Formats()})
	if err != nil {
		t.Fatal(err)
	}
	groups := found.Groups()
	if len(groups) == 1 {
		_, err = repair.All(t.Context(), groups[0], repair.Options{CaseDir: cases, FS: lazy})
		if err != nil {
			t.Logf("not repaired: %v", err)
		}
	}
	found.Close()
	ask()
}

// healthy are some records of the session that a recipe damages.
func healthy(t *testing.T, r *damage.Recipe) (records [][]byte) {
	t.Helper()
	from := filepath.Join("../testdata", filepath.FromSlash(r.Steps[0].Args[0]))
	var files []string
	if r.Folder() {
		files = []string{from + "/updates.jsonl", from + "/chat_history.jsonl"}
	} else {
		files = []string{from}
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		p, err := damage.NewPart(data)
		if err != nil {
			t.Fatal(err)
		}
		step := 1 + len(p.Base)/6
		if testing.Short() {
			step = 1 + len(p.Base)/3
		}
		for i := len(p.Base) - 1; i > 0; i -= step {
			if json.Valid(p.Base[i]) && p.Base[i][0] == '{' {
				records = append(records, p.Base[i])
			}
		}
	}
	return records
}

// A record in another spelling is found by its values, and its bytes are not said to be there.
func TestCommittedSpelling(t *testing.T) {
	for _, file := range []string{"dsh/orchard.v0.jsonl", "claude-code/tiny.jsonl", "pi/tree.jsonl", ferryFile, "codex/legacy/rollout-2026-04-02T09-30-00-019d0002-1111-7222-8333-000000000002.jsonl", "grok/orchard/chat_history.jsonl"} {
		path := copied(t, file)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
			var v any
			d := json.NewDecoder(bytes.NewReader(line))
			d.UseNumber()
			if err := d.Decode(&v); err != nil {
				t.Fatal(err)
			}
			other, err := json.MarshalIndent(v, "", "")
			if err != nil {
				t.Fatal(err)
			}
			other = bytes.ReplaceAll(other, []byte("\n"), []byte(" "))
			got := asking(t, path, "", "", verify.Question{Record: other})
			if got.Outcome != verify.Stored || got.Where[0].Match != "values" {
				t.Errorf("%s line %d: %+v", file, i+1, got)
			}
		}
	}
}

// Whatever is given as a record, there is an answer, and what is called committed stands there.
func FuzzCommittedRecord(f *testing.F) {
	data, err := os.ReadFile("../testdata/sessions/dsh/tiny.v0.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for l := range bytes.Lines(data) {
		f.Add([]byte(l))
	}
	for _, s := range []string{"", "{}", "[]", "null", "{\"seq\":5}", "{\"type\":\"turn/end\",\"seq\":1e400}", "{\"a\":\"\\ud800\"}", "{\"a\":1}{\"b\":2}", "\x00", "\xff{}", strings.Repeat("[", 20000) + strings.Repeat("]", 20000), "{\"type\":\"x\",\"seq\":-0}", "{\"seq\":99999999999999999999}"} {
		f.Add([]byte(s))
	}
	dir := f.TempDir()
	path := filepath.Join(dir, "session.jsonl")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		f.Fatal(err)
	}
	found, err := store.Open(f.Context(), []string{path}, store.Options{Formats: all.Formats()})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(found.Close)
	f.Fuzz(func(t *testing.T, record []byte) {
		if record == nil {
			record = []byte{}
		}
		c, err := repair.Committed(t.Context(), found.Groups()[0], verify.Question{Record: record, Owner: nobody}, "")
		one := json.Valid(record) && !bytes.Contains(bytes.TrimSpace(record), []byte("\n")) && bytes.ContainsAny(bytes.TrimSpace(record)[:1], "{[")
		switch {
		case err != nil && one:
			// A parser that takes bytes which are no UTF-8 takes more than a record.
			if strings.ToValidUTF8(string(record), "") == string(record) && len(record) < 10_000 {
				t.Errorf("%q is a record: %v", record, err)
			}
		case err == nil && !one && len(record) < 10_000:
			t.Errorf("%q is no record: %+v", record, c)
		case err == nil && c.Outcome == verify.Stored && c.Where[0].Match == "bytes" && !bytes.Contains(data, bytes.TrimSpace(record)):
			t.Errorf("%q stands nowhere", record)
		}
	})
}
