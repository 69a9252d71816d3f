package cmd

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// What was said in the shipped damaged sessions, of every agent, stands in no report: not in those of a plan either, which may
// tell records again. Said is here what holds three words or more.
func TestNoTextOfTheSamplesIsShown(t *testing.T) {
	t.Chdir("..")
	views := [][]string{{"verify", "-v"}, {"verify", "--format", "github"}, {"repair", "-n", "-v"}, {"repair", "-n", "--json"}, {"repair", "-n", "--format", "sarif"}, {"repair", "-n", "--format", "junit"}}
	words := 0
	for _, path := range corruptCases(t) {
		said := saidIn(t, path)
		words += len(said)
		for _, v := range views {
			out, summary := runReport(t, append(v, path)...)
			for s := range said {
				if strings.Contains(out+summary, s) {
					t.Errorf("%s: %q shows %q", path, v, s)
				}
			}
		}
	}
	if words < 1000 {
		t.Errorf("only %d texts", words)
	}
}

// saidIn are the texts in the files of a session.
func saidIn(t *testing.T, dir string) map[string]bool {
	t.Helper()
	said := map[string]bool{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		for text := range bytes.Lines(unpacked(data)) {
			var v any
			if json.Unmarshal(text, &v) == nil {
				collect(v, said)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return said
}

// unpacked is the text of a file as far as its frames decode.
func unpacked(data []byte) []byte {
	if !frame(data) {
		return data
	}
	d, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return nil
	}
	defer d.Close()
	var out bytes.Buffer
	out.ReadFrom(d) // the rest is torn
	return out.Bytes()
}

// collect notes the strings of a value that hold three words, where sessfix did not write them itself. Of strings that hold
// JSON it looks at what is in them.
func collect(v any, said map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			collect(x, said)
		}
	case []any:
		for _, x := range v {
			collect(x, said)
		}
	case string:
		var inner any
		if json.Unmarshal([]byte(v), &inner) == nil {
			if _, ok := inner.(string); !ok {
				collect(inner, said)
				return
			}
		}
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); len(strings.Fields(line)) >= 3 && !strings.Contains(v, "sessfix") {
				said[line] = true
			}
		}
	}
}
