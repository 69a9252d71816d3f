package export_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/export"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/toy"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
)

// mebibyte of text is said by each of these records.
const mebibyte = 1 << 20

// longLog writes a log of n messages, a mebibyte each.
func longLog(t *testing.T, tree bool, n int) string {
	path := filepath.Join(t.TempDir(), "long"+toy.Suffix)
	if tree {
		path = filepath.Join(t.TempDir(), "long"+toy.TreeSuffix)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	text := strings.Repeat("plums ", mebibyte/6)
	if !tree {
		fmt.Fprintln(w, `{"t":"head","v":0,"id":"long","cwd":"/srv"}`)
	}
	for i := range n {
		if tree {
			up := "null"
			if i > 0 {
				up = fmt.Sprintf(`"m%d"`, i-1)
			}
			fmt.Fprintf(w, `{"t":"%s","id":"m%d","up":%s,"text":"%s"}`+"\n", []string{"user", "say"}[i%2], i, up, text)
			continue
		}
		fmt.Fprintf(w, `{"t":"%s","n":%d,"at":%d,"text":"%s"}`+"\n", []string{"user", "say"}[i%2], i, i, text)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return path
}

// meter notes how much memory is in use while something is written.
type meter struct {
	io.Writer
	wrote, next int64
	most        uint64
}

func (m *meter) Write(p []byte) (int, error) {
	m.wrote += int64(len(p))
	if m.wrote >= m.next {
		m.next = m.wrote + mebibyte
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		m.most = max(m.most, s.HeapAlloc)
	}
	return len(p), nil
}

// What is told of a log is not kept: 48 MiB of text pass through half of that.
func TestMemoryIsBounded(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	const n = 48
	for _, tree := range []bool{false, true} {
		formats := []format.Format{toy.Format{}, toy.Tree{}}
		path := longLog(t, tree, n)
		found, err := store.Open(t.Context(), []string{path}, store.Options{Formats: formats})
		if err != nil || len(found.Sessions) != 1 {
			t.Fatal(err, found)
		}
		s, err := export.Open(t.Context(), found.Groups()[0], repair.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o := export.Options{Content: true}
		for name, write := range map[string]func(w io.Writer) error{
			"jsonl":    func(w io.Writer) error { return export.WriteJSONL(t.Context(), w, s, tool, o) },
			"markdown": func(w io.Writer) error { return export.WriteMarkdown(t.Context(), w, s, o) },
			"messages": func(w io.Writer) error {
				_, err := export.WriteMessages(t.Context(), w, s, "anthropic", o)
				return err
			},
		} {
			runtime.GC()
			m := &meter{}
			if err := write(m); err != nil {
				t.Fatal(err)
			}
			t.Logf("%s, tree %v: %d MiB written, %d MiB in use", name, tree, m.wrote/mebibyte, m.most/mebibyte)
			if m.wrote < n*mebibyte*99/100 {
				t.Errorf("%s, tree %v: only %d bytes were written", name, tree, m.wrote)
			}
			if m.most > n/2*mebibyte {
				t.Errorf("%s, tree %v: %d MiB of memory are in use", name, tree, m.most/mebibyte)
			}
		}
		s.Close()
	}
}
