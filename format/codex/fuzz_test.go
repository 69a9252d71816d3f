package codex

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// fuzzSeeds are the lines of shipped rollouts, one of every beginning, else a few of every kind.
func fuzzSeeds(f *testing.F) [][]byte {
	var out [][]byte
	files, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "sessions", "codex", "*", "*.jsonl"))
	seen := map[string]bool{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, line := range bytes.Split(data, []byte("\n")) {
			_, kind, _ := bytes.Cut(line, []byte(`"type":`))
			kind = kind[:min(len(kind), 50)]
			if len(line) > 0 && len(line) < 2000 && !seen[string(kind)] && len(out) < 80 {
				seen[string(kind)] = true
				out = append(out, line)
			}
		}
	}
	for _, s := range []string{
		`{"timestamp":"2026-01-02T03:04:05.000Z","ordinal":7,"type":"compacted","payload":{"replacement_history":[{"type":"function_call","call_id":"a"},{"type":"function_call_output","call_id":"a"},7,[]]}}`,
		`{"timestamp":"2026-01-02T03:04:05.000Z","ordinal":7,"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":3}}`,
		`{"timestamp":"2026-01-02T03:04:05.000Z","ordinal":0,"type":"session_meta","payload":{"id":"` + thread + `","history_mode":"paginated","history_base":{"thread_id":"x","end_ordinal_exclusive":7,"end_byte_offset":99}}}`,
		`{"id":"` + thread + `","timestamp":"t"}`,
		`{"type":"local_shell_call","id":null,"call_id":"c"}`,
		`{"record_type":"state"}`,
	} {
		out = append(out, []byte(s))
	}
	return out
}

// pieces are put into lines.
var pieces = []string{`""`, `null`, `[]`, `{}`, `-1`, `9007199254740993`, `"ordinal":0,`, `"payload":{},`, `"call_id":"",`, `"type":"session_meta",`, `[{"type":"function_call","call_id":"x"}]`,
	`"replacement_history":[{"type":"function_call"}],`, `\u0000`, `"item":[],`, `"cwd":7,`, `"id":[1,`}

// FuzzDecode puts a line, as it is and bent, behind and in front of a header, and decodes it in each generation.
func FuzzDecode(f *testing.F) {
	for i, s := range fuzzSeeds(f) {
		f.Add(s, uint64(i))
	}
	f.Fuzz(func(t *testing.T, line []byte, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		for _, generation := range []string{bare, legacy, paginated} {
			begin := head(members)
			if generation == bare {
				begin = `{"id":"` + thread + `","timestamp":"t"}` + "\n"
			}
			text := bytes.Join([][]byte{[]byte(begin), line, {'\n'}, damage.Bend(rnd, line, pieces), {'\n'}, line}, nil)
			if rnd.IntN(2) == 0 {
				text = append(append(damage.Bend(rnd, line, pieces), '\n'), text...)
			}
			decodeSanely(t, text, generation)
		}
	})
}

