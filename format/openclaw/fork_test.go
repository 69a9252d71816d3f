package openclaw

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

func TestNewID(t *testing.T) {
	id, err := Format{}.NewID(time.Time{}, bytes.NewReader(make([]byte, 16)))
	if err != nil || id != "00000000-0000-4000-8000-000000000000" {
		t.Errorf("%s, %v", id, err)
	}
	if _, err := (Format{}).NewID(time.Time{}, bytes.NewReader(make([]byte, 15))); err == nil {
		t.Error("an id without chance")
	}
}

// cutting asks for the child of a shipped session; taken are the lines of the way, from 1.
func cutting(t *testing.T, name string, line int64, taken ...int64) format.ForkRequest {
	t.Helper()
	path := filepath.Join("..", "..", "testdata", "sessions", "openclaw", "agents", "main", "sessions", name)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	d, err := Format{}.Dialect(format.Peek{Path: path, First: lines[0], FirstLine: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	way := map[int64]bool{1: true}
	for _, n := range taken {
		way[n] = true
	}
	return format.ForkRequest{
		Path: path, Dialect: d, ID: "child", Now: time.UnixMilli(1700000000000), Cut: format.Cut{Ref: session.Ref{N: line - 1}},
		Each: func(yield func(r *session.Record, taken bool) error) error {
			for i, l := range lines {
				if err := yield(&session.Record{N: int64(i), Raw: l}, way[int64(i)+1]); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func TestFork(t *testing.T) {
	q := cutting(t, "019e000a-1111-7222-8333-00000000000a.jsonl", 15, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15)
	c, err := Format{}.Fork(q)
	if err != nil || len(c.Files) != 1 || c.Files[0].Name != "child.jsonl" {
		t.Fatal(c, err)
	}
	abs, _ := filepath.Abs(q.Path)
	if c.Root != filepath.Dir(abs) {
		t.Errorf("it lies in %s", c.Root)
	}
	if note := c.Notes[len(c.Notes)-1]; !strings.HasSuffix(note, `"agent:main:forked:child":{"sessionId":"child","sessionFile":"child.jsonl","updatedAt":1700000000000}`) {
		t.Errorf("%q", c.Notes)
	}
	var b bytes.Buffer
	if err := c.Files[0].Write(&b); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	h, ok := Format{}.Inherits(format.Peek{Path: "child.jsonl", First: []byte(lines[0]), FirstLine: true})
	if !ok || h.Parent != abs || h.Records != -1 || len(lines) != 11 {
		t.Errorf("%+v, %d lines", h, len(lines))
	}
	if got := (Format{}).Ancestor(filepath.Join(c.Root, "child.jsonl"), h); got != abs {
		t.Errorf("its parent lies at %q", got)
	}
	if got := (Format{}).Root(q.Path); got != c.Root {
		t.Errorf("its root is %q", got)
	}
	if got := (Format{}).Root("notes.jsonl"); got != "" || (Format{}).Survey(format.Survey{}) != nil {
		t.Errorf("a file elsewhere has the root %q", got)
	}
	i := 0
	q.Each(func(r *session.Record, taken bool) error {
		if taken {
			if i > 0 && (lines[i] != string(r.Raw) || !(Format{}).Alike([]byte(lines[i]), r.Raw)) {
				t.Errorf("%s is not %s", lines[i], r.Raw)
			}
			i++
		}
		return nil
	})
	if _, ok := (Format{}).Inherits(format.Peek{Path: "/s/agents/main/sessions/sessions.json", First: []byte(lines[0])}); ok {
		t.Error("the index is somebody's child")
	}
}

func TestForkRefuses(t *testing.T) {
	const name = "019e000a-1111-7222-8333-00000000000a.jsonl"
	changed := func(change func(*format.ForkRequest)) format.ForkRequest {
		q := cutting(t, name, 11, 2, 3, 4, 5, 6, 7, 9, 10, 11)
		change(&q)
		return q
	}
	old, _ := Format{}.Dialect(format.Peek{First: []byte(`{"type":"session","version":2,"id":"x","timestamp":"2026-01-01T00:00:00.000Z"}`), FirstLine: true}, "")
	for why, q := range map[string]format.ForkRequest{
		"cut at that one": changed(func(*format.ForkRequest) {}),
		"index":           changed(func(q *format.ForkRequest) { q.Dialect = index{} }),
		"database":        changed(func(q *format.ForkRequest) { q.Path = "/s/openclaw-agent.sqlite#x" }),
		"openclaw doctor": changed(func(q *format.ForkRequest) { q.Dialect = old }),
		"is no id":        changed(func(q *format.ForkRequest) { q.ID = "a/b" }),
	} {
		var r *format.RefusedError
		if _, err := (Format{}).Fork(q); !errors.As(err, &r) || !strings.Contains(r.Why, why) {
			t.Errorf("%s: %v", why, err)
		}
	}
}
