package claude

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/provider"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

func TestRank(t *testing.T) {
	for v, want := range map[string]int{"2.1.328": 2_001_328, "1.0.128": 1_000_128, "2.0.76": 2_000_076, "2.1": 0, "2.1.x": 0, "": 0, "2.1.1000": 0} {
		if got, _ := format.RankOf(v); got != want {
			t.Errorf("%s is %d, want %d", v, got, want)
		}
	}
	if _, err := (Format{}).Dialect(format.Peek{}, "later"); err == nil {
		t.Error("a client that is no release is taken")
	}
	if _, err := format.ParseReactions(reactions); err != nil {
		t.Error(err)
	}
}

// A node or a side record is known; a record of another agent is not.
func TestDetect(t *testing.T) {
	for line, want := range map[string]format.Match{
		`{"parentUuid":null,"type":"user","uuid":"a","message":{}}`:         format.ByHeader,
		`{"type":"summary","summary":"s","leafUuid":"a"}`:                   format.ByHeader,
		`{"type":"queue-operation","operation":"enqueue","sessionId":"s"}`:  format.ByHeader,
		`{"type":"file-history-snapshot","messageId":"m","snapshot":{}}`:    format.ByHeader,
		`{"type":"session","version":3,"id":"a","timestamp":"t","cwd":"/"}`: format.No,
		`{"type":"user","message":"x","sessionId":"s"}`:                     format.No,
		`{"timestamp":"t","type":"session_meta","payload":{}}`:              format.No,
		`{"type":"message","id":"a","parentId":null}`:                       format.No,
		`[1]`: format.No,
	} {
		if got := (Format{}).Detect(format.Peek{Path: "x.jsonl", First: []byte(line), FirstLine: true}); got != want {
			t.Errorf("%s: %d, want %d", line, got, want)
		}
	}
	place := filepath.Join("h", ".claude", "projects", "-w", "11111111-2222-4333-8444-555555555555.jsonl")
	if (Format{}).Detect(format.Peek{Path: place}) != format.ByName {
		t.Error("the place of a transcript is not known")
	}
}

func TestPlaces(t *testing.T) {
	abs := func(parts ...string) string {
		p, _ := filepath.Abs(filepath.Join(parts...))
		return p
	}
	const id = "11111111-2222-4333-8444-555555555555"
	for _, c := range []struct{ path, root, id string }{
		{abs("r", "projects", "-w", id+".jsonl"), abs("r"), id},
		{abs("r", "projects", "-w", id, "subagents", "agent-a1b2.jsonl"), abs("r"), id},
		{abs("r", "projects", "-w", id, "subagents", "agent-acompact-a1b2.jsonl"), abs("r"), id},
		{abs("r", "projects", "-w", id, "subagents", "workflows", "wf_1", "agent-a1b2.jsonl"), abs("r"), id},
		{abs("r", "projects", "-w", id, "notes", "agent-a1b2.jsonl"), "", ""},
		{abs("r", "projects", "-w", "agent-a1b2.jsonl"), abs("r"), ""},
		{abs("r", "-w", id+".jsonl"), "", ""},
		{abs("r", "projects", "-w", "notes.jsonl"), "", ""},
	} {
		if root, got := placeOf(c.path); root != c.root || got != c.id {
			t.Errorf("%s: %q %q", c.path, root, got)
		}
	}
	env := func(m map[string]string) func(string) string { return func(k string) string { return m[k] } }
	if h := (Format{}).Homes(env(map[string]string{"CLAUDE_CONFIG_DIR": "/c", "HOME": "/h"})); len(h) != 1 || h[0] != filepath.Join("/c", "projects") {
		t.Errorf("%v", h)
	}
	if h := (Format{}).Homes(env(map[string]string{"HOME": "/h"})); len(h) != 1 || h[0] != filepath.Join("/h", ".claude", "projects") {
		t.Errorf("%v", h)
	}
}

