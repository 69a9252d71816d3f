package dsh_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// fuzzSeeds are the lines of shipped sessions, else a few of every kind.
func fuzzSeeds(f *testing.F) [][]byte {
	var out [][]byte
	files, _ := filepath.Glob(filepath.Join("..", "..", "testdata", "sessions", "dsh", "*.jsonl"))
	seen := map[string]bool{}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, line := range bytes.Split(data, []byte("\n")) {
			kind := string(line[:min(len(line), 28)])
			if len(line) > 0 && len(line) < 2000 && !seen[kind] && len(out) < 80 {
				seen[kind] = true
				out = append(out, line)
			}
		}
	}
	for _, s := range []string{
		`{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}}`,
		`{"type":"text-chunks","seq0":1,"time0":5,"data":{"turn":1,"step":1,"index":0,"dt":[1],"texts":["a","b"]}}`,
		`{"type":"assistant/message","seq":3,"time":4,"data":{"turn":1,"step":1,"message":{"id":"a","role":"assistant","content":[{"type":"tool-call","id":"","name":"x"}],"source":{"kind":"model","provider":"p","model":"m"}}},"surfaceOp":"append"}`,
		`{"type":"tool/result","seq":4,"time":4,"data":{"turn":1,"step":1,"message":{"id":"r","role":"user","source":{"kind":"tool","callId":"c"},"content":[{"type":"tool-result","toolCallId":"c"}]}},"surfaceOp":{"op":"replace","start":1,"end":3},"sourceEventSeqs":[1,[2,3]]}`,
		`{"type":"session","version":2,"id":"x","createdAt":1,"delegationDepth":0,"isSeeded":true}`,
	} {
		out = append(out, []byte(s))
	}
	return out
}

// pieces are put into lines.
var pieces = []string{`""`, `null`, `[]`, `{}`, `-1`, `9007199254740993`, `1e400`, `"seq":0,`, `"seq0":1,`, `"data":{},`, `"callId":"",`, `[[0,9007199254740991]]`, `"turn":-5,`, `[1,`, `\u0000`, `"type":"tool/result",`}

// FuzzDecode puts a line, as it is and bent, behind a healthy beginning, and decodes it in each version.
func FuzzDecode(f *testing.F) {
	for i, s := range fuzzSeeds(f) {
		f.Add(s, uint64(i))
	}
	f.Fuzz(func(t *testing.T, line []byte, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		begin := `{"type":"session","version":%d,"id":"x","createdAt":1,"cwd":"/w","delegationDepth":0}` + "\n" +
			`{"type":"user/message","seq":0,"time":2,"data":{"id":"u","role":"user","content":[],"source":{"kind":"user"}},"surfaceOp":"append"}` + "\n"
		for version := range dsh.Newest + 1 {
			text := []byte(fmt.Sprintf(begin, version))
			text = append(append(append(append(text, line...), '\n'), damage.Bend(rnd, line, pieces)...), '\n')
			if version%2 == 1 {
				text = append(append(bytes.Clone(line), '\n'), text...)
			}
			decodeAll(t, text, version)
		}
	})
}

func decodeAll(t *testing.T, text []byte, version int) {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	d, err := dsh.Format{}.Dialect(format.Peek{Path: "x", Line: first, First: first, FirstLine: true}, "")
	if err != nil {
		return
	}
	dsh.Format{}.Detect(format.Peek{Path: "x", Line: first, First: first, FirstLine: true})
	s, err := scan.New(context.Background(), bytes.NewReader(text), int64(len(text)), scan.Options{Medium: scan.Lines, Framing: d.Framing()})
	if err != nil {
		t.Fatal(err)
	}
	dec := d.NewDecoder(format.Place{Path: filepath.Join("sessions", "--w--", "x", "session.jsonl")})
	mender, _ := d.(format.Mender)
	var b format.Batch
	sane := func(r *session.Record) {
		for _, e := range b.Events {
			for _, p := range []session.Sub{e.ID, e.Call, e.Name} {
				if int(p.Off)+int(p.Len) > len(r.Raw) {
					t.Fatalf("version %d: %q: an event names bytes %d to %d of %d", version, r.Raw, p.Off, p.Off+p.Len, len(r.Raw))
				}
				if p.Off > 0 && (r.Raw[p.Off-1] != '"' || r.Raw[p.Off+p.Len] != '"') {
					t.Fatalf("version %d: %q: %q is no inside of a string", version, r.Raw, p.Of(r.Raw))
				}
			}
			if e.Turn < 0 || e.Step < 0 {
				t.Fatalf("version %d: %q: turn %d, step %d", version, r.Raw, e.Turn, e.Step)
			}
		}
		for _, n := range b.Findings {
			if n.Off < 0 || n.End() > int64(len(text)) || n.TextEnd() > int64(len(text)) || n.Message == "" || strings.Contains(n.Message, "%!") {
				t.Fatalf("version %d: %+v", version, n)
			}
			for _, p := range n.Patches {
				if p.At < 0 || p.At+p.Del > int64(len(text)) {
					t.Fatalf("version %d: %q: patch at %d, %d bytes", version, r.Raw, p.At, p.Del)
				}
			}
		}
		if b.Numbered && (b.Seq < 0 || b.Count < 1) {
			t.Fatalf("version %d: %q: number %d, %d of them", version, r.Raw, b.Seq, b.Count)
		}
	}
	for s.Next() {
		b.Reset()
		r := s.Record()
		raw := bytes.Clone(r.Raw)
		dec.Decode(r, &b)
		if !bytes.Equal(raw, r.Raw) {
			t.Fatalf("version %d: decoding changes %q to %q", version, raw, r.Raw)
		}
		sane(r)
		if mender != nil {
			n := finding.New(finding.EmptyCallID)
			for _, p := range mender.Mend("x", r, &n) {
				if p.At < 0 || p.At+p.Del > int64(len(r.Raw)) {
					t.Fatalf("version %d: %q: mended at %d", version, r.Raw, p.At)
				}
			}
		}
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	b.Reset()
	dec.End(&b)
	sane(&session.Record{})
}
