package dsh_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/internal/damage"
)

// chain takes a log through stages, one behind the other, as migrate does.
type chain struct {
	stages []format.Stage
	out    bytes.Buffer
	lines  []format.Line // without their bytes
	drops  []string
	notes  []string
}

// link is the way from one stage to the next.
type link struct {
	c    *chain
	next int
}

func (k link) Put(l format.Line) error {
	if k.next < len(k.c.stages) {
		// A stage may not count on the bytes once its call is over.
		raw := bytes.Clone(l.Raw)
		err := k.c.stages[k.next].Record(format.Line{Raw: raw, N: l.N, Why: l.Why}, link{k.c, k.next + 1})
		for i := range raw {
			raw[i] = '!'
		}
		return err
	}
	if bytes.IndexByte(l.Raw, '\n') >= 0 {
		return errors.New("a record with a newline")
	}
	k.c.out.Write(append(bytes.Clone(l.Raw), '\n'))
	k.c.lines = append(k.c.lines, format.Line{N: l.N, Why: l.Why})
	return nil
}

func (k link) Drop(n int64, why string) { k.c.drops = append(k.c.drops, fmt.Sprintf("%d: %s", n, why)) }
func (k link) Note(n int64, text string) {
	k.c.notes = append(k.c.notes, fmt.Sprintf("%d: %s", n, text))
}

func sourceOf(log string) format.Source {
	return format.Source{Path: "session.jsonl", Medium: "lines", ID: "tide", Records: func() iter.Seq2[format.Line, error] {
		return func(yield func(format.Line, error) bool) {
			n := int64(0)
			for line := range strings.SplitSeq(strings.TrimSuffix(log, "\n"), "\n") {
				if !yield(format.Line{Raw: []byte(line), N: n}, nil) {
					return
				}
				n++
			}
		}
	}}
}

// upgrade takes a log from one generation to another. Where prepare is false it goes there as it is.
func upgrade(log string, from, to int, prepare bool) (*chain, error) {
	c := &chain{}
	src := sourceOf(log)
	if p, ok := any(dsh.Format{}).(format.Preparer); ok && prepare {
		stage, err := p.Prepare(context.Background(), src, strconv.Itoa(from), strconv.Itoa(to))
		if err != nil {
			return c, err
		}
		if stage != nil {
			c.stages = append(c.stages, stage)
		}
	}
	for _, u := range (dsh.Format{}).Upgrades() {
		if v, _ := strconv.Atoi(u.From); v < from || v >= to {
			continue
		}
		stage, err := u.Begin(src)
		if err != nil {
			return c, err
		}
		c.stages = append(c.stages, stage)
	}
	begin := link{c, 0}
	for l := range src.Records() {
		if err := begin.Put(l); err != nil {
			return c, err
		}
	}
	for i, s := range c.stages {
		if err := s.End(link{c, i + 1}); err != nil {
			return c, err
		}
	}
	return c, nil
}

// sample reads a shipped session.
func sample(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "sessions", "dsh", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// sameRecords compares two logs record by record, as JSON.
func sameRecords(t *testing.T, got, want string) {
	t.Helper()
	a, b := strings.Split(strings.TrimSpace(got), "\n"), strings.Split(strings.TrimSpace(want), "\n")
	for i := range min(len(a), len(b)) {
		var x, y any
		if err := json.Unmarshal([]byte(a[i]), &x); err != nil {
			t.Fatalf("record %d: %v\n%s", i, err, a[i])
		}
		if err := json.Unmarshal([]byte(b[i]), &y); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(x, y) {
			t.Fatalf("record %d\n got %s\nwant %s", i, a[i], b[i])
		}
	}
	if len(a) != len(b) {
		t.Fatalf("%d records, want %d", len(a), len(b))
	}
}

// TestUpgradeSamples: the sessions of versions 2 and 3 are what the published upgrade made of those of version 0.
func TestUpgradeSamples(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to int
	}{
		{"orchard", 0, 2}, {"orchard", 0, 3}, {"orchard", 2, 3}, {"orchard-fork", 0, 3}, {"tiny", 0, 3},
		{"stop-chunks", 0, 3}, {"stop-second-call", 0, 2}, {"stop-second-call", 2, 3},
	} {
		t.Run(fmt.Sprintf("%s %d %d", c.name, c.from, c.to), func(t *testing.T) {
			got, err := upgrade(sample(t, fmt.Sprintf("%s.v%d.jsonl", c.name, c.from)), c.from, c.to, true)
			if err != nil {
				t.Fatal(err)
			}
			sameRecords(t, got.out.String(), sample(t, fmt.Sprintf("%s.v%d.jsonl", c.name, c.to)))
			if len(got.drops)+len(got.notes) > 0 {
				t.Errorf("drops %v, notes %v, want none", got.drops, got.notes)
			}
		})
	}
}