// decodeSanely decodes a text, and holds what is said of it against its bounds.
func decodeSanely(t *testing.T, text []byte, generation string) {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	peek := format.Peek{Path: place, Line: first, First: first, FirstLine: true}
	Format{}.Detect(peek)
	Format{}.Title(peek)
	Format{}.Cites(first)
	Format{}.Dialect(peek, "")
	d := dialect{generation: generation, rank: 171_000}
	s, err := scan.New(context.Background(), bytes.NewReader(text), int64(len(text)), scan.Options{Medium: scan.Lines, Framing: d.Framing()})
	if err != nil {
		t.Fatal(err)
	}
	dec := d.NewDecoder(format.Place{Path: place})
	var b format.Batch
	sane := func(r *session.Record) {
		for _, e := range b.Events {
			for _, p := range []session.Sub{e.ID, e.Root, e.Call, e.Name} {
				if int(p.Off)+int(p.Len) > len(r.Raw) {
					t.Fatalf("%s: %q: an event names bytes %d to %d of %d", generation, r.Raw, p.Off, p.Off+p.Len, len(r.Raw))
				}
				if p.Off > 0 && (r.Raw[p.Off-1] != '"' || r.Raw[p.Off+p.Len] != '"') {
					t.Fatalf("%s: %q: %q is no inside of a string", generation, r.Raw, p.Of(r.Raw))
				}
			}
			if call := e.Kind == session.CallAsked || e.Kind == session.CallResult; call != (e.Class > 0) || call && e.Call.Len == 0 || e.Turn < 0 {
				t.Fatalf("%s: %q: %+v", generation, r.Raw, e)
			}
		}
		if int(b.Body.Off)+int(b.Body.Len) > len(r.Raw) || b.Body.Len > 0 && !json.Valid(b.Body.Of(r.Raw)) && r.Marks&session.Salvaged == 0 {
			t.Fatalf("%s: %q: the body is %+v", generation, r.Raw, b.Body)
		}
		for _, n := range b.Findings {
			if n.Off < 0 || n.End() > int64(len(text)) || n.TextEnd() > int64(len(text)) || n.Message == "" || strings.Contains(n.Message, "%!") {
				t.Fatalf("%s: %+v", generation, n)
			}
			for _, p := range n.Patches {
				if p.At < 0 || p.At+p.Del > int64(len(text))+1 {
					t.Fatalf("%s: %q: patch at %d, %d bytes", generation, r.Raw, p.At, p.Del)
				}
			}
		}
		if b.Numbered && (b.Seq < 0 || b.Count < 1 || generation != paginated) {
			t.Fatalf("%s: %q: number %d, %d of them", generation, r.Raw, b.Seq, b.Count)
		}
	}
	for s.Next() {
		b.Reset()
		r := s.Record()
		raw := bytes.Clone(r.Raw)
		dec.Decode(r, &b)
		if !bytes.Equal(raw, r.Raw) {
			t.Fatalf("%s: decoding changes %q to %q", generation, raw, r.Raw)
		}
		sane(r)
		n := finding.New(finding.SeqMissing)
		for _, p := range d.Mend("x", r, &n) {
			if p.At < 0 || p.At+p.Del > int64(len(r.Raw)) {
				t.Fatalf("%s: %q: mended at %d", generation, r.Raw, p.At)
			}
		}
		q := format.CloseRequest{Calls: []session.Call{{ID: "c", Class: function}}, Asked: [][]byte{raw}, Found: [][]byte{raw}}
		if lines, err := d.Close(q); r.Marks&session.Salvaged == 0 && (err != nil || !json.Valid(lines[0].Line)) {
			t.Fatalf("%s: %q: closed by %s, %v", generation, raw, lines, err)
		}
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	b.Reset()
	dec.End(&b)
	sane(&session.Record{})
}

// FuzzReheader writes a header of what remains of one. Whatever that is, the line is a header, or there is none.
func FuzzReheader(f *testing.F) {
	full := strings.TrimSuffix(head(members+`,"source":{"custom":["a",{"b":null}]},"base_instructions":{"text":"a\u00e9"},"history_base":{"thread_id":"x","end_ordinal_exclusive":7,"end_byte_offset":99}`), "\n")
	for n := 0; n <= len(full); n += 5 {
		f.Add([]byte(numbered("7", full)[:n]), uint64(n))
	}
	f.Add([]byte("{\"payload\":{\"cwd\":\"/w\",\x00\x00\x00\n"), uint64(0))
	f.Fuzz(func(t *testing.T, remains []byte, seed uint64) {
		generation, rest := legacy, settings+talks
		if seed%2 == 0 {
			generation, rest = paginated, numbered(fmt.Sprint(seed%9), settings)+numbered(fmt.Sprint(seed%9+1), talks)
		}
		path := place
		if seed%3 == 0 {
			path = "copy.jsonl"
		}
		dec, _ := decodeAll(t, generation, path, rest)
		line := dec.Reheader(remains)
		if line == nil {
			return
		}
		if !json.Valid(line) || !utf8.Valid(line) || bytes.ContainsRune(line, '\n') || len(line) > len(remains)+600 {
			t.Fatalf("%s: %q gives %q", generation, remains, line)
		}
		if again, found := decodeAll(t, generation, path, string(line)+"\n"+rest); len(found) > 0 || again.lost.Len > 0 {
			t.Fatalf("%s: %q gives %s: %+v", generation, remains, line, found)
		}
	})
}

// FuzzUpgrade: both steps take whatever comes, refuse with a reason, and give whole records that are numbered without a hole.
func FuzzUpgrade(f *testing.F) {
	f.Add(`{"id":"` + thread + `","timestamp":` + at + `}` + "\n" + `{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}`)
	f.Add(enveloped("session_meta", `{"id":"`+thread+`"}`) + "\n" + enveloped("event_msg", `{"type":"user_message","message":"x"}`) + "\n" +
		enveloped("event_msg", `{"type":"thread_rolled_back","num_turns":1}`))
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(text, "\n")
		for _, to := range []string{legacy, paginated} {
			k, err := upgraded(to, lines...)
			var r *format.RefusedError
			if err != nil && (!errors.As(err, &r) || r.Why == "") {
				t.Fatal(err)
			}
			for n, l := range k.lines {
				if !json.Valid([]byte(l)) {
					t.Fatalf("%s: no JSON: %s", to, l)
				}
				if f, err := read([]byte(l)); to == paginated && err == nil && f.Has(kOrdinal) {
					if v, ok := f.count(kOrdinal); !ok || v != int64(n) {
						t.Fatalf("line %d has number %d", n, v)
					}
				}
			}
		}
	})
}