// The registry is asked for the session of the file's name; keys beside the entries are not read.
func TestGuards(t *testing.T) {
	path, _ := filepath.Abs(filepath.Join("r", "projects", "-w", "11111111-2222-4333-8444-555555555555.jsonl"))
	g := (Format{}).Guards(path)
	if len(g) != 2 || g[0].Kind != format.Registry || g[0].Session != "11111111-2222-4333-8444-555555555555" || filepath.Base(g[0].Path) != "sessions" {
		t.Fatalf("%+v", g)
	}
	if !g[0].Entry("4711.json") || g[0].Entry("4711.abcdef.key") || g[0].Entry("x.json") {
		t.Error("entries are told wrongly")
	}
	o, ok := g[0].Owner("4711.json", []byte(`{"pid":4711,"sessionId":"s","procStart":"91795","pidDomain":"d"}`))
	if want := (format.Owner{PID: 4711, Session: "s", Start: "91795", Domain: "d"}); !ok || o != want {
		t.Errorf("%+v %v", o, ok)
	}
	for _, torn := range []string{"", `{"pid":47`, `{}`} {
		if _, ok := g[0].Owner("4711.json", []byte(torn)); ok {
			t.Errorf("%q is read", torn)
		}
	}
	if g := (Format{}).Guards("copy.jsonl"); g != nil {
		t.Errorf("a copy has guards: %+v", g)
	}
}

// decode decodes one record.
func decode(t testing.TB, line string) *format.Batch {
	t.Helper()
	return decodeBy(t, dialect{rank: firstUnwritten}.NewDecoder(format.Place{}), line)
}

func decodeBy(t testing.TB, d format.Decoder, line string) *format.Batch {
	t.Helper()
	m, err := scan.NewMachine(keys[:])
	if err != nil {
		t.Fatal(err)
	}
	buf := append([]byte(line), make([]byte, scan.Pad)...)
	if _, f := m.Value(buf, 0, len(line)); f.Cause != scan.OK {
		t.Fatalf("%s: %+v", line, f)
	}
	b := &format.Batch{}
	d.Decode(&session.Record{Span: session.Span{Len: int64(len(line))}, Raw: buf[:len(line)], Caps: m.Caps}, b)
	return b
}

// What the provider refuses is told, by the word that mends it.
func TestRefused(t *testing.T) {
	user := func(content string) string {
		return `{"type":"user","uuid":"a","message":{"role":"user","content":` + content + `}}`
	}
	answer := func(content string) string {
		return `{"type":"assistant","uuid":"a","message":{"id":"m","role":"assistant","content":` + content + `}}`
	}
	for _, c := range []struct{ line, where string }{
		{user(`"hello"`), ""}, {user(`""`), string(provider.EmptyText)}, {user(`" \n\t"`), string(provider.EmptyText)}, {user(`"\\n"`), ""}, {user(`null`), ""},
		{user(`[{"type":"text","text":""}]`), string(provider.EmptyText)}, {answer(`[{"type":"text","text":" "}]`), string(provider.EmptyAnswer)},
		{answer(`[{"type":"tool_use","id":"c","name":"n","input":{}}]`), ""}, {answer(`[{"type":"tool_use","id":"c","name":"n","input":[]}]`), string(provider.Input)},
		{answer(`[{"type":"tool_use","id":"c c","name":"n","input":{}}]`), string(provider.Name)}, {answer(`[{"type":"tool_use","id":"","name":"n","input":{}}]`), string(provider.Name)},
		{answer(`[{"type":"thinking","thinking":"","signature":"s"}]`), ""}, {answer(`[{"type":"thinking","thinking":"x"}]`), string(provider.Unsigned)},
		{user(`[{"type":"tool_result","tool_use_id":"c","content":"","is_error":true}]`), string(provider.EmptyError)},
		{user(`[{"type":"tool_result","tool_use_id":"c","content":[],"is_error":true}]`), string(provider.EmptyError)},
		{user(`[{"type":"tool_result","tool_use_id":"c","content":"","is_error":false}]`), ""},
		{user(`[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"c","content":"y"}]`), string(provider.ResultLast)},
		{user(`[{"type":"tool_result","tool_use_id":"c","content":"y"},{"type":"text","text":"x"}]`), ""},
		{user(`"\ud83d"`), string(provider.Surrogate)}, {user(`"\ud83d\ude00"`), ""}, {user(`"\\ud83d"`), ""}, {user(`"\ude00"`), string(provider.Surrogate)}, {user(`"\ud83dx"`), string(provider.Surrogate)},
	} {
		b := decode(t, c.line)
		where := ""
		for _, f := range b.Findings {
			if f.Code == finding.ProviderRejects {
				where += f.Where
			}
		}
		if where != c.where {
			t.Errorf("%s: %q, want %q", c.line, where, c.where)
		}
	}
}

