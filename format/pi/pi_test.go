package pi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

const (
	place  = "no-such-directory/2026-01-01T00-00-00-000Z_s1.jsonl"
	head   = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}`
	treed  = `{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"t"}}`
	unided = `{"type":"message","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"t"}}`
)

func TestDetect(t *testing.T) {
	for _, c := range []struct {
		name, path, first string
		later             bool
		want              format.Match
	}{
		{"a header", "x.jsonl", head, false, format.ByHeader},
		{"a header that is not the first line", "x.jsonl", head, true, format.ByShape},
		{"a header without time", "x.jsonl", `{"type":"session","id":"s1","version":3,"cwd":"/w"}`, false, format.ByHeader},
		{"a header without id", "x.jsonl", `{"type":"session","timestamp":"2026-01-01T00:00:00.000Z"}`, false, format.ByHeader},
		{"a header with a number for id", "x.jsonl", `{"type":"session","id":7}`, false, format.ByHeader},
		{"a header of nothing", "x.jsonl", `{"type":"session"}`, false, format.No},
		{"dsh's header", "x.jsonl", `{"type":"session","version":0,"id":"x","createdAt":1,"delegationDepth":0}`, false, format.No},
		{"an entry of the tree", "x.jsonl", treed, false, format.ByShape},
		{"an entry without message", "x.jsonl", `{"type":"label","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z"}`, false, format.ByShape},
		{"an entry of generation 1", "x.jsonl", unided, false, format.ByShape},
		{"a type that is not known", "x.jsonl", strings.Replace(treed, `"message"`, `"odd"`, 1), false, format.No},
		{"another agent's entry", "x.jsonl", `{"type":"message","id":"a","payload":{}}`, false, format.No},
		{"an entry whose time is a number", "x.jsonl", `{"type":"message","id":"a","parentId":null,"timestamp":7,"message":{"role":"user"}}`, false, format.No},
		{"the name alone", place, "", false, format.ByName},
		{"the name, and something else", place, `{"x":1}`, false, format.ByName},
		{"the folder alone", "/h/.pi/agent/sessions/--w--/notes.jsonl", "", false, format.ByName},
		{"the folder, not a session", "/h/.pi/agent/sessions/--w--/notes.txt", "", false, format.No},
		{"another folder", "/h/.pi/agent/sessions/w/notes.jsonl", "", false, format.No},
		{"an id that ends in a dot", "2026-01-01T00-00-00-000Z_s1..jsonl", "", false, format.No},
		{"nothing", "x.jsonl", "", false, format.No},
		{"AgentHarness", "x.jsonl", `{"v":4,"kind":"header","id":"s1","storageVersion":1,"createdAt":1,"cwd":"/w"}`, false, format.ByHeader},
		{"AgentHarness, behind a line", "x.jsonl", `{"v":4,"kind":"header","id":"s1","storageVersion":1,"createdAt":1,"cwd":"/w"}`, true, format.ByShape},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (Format{}).Detect(format.Peek{Path: c.path, Line: []byte(c.first), First: []byte(c.first), FirstLine: !c.later}); got != c.want {
				t.Errorf("%d, want %d", got, c.want)
			}
		})
	}
}