// TestUpgradeKeepsBytes: a record in which nothing changes keeps its bytes, and one in which something does keeps the rest.
func TestUpgradeKeepsBytes(t *testing.T) {
	log := `{"version": 0, "type":"session","id":"tide","createdAt":7, "delegationDepth":0.0}` + "\n" +
		`{"type":"turn/start","seq":0,"time":1e1,"data": {"turn":1}}` + "\n" +
		`{"type":"step/start","seq":1,"time":9,"data":{"turn":1,"step":1}}` + "\n" +
		`{"type":"user/message","seq":2,"seq":2,"time":9,"data":{"role":"user","id":"m","content":[{"type":"text","text":"\u0065bb \ud83d\ude00"}],"source":{"kind":"user"}},"surfaceOp":"append"}` + "\n"
	want := `{"version": 3, "type":"session","id":"tide","createdAt":7, "delegationDepth":0.0,"isSeeded":false}` + "\n" +
		`{"type":"turn/start","seq":0,"time":1e1,"data": {"turn":1}}` + "\n" +
		`{"type":"step/start","seq":1,"time":9,"data":{"turn":1,"step":1}}` + "\n" +
		`{"type":"user/message","seq":2,"seq":3,"time":9,"data":{"role":"user","id":"m","content":[{"type":"text","text":"\u0065bb \ud83d\ude00"}],"source":{"kind":"user"}},"surfaceOp":"append"}` + "\n"
	c, err := upgrade(log, 0, 3, false)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(c.out.String(), "\n")
	got := strings.Join(append(lines[:3:3], lines[4:]...), "") // without the system message
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestUpgradeBeside(t *testing.T) {
	for _, c := range [][2]string{
		{"/r/--w--/s/session.jsonl", "/r/--w--/s/session.v3.jsonl"},
		{"/r/--w--/s/session.v1.jsonl.zstd", "/r/--w--/s/session.v3.jsonl.zstd"},
		{"orchard.v0.jsonl", "orchard.v3.jsonl"},
		{"log", "log.v3.jsonl"},
	} {
		if got := (dsh.Format{}).Upgrades()[2].Beside(c[0]); got != c[1] {
			t.Errorf("%s: %s, want %s", c[0], got, c[1])
		}
	}
}

// FuzzUpgrade: no record brings a step down, alone or behind others.
func FuzzUpgrade(f *testing.F) {
	for _, c := range migrations {
		f.Add([]byte(logOf(c.from, c.header, c.good)))
		f.Add([]byte(logOf(c.from, c.header, c.bad)))
	}
	f.Fuzz(func(t *testing.T, log []byte) {
		for from := range dsh.Newest {
			for _, prepare := range []bool{false, true} {
				c, err := upgrade(string(log), from, dsh.Newest, prepare)
				var refused *format.RefusedError
				if err != nil && (!errors.As(err, &refused) || refused.Why == "" || strings.Contains(refused.Why, "%!")) {
					t.Fatalf("from version %d: %v", from, err)
				}
				_ = c
			}
		}
	})
}

// said is all that is told of a log.
func (c *chain) said() []string {
	out := append(append([]string(nil), c.drops...), c.notes...)
	for _, l := range c.lines {
		if l.Why != "" {
			out = append(out, l.Why)
		}
	}
	return out
}

// prepareOnly mends a log and goes no further.
func prepareOnly(log string, from, to int) (*chain, error) {
	c := &chain{}
	src := sourceOf(log)
	stage, err := dsh.Format{}.Prepare(context.Background(), src, strconv.Itoa(from), strconv.Itoa(to))
	if err != nil || stage == nil {
		c.out.WriteString(log)
		return c, err
	}
	c.stages = append(c.stages, stage)
	for l := range src.Records() {
		if err := (link{c, 0}).Put(l); err != nil {
			return c, err
		}
	}
	return c, stage.End(link{c, 1})
}

// TestUpgradeBent: no line, however bent, brings a step down, and none makes it say something else than that it refuses.
func TestUpgradeBent(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 1))
	for _, u := range readRecipes(t) {
		for _, from := range u.from {
			lines := strings.SplitAfter(u.log(from), "\n")
			for i := range lines[:len(lines)-1] {
				bent := slices.Clone(lines)
				bent[i] = strings.ReplaceAll(string(damage.Bend(rnd, []byte(strings.TrimSpace(lines[i])), pieces)), "\n", " ") + "\n"
				for _, prepare := range []bool{false, true} {
					c, err := upgrade(strings.Join(bent, ""), from, dsh.Newest, prepare)
					var refused *format.RefusedError
					if err != nil && (!errors.As(err, &refused) || refused.Why == "" || strings.Contains(refused.Why, "%!")) {
						t.Fatalf("%s from version %d: %v\n%s", u.name, from, err, bent[i])
					}
					if !json.Valid([]byte(bent[i])) {
						continue // repair lets no such line through
					}
					for line := range strings.SplitSeq(strings.TrimSuffix(c.out.String(), "\n"), "\n") {
						if line != "" && !json.Valid([]byte(line)) {
							t.Fatalf("%s from version %d writes %s\nof %s", u.name, from, line, bent[i])
						}
					}
				}
			}
		}
	}
}