// FuzzParts: taking apart ends, gives pieces in order, and those of whole JSON are whole.
func FuzzParts(f *testing.F) {
	f.Add(`{"a":{"b":[1,"x\"]"]},"c" : null }`)
	f.Add(`[1,{"a":2},"]"]`)
	f.Fuzz(func(t *testing.T, text string) {
		list, ok := parts([]byte(text), 0)
		at := 0
		for _, p := range list {
			if p.at < at || p.from < p.at || p.to <= p.from || p.to > len(text) {
				t.Fatalf("%+v", p)
			}
			at = p.to
			if json.Valid([]byte(text)) && !json.Valid([]byte(text[p.from:p.to])) {
				t.Fatalf("%q is no value", text[p.from:p.to])
			}
		}
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &object) == nil && object != nil && text[0] == '{' && (!ok || len(list) < len(object)) {
			t.Fatalf("%d members of %d", len(list), len(object))
		}
	})
}

// FuzzFork: whatever a rollout holds, its places are as many as its records, and the child of each is made of whole records that are
// numbered without a hole, or refused with a reason.
func FuzzFork(f *testing.F) {
	f.Add(lines(page(0, "session_meta", `{"id":"`+thread+`","history_mode":"paginated"}`), page(1, "event_msg", begun), page(2, "event_msg", ended)))
	f.Add(lines(enveloped("session_meta", `{"id":"`+thread+`"}`), enveloped("response_item", callItem), enveloped("response_item", user("x"))))
	f.Add(lines(`{"id":"`+thread+`","timestamp":`+at+`}`, answer))
	dir := f.TempDir() // empty
	f.Fuzz(func(t *testing.T, text string) {
		generation := []string{bare, legacy, paginated}[len(text)%3]
		d := dialect{generation: generation}
		n := int64(0)
		q := format.ForkRequest{Path: filepath.Join(dir, place), Dir: fstest.MapFS{place: {Data: []byte(text)}}, Dialect: d, ID: childID, Now: forkTime}
		if err := own(q).each(func(*session.Record) error { n++; return nil }); err != nil {
			return
		}
		q.Each = func(yield func(r *session.Record, taken bool) error) error {
			return own(q).each(func(r *session.Record) error { return yield(r, r.N < n/2) })
		}
		var no *format.RefusedError
		cuts, err := Format{}.Cuts(q)
		if err != nil && !errors.As(err, &no) || err == nil && int64(len(cuts)) != n {
			t.Fatal(err, len(cuts), n)
		}
		_, child, _, err := forked(q)
		if err != nil && !errors.As(err, &no) {
			t.Fatal(err)
		}
		if err != nil || n == 0 || !json.Valid([]byte(strings.ReplaceAll(text, "\n", " "))) && strings.Count(text, "\n") < 2 {
			return
		}
		for i, l := range strings.Split(strings.TrimSuffix(child, "\n"), "\n") {
			if f, err := read([]byte(l)); err == nil && generation == paginated && f.Has(kOrdinal) {
				if v, ok := f.count(kOrdinal); !ok || v != int64(i) {
					t.Fatalf("line %d has number %d", i, v)
				}
			}
		}
	})
}