func TestDialect(t *testing.T) {
	version := func(v string) string { return strings.Replace(head, `"version":3`, `"version":`+v, 1) }
	for _, c := range []struct{ name, first, client, want string }{
		{"3", head, "", "3"},
		{"3, an old release", head, "0.73.1", "3"},
		{"2", version("2"), "", "2"},
		{"2.5", version("2.5"), "", "2"},
		{"1", version("1"), "", "1"},
		{"0", version("0"), "", "1"},
		{"negative", version("-3"), "", "1"},
		{"none", strings.Replace(head, `"version":3,`, "", 1), "", "1"},
		{"null", version("null"), "", "1"},
		{"text", version(`"latest"`), "", "3"},
		{"a number in quotes", version(`"3"`), "", "3"},
		{"4", version("4"), "", "newer"},
		{"99", version("99"), "0.73.1", "newer"},
		{"3.5", version("3.5"), "", "newer"},
		{"no header, a tree", treed, "", "3"},
		{"no header, generation 1", unided, "", "1"},
		{"nothing", "", "", "3"},
		{"a release that is none", head, "new", "unknown client"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := Format{}.Dialect(format.Peek{Path: place, First: []byte(c.first), FirstLine: true}, c.client)
			got := ""
			var v *format.VersionError
			switch {
			case errors.As(err, &v) && v.Newer:
				got = "newer"
			case err != nil:
				got = "unknown client"
			default:
				got = d.Version()
			}
			if got != c.want {
				t.Errorf("%s, want %s: %v", got, c.want, err)
			}
		})
	}
	// What edits are for depends on the release.
	for client, want := range map[string]bool{"": true, "1.6.0": true, "0.87.0": true, "0.86.9": false, "0.73.1": false} {
		d, err := Format{}.Dialect(format.Peek{First: []byte(head), FirstLine: true}, client)
		if err != nil || d.(dialect).client.Edits != want {
			t.Errorf("%q: %+v, %v", client, d, err)
		}
	}
}

func TestTitle(t *testing.T) {
	for _, c := range []struct{ name, first, id, cwd, parent string }{
		{"whole", head, "s1", "/w", ""},
		{"a fork", strings.Replace(head, `"cwd"`, `"parentSession":"/p.jsonl","cwd"`, 1), "s1", "/w", "/p.jsonl"},
		{"no cwd", strings.Replace(head, `,"cwd":"/w"`, "", 1), "s1", "", ""},
		{"an entry", treed, "", "", ""},
		{"nothing", "", "", "", ""},
		{"torn", head[:60], "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := (Format{}).Title(format.Peek{Path: place, Line: []byte(c.first), First: []byte(c.first), FirstLine: true})
			if h.ID != c.id || h.CWD != c.cwd || h.Parent != c.parent {
				t.Errorf("%+v", h)
			}
		})
	}
}

// fuzzSeeds are lines of shipped sessions, one of every beginning, and a few more.
func fuzzSeeds(f *testing.F) [][]byte {
	var out [][]byte
	files, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "sessions", "pi", "*.jsonl"))
	seen := map[string]bool{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, line := range bytes.Split(data, []byte("\n")) {
			_, role, _ := bytes.Cut(line, []byte(`"role":`))
			kind := string(line[:min(len(line), 24)]) + string(role[:min(len(role), 14)])
			if len(line) > 0 && len(line) < 2000 && !seen[kind] && len(out) < 80 {
				seen[kind] = true
				out = append(out, line)
			}
		}
	}
	for _, s := range []string{
		head, treed, unided, `{}`, `{"type":"message","id":"a","parentId":"a"}`,
		`{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"toolCall","id":"","name":"sh"},7,[]],"stopReason":"length"}}`,
		`{"type":"message","id":"b","parentId":"a","timestamp":"x","message":{"role":"assistant","content":"t","usage":null}}`,
		`{"type":"message","id":"c","parentId":"b","timestamp":"2026-01-01T00:00:03.000Z","message":{"role":"toolResult","toolCallId":"","content":null,"details":{"sessfix":{}}}}`,
		`{"type":"compaction","id":"d","parentId":"c","firstKeptEntryId":"a","firstKeptEntryIndex":1}`,
		`{"type":"context_edit","id":"e","parentId":"d","targetId":"b","replacement":{"content":[{"type":"toolCall","id":"x"}]}}`,
		`{"type":"session","version":"x","id":[1]}`,
	} {
		out = append(out, []byte(s))
	}
	return out
}

// pieces are put into lines.
var pieces = []string{`""`, `null`, `[]`, `{}`, `-1`, `9007199254740993`, `"id":7,`, `"parentId":"",`, `"message":{},`, `"message":{"role":"toolResult"},`, `"toolCallId":"",`, `"type":"session",`,
	`"content":[{"type":"toolCall","id":"x"}],`, `[{"type":"toolCall"}]`, `\u0000`, `"usage":[],`, `"version":1e999,`, `"id":"\u0061",`, `"firstKeptEntryId":[],`, "\xff"}