// TestUpgradeLong: many answers, each in many pieces, become one record each.
func TestUpgradeLong(t *testing.T) {
	var log strings.Builder
	log.WriteString(`{"type":"session","version":0,"id":"tide","createdAt":7,"delegationDepth":0}` + "\n")
	seq := 0
	put := func(typ, data, more string) {
		fmt.Fprintf(&log, `{"type":%q,"seq":%d,"time":9,"data":%s%s}`+"\n", typ, seq, data, more)
		seq++
	}
	const turns = 150
	piece := strings.Repeat("ebb and flow ", 40)
	for turn := 1; turn <= turns; turn++ {
		at := fmt.Sprintf(`"turn":%d,"step":1`, turn)
		put("turn/start", fmt.Sprintf(`{"turn":%d}`, turn), "")
		put("step/start", `{`+at+`}`, "")
		first := seq
		for range 20 {
			put("assistant/chunk", `{`+at+`,"chunk":{"type":"text-delta","index":0,"text":"`+piece+`"}}`, "")
		}
		var cites []string
		for i := first; i < seq; i++ {
			cites = append(cites, strconv.Itoa(i))
		}
		put("assistant/message", fmt.Sprintf(`{%s,"message":{"id":"m%d","role":"assistant","content":[],"source":{"kind":"model","provider":"p","model":"q"}}}`, at, turn),
			`,"surfaceOp":"append","sourceEventSeqs":[`+strings.Join(cites, ",")+`]`)
		put("step/end", `{`+at+`}`, "")
		put("turn/end", fmt.Sprintf(`{"turn":%d,"reason":{"kind":"completed"}}`, turn), "")
	}
	c, err := upgrade(log.String(), 0, 3, true)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(c.out.String(), "\n"); n != 1+1+turns*5 {
		t.Errorf("%d records, want %d", n, 2+turns*5)
	}
	if len(c.lines) != 2+turns*5 || c.lines[2].N != 2 || c.lines[3].N != -1 {
		t.Errorf("records come from %+v", c.lines[:6])
	}
}
