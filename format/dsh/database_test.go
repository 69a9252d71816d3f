package dsh

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/database"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

const rowHead = `{"type":"session","version":0,"id":"s1","createdAt":5,"cwd":"/w","delegationDepth":0}`

// chunkLine is a packed line of n members.
func chunkLine(seq int64, n int, texts string) string {
	dt := strings.TrimSuffix(strings.Repeat("2,", n-1), ",")
	list := strings.TrimSuffix(strings.Repeat(`"`+texts+`",`, n), ",")
	return fmt.Sprintf(`{"type":"text-chunks","seq0":%d,"time0":9,"data":{"turn":1,"step":1,"index":0,"dt":[%s],"texts":[%s]}}`, seq, dt, list)
}

// linesOf gives the lines of a text one by one.
func linesOf(text string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for line := range strings.Lines(text) {
			if !yield([]byte(strings.TrimSuffix(line, "\n")), nil) {
				return
			}
		}
	}
}

// written is a new database of a header and records.
func written(t *testing.T, header, records string) (string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sessions.db")
	return path, WriteDatabase(t.Context(), path, []byte(header), linesOf(records))
}

// read is the log of a session in a database.
func read(t *testing.T, path, id string) string {
	t.Helper()
	c, err := database.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	text, err := Format{}.Text(t.Context(), c, id)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// put runs statements on a database as somebody else would.
func put(t *testing.T, path string, list ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range list {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// meaning is a record with its members in one order.
func meaning(t *testing.T, line string) string {
	t.Helper()
	var v any
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	out, _ := json.Marshal(v)
	return string(out)
}

// Logs of the client come back byte for byte, but for the closers that it wrote itself: their members are in another order.
func TestDatabaseRoundTrip(t *testing.T) {
	samples, _ := filepath.Glob("../../testdata/sessions/dsh/*.v0.jsonl")
	exact, n := 0, 0
	for _, name := range samples {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		header, records, _ := strings.Cut(string(data), "\n")
		path, err := written(t, header, records)
		if strings.Contains(name, "two-writers") || strings.Contains(name, "overtaken") {
			if err == nil || !strings.Contains(err.Error(), "should stand") {
				t.Errorf("%s: two records of one number: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		h, _ := readHeader([]byte(header))
		n++
		got := read(t, path, h.text("id"))
		if got == string(data) {
			exact++
			continue
		}
		had, has := strings.Split(string(data), "\n"), strings.Split(got, "\n")
		if len(had) != len(has) {
			t.Errorf("%s: %d lines are %d", name, len(had), len(has))
			continue
		}
		for i := range had {
			if had[i] != has[i] && (meaning(t, had[i]) != meaning(t, has[i]) || !strings.Contains(had[i], `"interrupted-tool-result-`)) {
				t.Errorf("%s: line %d\n%s\n%s", name, i+1, had[i], has[i])
			}
		}
	}
	t.Logf("%d of %d byte for byte", exact, n)
	if n < 15 || exact < n-2 {
		t.Errorf("%d of %d logs come back byte for byte", exact, n)
	}
}

// ten is a log of ten numbers in six rows.
const ten = `{"type":"turn/start","seq":0,"time":6,"data":{"turn":1}}
{"type":"step/start","seq":1,"time":6,"data":{"turn":1,"step":1}}
{"type":"user/message","seq":2,"time":6,"data":{"id":"m1","role":"user","content":[],"source":{"kind":"user"}},"sourceEventSeqs":[1,0],"surfaceOp":"append"}
{"type":"text-chunks","seq0":3,"time0":7,"data":{"turn":1,"step":1,"index":0,"dt":[1,1,1,1],"texts":["a","b","c","d","e"]}}
{"type":"own/event","seq":8,"time":-7,"data":[1.50,"é\u0041"],"ignorable":true}
{"type":"step/end","seq":9,"time":6,"data":{"turn":1,"step":1}}
`

func sampleDatabase(t *testing.T) string {
	t.Helper()
	path, err := written(t, rowHead, ten)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Each row becomes one line. What the client cannot read becomes a line that is no record.
func TestDatabaseLines(t *testing.T) {
	lines := strings.Split(rowHead+"\n"+ten, "\n")
	zstdOf := func(text string) string {
		z, err := newSqueezer()
		if err != nil {
			t.Fatal(err)
		}
		defer z.close()
		return fmt.Sprintf("x'%x'", z.enc.EncodeAll([]byte(text), nil))
	}
	for _, c := range []struct{ what, set, seq, want string }{
		{"nothing", "", "0", lines[1]},
		{"compressed", "data = " + zstdOf(`{"turn":1}`), "0", lines[1]},
		{"blanks between tokens", "data = '{' || char(10) || '\"turn\":1,' || char(13) || '\"x\":[]}'", "0", `{"type":"turn/start","seq":0,"time":6,"data":{ "turn":1, "x":[]}}`},
		{"no list", "source_event_seqs = x''", "1", `{"type":"step/start","seq":1,"time":6,"data":{"turn":1,"step":1},"sourceEventSeqs":[]}`},
		{"a replacement", `surface_op = '{"op":"replace","start":1,"end":1}'`, "2", strings.Replace(lines[3], `"append"`, `{"op":"replace","start":1,"end":1}`, 1)},
		{"a tab inside of a text", "data = '[\"a' || char(9) || '\"]'", "0", `{"type":"turn/start","seq":0,"time":6,"data":["a` + "\t" + `"]}`},
		{"a type with quotes", `type = 'a"b\' || char(1)`, "0", `{"type":"a\"b\\\u0001","seq":0,"time":6,"data":{"turn":1}}`},
		{"no JSON", `data = '{"turn":'`, "0", `{"type":"turn/start","seq":0,"time":6,"data":its data is no JSON`},
		{"a record in the data", `data = '1},"x":{'`, "0", `{"type":"turn/start","seq":0,"time":6,"data":its data is no JSON`},
		{"a newline inside of a text", "data = '[\"a' || char(10) || '\"]'", "0", `{"type":"turn/start","seq":0,"time":6,"data":its data is no JSON`},
		{"a number", "data = 17", "0", `{"type":"turn/start","seq":0,"time":6,"data":its data is of the type integer`},
		{"no compressed data", "data = x'00'", "0", `{"type":"turn/start","seq":0,"time":6,"data":its data cannot be decompressed`},
		{"bytes that are no UTF-8, compressed", "data = " + zstdOf("\"\xff\""), "0", `{"type":"turn/start","seq":0,"time":6,"data":its data is no UTF-8`},
		{"a list that is none", "source_event_seqs = x'80'", "0", `{"type":"turn/start","seq":0,"time":6,"data":its source_event_seqs is no list of numbers`},
		{"a list as text", "source_event_seqs = '1'", "0", `{"type":"turn/start","seq":0,"time":6,"data":its source_event_seqs is no list of numbers`},
		{"surface_op that is no JSON", "surface_op = 'append'", "0", `{"type":"turn/start","seq":0,"time":6,"data":its surface_op is no JSON`},
		{"marked as packed", "ignorable = 0", "0", `{"type":"turn/start","seq":0,"time":6,"data":it is marked as packed, and its type is that of no packed row`},
		{"packed with a list", "source_event_seqs = x''", "3", `{"type":"text-chunks","seq":3,"time":7,"data":it is packed, and carries columns of an event`},
		{"packed, too short", `data = '{"turn":1,"step":1,"index":0,"dt":[1],"texts":["a","b"]}'`, "3", `{"type":"text-chunks","seq":3,"time":7,"data":it is packed, and has 2 members: the client takes 3 to 1024`},
		{"the start of a call", "type = 'tool/call', data = ''", "0", `{"type":"tool/call","seq":0,"time":6,"unreadable row: its data is no JSON":null}`},
		{"packed, the marker lost", "ignorable = null", "3", `{"type":"text-chunks","seq":3,"time":7,"data":{"turn":1,"step":1,"index":0,"dt":[1,1,1,1],"texts":["a","b","c","d","e"]}}`},
	} {
		path := sampleDatabase(t)
		if c.set != "" {
			put(t, path, "update events set "+c.set+" where seq = "+c.seq)
		}
		got := strings.Split(read(t, path, "s1"), "\n")
		if len(got) != len(lines) || !slices.Contains(got, c.want) {
			t.Errorf("%s: want %s in\n%s", c.what, c.want, strings.Join(got, "\n"))
		}
	}
}

// The header is as the JSONL backend writes it.
func TestDatabaseHeader(t *testing.T) {
	for _, h := range []string{
		`{"type":"session","version":0,"id":"s \"1\" é","createdAt":0,"delegationDepth":0}`,
		`{"type":"session","version":0,"id":"s","createdAt":7,"cwd":"/a","parentSession":"p","seedLength":3,"origin":"subagent","delegationDepth":2,"agentPreset":"code"}`,
	} {
		path, err := written(t, h, "")
		if err != nil {
			t.Fatal(err)
		}
		row, _ := readHeader([]byte(h))
		if got := read(t, path, row.text("id")); got != h+"\n" {
			t.Errorf("%s is %s", h, got)
		}
	}
	path := sampleDatabase(t)
	put(t, path, "update sessions set delegation_depth = null")
	if got := read(t, path, "s1"); !strings.HasPrefix(got, rowHead+"\n") {
		t.Errorf("%s", got)
	}
}

// What a database cannot hold is refused with its record, and no database is left.
func TestDatabaseRefused(t *testing.T) {
	event := func(members string) string { return `{"type":"turn/start","seq":0,"time":6,` + members + `}` }
	for _, c := range []struct {
		what, header, records, want string
		n                           int64
	}{
		{"version 2", `{"type":"session","version":2,"id":"s","createdAt":0,"isSeeded":false,"delegationDepth":0}`, "", "no column for the header member", 0},
		{"version 1", `{"type":"session","version":1,"id":"s","createdAt":0,"delegationDepth":0}`, "", "sessions of version 0 only", 0},
		{"a member of the header", `{"type":"session","version":0,"id":"s","createdAt":0,"delegationDepth":0,"mode":"x"}`, "", `header member "mode"`, 0},
		{"half a surrogate pair", `{"type":"session","version":0,"id":"s\ud800","createdAt":0,"delegationDepth":0}`, "", "header's id", 0},
		{"no header", `{"type":"event","version":0,"id":"s"}`, "", "no session header", 0},
		{"no JSON", rowHead, "garbage", "no JSON object", 1},
		{"two values", rowHead, event(`"data":1`) + event(`"data":1`), "no JSON object", 1},
		{"a member", rowHead, event(`"data":1,"extra":2`), `member "extra"`, 1},
		{"ignorable", rowHead, event(`"data":1,"ignorable":false`), "record's ignorable", 1},
		{"no data", rowHead, `{"type":"turn/start","seq":0,"time":6}`, "no type, number, time or data", 1},
		{"no whole time", rowHead, `{"type":"turn/start","seq":0,"time":6.5,"data":1}`, "record's time", 1},
		{"a range", rowHead, event(`"data":1,"sourceEventSeqs":[[0,3]]`), "record's sourceEventSeqs", 1},
		{"a hole", rowHead, event(`"data":1`) + "\n" + `{"type":"turn/start","seq":2,"time":6,"data":1}`, "the number 2, where 1", 2},
		{"a packed row of another kind", rowHead, `{"type":"turn/start","seq0":0,"time0":6,"data":{}}`, "packed row", 1},
		{"a packed row without members", rowHead, `{"type":"text-chunks","seq0":0,"time0":6,"data":{"turn":1,"step":1,"index":0,"dt":[],"texts":[]}}`, "taken apart", 1},
	} {
		path, err := written(t, c.header, c.records)
		refused, ok := err.(*format.RefusedError)
		if !ok || !strings.Contains(refused.Why, c.want) || refused.N != c.n {
			t.Errorf("%s: %v", c.what, err)
		}
		if left, _ := filepath.Glob(path + "*"); len(left) > 0 {
			t.Errorf("%s: %v", c.what, left)
		}
	}
	path := sampleDatabase(t)
	if err := WriteDatabase(t.Context(), path, []byte(rowHead), linesOf("")); !os.IsExist(err) {
		t.Errorf("over one that exists: %v", err)
	}
}

// Packed rows of other lengths than a database may hold are divided or taken apart, without a change of what they say.
func TestDatabasePacked(t *testing.T) {
	for _, c := range []struct {
		n     int
		text  string
		sizes []int // members of the rows, 0 for an event
	}{
		{1, "x", []int{0}}, {2, "x", []int{0, 0}}, {3, "x", []int{3}}, {1024, "x", []int{1024}}, {1026, "x", []int{1024, 0, 0}}, {2048, "x", []int{1024, 1024}},
		{5, strings.Repeat("é", 100_000), []int{5}}, {7, strings.Repeat("é", 100_000), []int{5, 0, 0}}, {4, strings.Repeat("y", 1<<20), []int{0, 0, 0, 0}},
	} {
		line := chunkLine(0, c.n, c.text)
		path, err := written(t, rowHead, line)
		if err != nil {
			t.Fatal(err)
		}
		var sizes []int
		texts, next, at := 0, int64(0), int64(9)
		for l := range strings.Lines(strings.TrimPrefix(read(t, path, "s1"), rowHead+"\n")) {
			r, err := recordOf([]byte(l), 1)
			if err != nil || r.seq != next || r.time != at {
				t.Fatalf("%d: %v: %d at %d, want %d at %d", c.n, err, r.seq, r.time, next, at)
			}
			var b struct {
				packedBody
				Chunk struct{ Type, Text string }
			}
			if err := json.Unmarshal(r.data, &b); err != nil {
				t.Fatal(err)
			}
			if !r.seq0 && (b.Chunk.Type != "text-delta" || b.Chunk.Text != c.text) {
				t.Errorf("%d: %.100s", c.n, l)
			}
			sizes = append(sizes, len(b.Texts))
			members := max(len(b.Texts), 1)
			texts, next, at = texts+members, next+int64(members), at+2*int64(members)
		}
		if !slices.Equal(sizes, c.sizes) || texts != c.n {
			t.Errorf("%d members are %v", c.n, sizes)
		}
	}
	call := `{"type":"tool-call-chunks","seq0":0,"time0":9,"data":{"turn":1,"step":2,"index":3,"dt":[-1],"id":"c","name":"n","args":["{","}"]}}`
	path, err := written(t, rowHead, call)
	if err != nil {
		t.Fatal(err)
	}
	want := rowHead + `
{"type":"assistant/chunk","seq":0,"time":9,"data":{"turn":1,"step":2,"chunk":{"type":"tool-call-delta","index":3,"id":"c","name":"n","argumentsDelta":"{"}}}
{"type":"assistant/chunk","seq":1,"time":8,"data":{"turn":1,"step":2,"chunk":{"type":"tool-call-delta","index":3,"id":"c","name":"n","argumentsDelta":"}"}}}
`
	if got := read(t, path, "s1"); got != want {
		t.Errorf("%s", got)
	}
}

// A database of another schema is not looked at, and is told by what is wrong with it.
func TestDatabaseExact(t *testing.T) {
	for _, c := range []struct{ what, do, want string }{
		{"as it should be", "pragma optimize", ""},
		{"statistics", "analyze", ""},
		{"another schema", "pragma user_version = 14", "schema 14 of the database is not known"},
		{"another application", "pragma application_id = 7", "application id is 7"},
		{"an index", "create index i on events (time)", `the index "i" is no part of schema 17`},
		{"a view", "create view v as select 1", `the view "v" is no part`},
		{"a trigger", "create trigger z after delete on events begin select 1; end", `the trigger "z" is no part`},
		{"a table", "create table extra (x)", `the table "extra" is no part`},
		{"no table", "drop table persistence_state", `no table "persistence_state"`},
		{"a column", "alter table sessions add column x text", `the table "sessions" is another one`},
		{"an id that is none", "update persistence_state set store_id = 'x'", "no UUID"},
		{"no id", "delete from persistence_state", "the database's own id"},
	} {
		path := sampleDatabase(t)
		put(t, path, c.do)
		db, err := database.Open(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		list, err := Format{}.List(t.Context(), db)
		db.Close()
		if c.want == "" && (err != nil || len(list) != 1) || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v %v", c.what, list, err)
		}
	}
}

// Rows that the client refuses are listed for what they are.
func TestDatabaseList(t *testing.T) {
	path := sampleDatabase(t)
	put(t, path, "pragma foreign_keys = off; insert into events select 'lost', seq, type, time, data, null, null, null from events where seq < 2",
		"insert into sessions select 's4', 4, created_at, null, null, null, null, null, null, incarnation, 0 from sessions where id = 's1'",
		"insert into sessions select 's0', 0, created_at, null, null, null, null, null, null, 'x', 0 from sessions where id = 's1'")
	db, err := database.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	list, err := Format{}.List(t.Context(), db)
	if err != nil || len(list) != 4 {
		t.Fatalf("%v %v", list, err)
	}
	for i, want := range []struct {
		id, unknown string
		first       bool
	}{{"s0", "incarnation", true}, {"s1", "", true}, {"s4", "version 4", true}, {"lost", "", false}} {
		s := list[i]
		if s.ID != want.id || (s.First != "") != want.first || (s.Unknown != nil) != (want.unknown != "") || s.Unknown != nil && !strings.Contains(s.Unknown.Error(), want.unknown) {
			t.Errorf("%+v", s)
		}
	}
	text, err := Format{}.Text(t.Context(), db, "s1")
	header, _, _ := bytes.Cut(text, []byte("\n"))
	src := format.Source{Path: "x.db#s1", ID: "s1", Records: func() iter.Seq2[format.Line, error] {
		return func(yield func(format.Line, error) bool) { yield(format.Line{Raw: header}, err) }
	}}
	if name, err := (Format{}).Recoded(src, scan.Lines); err != nil || name != "--w--/s1/session.jsonl" {
		t.Errorf("%v %v", name, err)
	}
	src.ID, src.Path = "a/b", "x.db#a/b" // an id may hold what a path does
	if name, err := (Format{}).Recoded(src, scan.Lines); err != nil || name != "--w--/s1/session.jsonl" {
		t.Errorf("%v %v", name, err)
	}
	header = nil
	if name, err := (Format{}).Recoded(src, scan.Lines); err == nil {
		t.Errorf("without a header: %v", name)
	}
}

func TestSources(t *testing.T) {
	for _, list := range [][]int64{{}, {0}, {5, 6, 7}, {7, 3, 1000, 999}, {maxSafe, 0, maxSafe}} {
		got, err := unpackSources(packSources(list))
		if err != nil || !slices.Equal(got, list) {
			t.Errorf("%v: %v %v", list, got, err)
		}
	}
	for _, bad := range []string{"80", "8000", "ffffffffffffffff7f", "01 03", "80808080808080808001", "00 01"} {
		var b []byte
		if _, err := fmt.Sscanf(strings.ReplaceAll(bad, " ", ""), "%x", &b); err != nil {
			t.Fatal(err)
		}
		if got, err := unpackSources(b); err == nil {
			t.Errorf("%s: %v", bad, got)
		}
	}
}

// A small row may stand for more text than is held in memory.
func TestDatabaseBomb(t *testing.T) {
	path := sampleDatabase(t)
	z, err := newSqueezer()
	if err != nil {
		t.Fatal(err)
	}
	bomb := z.enc.EncodeAll(bytes.Repeat([]byte(" "), maxRow+1), nil)
	z.close()
	put(t, path, fmt.Sprintf("update events set data = x'%x' where seq = 0", bomb))
	db, err := database.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := (Format{}).Text(t.Context(), db, "s1"); err == nil || !strings.Contains(err.Error(), "row 0: its data is, decompressed, longer than is read here") {
		t.Errorf("%v", err)
	}
	put(t, path, fmt.Sprintf("update events set data = zeroblob(%d) where seq = 0", maxRow+1))
	long, err := database.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer long.Close()
	if _, err := (Format{}).Text(t.Context(), long, "s1"); err == nil || !strings.Contains(err.Error(), "bytes is longer than is read here") {
		t.Errorf("%v", err)
	}
}