// FuzzDecode puts a line, as it is and bent, behind and in front of a header, and decodes it in each generation.
func FuzzDecode(f *testing.F) {
	for i, s := range fuzzSeeds(f) {
		f.Add(s, uint64(i))
	}
	f.Fuzz(func(t *testing.T, line []byte, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		for _, version := range []string{"", `"version":2,`, `"version":3,`} {
			begin := strings.Replace(head, `"version":3,`, version, 1)
			text := bytes.Join([][]byte{[]byte(begin), line, damage.Bend(rnd, line, pieces), line}, []byte("\n"))
			if rnd.IntN(2) == 0 {
				text = append(append(damage.Bend(rnd, line, pieces), '\n'), text...)
			}
			decodeSanely(t, text)
		}
	})
}

// decodeSanely decodes a text, and holds what is said of it against its bounds.
func decodeSanely(t *testing.T, text []byte) {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	peek := format.Peek{Path: place, Line: first, First: first, FirstLine: true}
	Format{}.Detect(peek)
	Format{}.Title(peek)
	for _, client := range []string{"", "0.73.1"} {
		any, err := Format{}.Dialect(peek, client)
		d, ok := any.(dialect)
		if err != nil || !ok {
			d = dialect{generation: newest, client: Client{Rank: 1_006_000, Edits: true}}
		}
		s, err := scan.New(context.Background(), bytes.NewReader(text), int64(len(text)), scan.Options{Medium: scan.Lines, Framing: d.Framing()})
		if err != nil {
			t.Fatal(err)
		}
		dec := d.NewDecoder(format.Place{Path: place})
		var b format.Batch
		sane := func(r *session.Record) {
			for _, e := range b.Events {
				for _, p := range []session.Sub{e.ID, e.Call, e.Name} {
					if int(p.Off)+int(p.Len) > len(r.Raw) {
						t.Fatalf("%q: an event names bytes %d to %d of %d", r.Raw, p.Off, p.Off+p.Len, len(r.Raw))
					}
				}
			}
			l := b.Link
			for _, p := range []session.Sub{l.OwnAt, l.UpAt, l.PriorAt} {
				if int(p.Off)+int(p.Len) > len(r.Raw) || b.Linked && p.Len > 0 && r.Marks&session.Salvaged == 0 && !json.Valid(p.Of(r.Raw)) {
					t.Fatalf("%q: a reference is %+v", r.Raw, p)
				}
			}
			if int(l.PutAt) > len(r.Raw) || b.Stray && b.Linked {
				t.Fatalf("%q: %+v", r.Raw, l)
			}
			for _, n := range b.Findings {
				if n.Off < 0 || n.End() > int64(len(text)) || n.TextEnd() > int64(len(text)) || n.Message == "" || strings.Contains(n.Message, "%!") {
					t.Fatalf("%+v", n)
				}
				for _, p := range n.Patches {
					if p.At < 0 || p.At+p.Del > int64(len(text))+1 {
						t.Fatalf("%q: patch at %d, %d bytes", r.Raw, p.At, p.Del)
					}
				}
			}
		}
		for s.Next() {
			b.Reset()
			r := s.Record()
			raw := bytes.Clone(r.Raw)
			dec.Decode(r, &b)
			if !bytes.Equal(raw, r.Raw) {
				t.Fatalf("decoding changes %q to %q", raw, r.Raw)
			}
			sane(r)
			if len(b.Findings) == 1 && len(b.Findings[0].Patches) > 0 && r.Marks == 0 {
				f := b.Findings[0]
				mended, at := []byte(nil), int64(0)
				for _, p := range f.Patches {
					k := p.At - r.Text
					mended = append(append(mended, raw[at:k]...), p.Ins...)
					at = k + p.Del
				}
				if mended = append(mended, raw[at:]...); json.Valid(raw) && !json.Valid(mended) {
					t.Fatalf("%q is mended to %q", raw, mended)
				}
			}
			q := format.CloseRequest{SessionID: "s1", Leaf: []byte(`"l"`), Calls: []session.Call{{ID: "c", Name: "sh"}}, Asked: [][]byte{raw}, Unsaid: [][]byte{[]byte(`"u"`)}, Mark: true}
			lines, err := d.Close(q)
			if r.Marks&session.Salvaged == 0 && (err != nil || len(lines) != 3) {
				t.Fatalf("%q: closed by %d, %v", raw, len(lines), err)
			}
			for _, l := range lines {
				if !json.Valid(l.Line) || bytes.IndexByte(l.Line, '\n') != len(l.Line)-1 {
					t.Fatalf("%q: closed by %q", raw, l.Line)
				}
			}
		}
		if s.Err() != nil {
			t.Fatal(s.Err())
		}
		b.Reset()
		dec.End(&b)
		sane(&session.Record{})
		if h, ok := dec.(format.Reheader); ok {
			if line := h.Reheader(text); line != nil && (!json.Valid(line) || bytes.IndexByte(line, '\n') >= 0) {
				t.Fatalf("the header becomes %q", line)
			}
		}
	}
}