func TestMillis(t *testing.T) {
	last := int64(0)
	for _, s := range []string{"2025-12-31T23:59:59.999Z", "2026-01-01T00:00:00Z", "2026-01-01T00:00:00.001Z", "2026-01-02T03:04:05.6Z", "2026-01-02T05:04:05.65+02:00", "2026-01-02T03:04:05.678Z", "2026-01-02T03:04:05.679999Z", "2026-10-02T03:04:05.678Z"} {
		v := millis([]byte(s))
		if v <= last {
			t.Errorf("%s sorts wrongly", s)
		}
		last = v
	}
	for _, s := range []string{"", "yesterday", "2026-01-01"} {
		if millis([]byte(s)) != 0 {
			t.Errorf("%q is a time", s)
		}
	}
}

// Decoding keeps nothing.
func TestAllocations(t *testing.T) {
	line := asked
	m, err := scan.NewMachine(keys[:])
	if err != nil {
		t.Fatal(err)
	}
	buf := append([]byte(line), make([]byte, scan.Pad)...)
	d := dialect{}.NewDecoder(format.Place{})
	b := &format.Batch{}
	r := &session.Record{}
	run := func() {
		m.Value(buf, 0, len(line))
		r.Raw, r.Caps = buf[:len(line)], m.Caps
		b.Reset()
		d.Decode(r, b)
	}
	run()
	if n := testing.AllocsPerRun(100, run); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}

// FuzzDecode: no record upsets the decoder, and each that is whole can be told anew.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(asked))
	f.Add([]byte(result(`{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"x"}]}`, `,"toolUseResult":{"a":1}`)))
	f.Add([]byte(`{"type":"system","subtype":"compact_boundary","uuid":"a","compactMetadata":{"preservedMessages":{"anchorUuid":"b","uuids":["c"]}}}`))
	f.Add([]byte(`{"message":{"content":"\ud83d"},"uuid":"a","uuid":"b","isSidechain":true}`))
	words := []string{format.NoContent, format.SideMark, format.OpenBorder, string(provider.EmptyText), string(provider.EmptyAnswer), string(provider.Input), string(provider.EmptyError), string(provider.ResultLast), string(provider.Surrogate), string(provider.ImageSize), string(provider.Unsigned), "orphan c", "rename c d"}
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.ContainsAny(data, "\n") {
			return
		}
		fd, err := read(data)
		if err != nil {
			return
		}
		m, _ := scan.NewMachine(keys[:])
		buf := append(bytes.Clone(data), make([]byte, scan.Pad)...)
		end, fault := m.Value(buf, 0, len(data))
		if fault.Cause != scan.OK || strings.TrimSpace(string(data[end:])) != "" {
			return
		}
		b := &format.Batch{}
		dialect{}.NewDecoder(format.Place{}).Decode(&session.Record{Raw: buf[:len(data)], Caps: m.Caps}, b)
		for _, w := range words {
			got, err := dialect{}.Retell(format.Retelling{Record: data, Mends: []string{w}, Parent: []byte(`{"uuid":"p"}`)})
			if err != nil {
				t.Fatalf("%q, %s: %v", data, w, err)
			}
			again, err := read(bytes.TrimSuffix(got, []byte("\n")))
			if err != nil {
				t.Fatalf("%q, %s: told anew as %q", data, w, got)
			}
			if string(again.Str(kUUID)) != string(fd.Str(kUUID)) {
				t.Fatalf("%q, %s: the id changed in %q", data, w, got)
			}
		}
	})
}