// The results that end a session: in order, under each other, a millisecond apart from the answer on, with ids that are the same
// each time and none that is taken.
func TestClose(t *testing.T) {
	d := dialect{generation: newest, client: Client{Rank: 1_006_000, Edits: true}}
	asked := []byte(`{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02.999Z","message":{"role":"assistant","content":[],"stopReason":"toolUse"}}`)
	length := bytes.Replace(asked, []byte("toolUse"), []byte("length"), 1)
	q := format.CloseRequest{SessionID: "s1", Leaf: []byte(`"b"`), Calls: []session.Call{{ID: "x", Name: "sh"}, {ID: "y", Name: "sh", Index: 1}}, Asked: [][]byte{asked, length}}
	out, err := d.Close(q)
	if err != nil || len(out) != 2 {
		t.Fatal(out, err)
	}
	up, ids := "b", []string{}
	for i, c := range out {
		var e struct {
			Type, ID, ParentID, Timestamp string
			Message                       struct {
				Role, ToolCallID, ToolName string
				IsError                    bool
				Timestamp                  int64
				Details                    struct {
					Sessfix struct {
						Code string
						V    int
					}
				}
			}
		}
		if err := json.Unmarshal(c.Line, &e); err != nil {
			t.Fatal(err)
		}
		code := []string{"TOOL_OUTCOME_UNKNOWN", "TOOL_NOT_STARTED"}[i]
		at := []string{"2026-01-01T00:00:03.000Z", "2026-01-01T00:00:03.001Z"}[i]
		m := e.Message
		if e.Type != "message" || e.ParentID != up || e.Timestamp != at || m.Timestamp != millis([]byte(at)) || !m.IsError || m.Role != "toolResult" ||
			m.ToolCallID != []string{"x", "y"}[i] || m.ToolName != "sh" || m.Details.Sessfix.Code != code || m.Details.Sessfix.V != 1 || c.Code != code || len(e.ID) != 8 {
			t.Errorf("%s", c.Line)
		}
		up, ids = e.ID, append(ids, e.ID)
	}
	if again, _ := d.Close(q); !bytes.Equal(again[1].Line, out[1].Line) {
		t.Errorf("%s, then %s", out[1].Line, again[1].Line)
	}
	q.Taken = func(id []byte) bool { return string(id) == `"`+ids[0]+`"` }
	if other, _ := d.Close(q); bytes.Contains(other[0].Line, []byte(`"id":"`+ids[0]+`"`)) {
		t.Errorf("a taken id: %s", other[0].Line)
	}
	q.SessionID = "s2"
	if other, _ := d.Close(q); bytes.Contains(other[1].Line, []byte(`"id":"`+ids[1]+`"`)) {
		t.Errorf("the id of another session: %s", other[1].Line)
	}
	// Of generation 1 entries have neither ids nor parents.
	q.Leaf = nil
	bare, _ := d.Close(q)
	for _, c := range bare[:1] { // pending: the second one names the first, which has no id
		if bytes.Contains(c.Line, []byte(`"parentId"`)) || bytes.HasPrefix(c.Line, []byte(`{"type":"message","id"`)) {
			t.Errorf("%s", c.Line)
		}
	}
}
