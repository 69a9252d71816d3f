package dsh

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
)

// FuzzDatabaseRow: whatever stands in a row, it becomes one line, and a line that is a record goes back into the same row.
func FuzzDatabaseRow(f *testing.F) {
	z, err := newSqueezer()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(int64(3), int64(5), "turn/start", uint8(0), []byte(`{"turn":1}`), uint8(4), []byte(nil), "", false, int8(-1))
	f.Add(int64(3), int64(5), "user/message", uint8(0), []byte(`{"id":"m"}`), uint8(1), []byte{3, 1}, `"append"`, true, int8(1))
	f.Add(int64(3), int64(5), "text-chunks", uint8(0), []byte(`{"turn":1,"step":1,"index":0,"dt":[1,1],"texts":["a","b","c"]}`), uint8(4), []byte(nil), "", false, int8(0))
	f.Add(int64(3), int64(5), "x", uint8(1), z.enc.EncodeAll([]byte(`[1, "a\n"]`), nil), uint8(4), []byte(nil), "", false, int8(-1))
	f.Add(int64(3), int64(5), "x", uint8(0), []byte("1},\n{"), uint8(4), []byte(nil), "\n", true, int8(-1))
	f.Fuzz(func(t *testing.T, seq, time int64, typ string, kindAt uint8, data []byte, listAt uint8, list []byte, op string, hasOp bool, ignorable int8) {
		kinds := []string{"text", "blob", "integer", "real", "null"}
		kind, listKind := kinds[kindAt%5], kinds[listAt%5]
		r := eventRow{
			seq: seq, time: time, typ: typ, dataKind: kind, dataLen: int64(len(data)), data: data, listKind: listKind, list: list,
			op: sql.NullString{String: op, Valid: hasOp}, ignorable: sql.NullInt64{Int64: int64(min(ignorable, 1)), Valid: ignorable >= 0},
		}
		line, err := r.appendLine(nil, z)
		if err != nil {
			if !errors.Is(err, errTooLong) {
				t.Fatal(err)
			}
			return
		}
		if n := bytes.IndexByte(line, '\n'); n != len(line)-1 {
			t.Fatalf("no one line: %q", line)
		}
		line = line[:len(line)-1]
		if !json.Valid(line) {
			return
		}
		back, err := recordOf(line, 1)
		if err != nil {
			return
		}
		if back.seq != seq || back.time != time || !slices.Equal(back.sources, mustList(t, listKind, list)) {
			t.Fatalf("%q", line)
		}
		if !back.seq0 {
			again, err := back.asRow(z).appendLine(nil, z)
			if err != nil || !bytes.Equal(again[:len(again)-1], line) && json.Valid(data) && len(bytes.TrimSpace(data)) == len(data) && kind == "text" && !strings.ContainsAny(op, "\r\n \t") {
				t.Fatalf("%v\n%q\n%q", err, line, again)
			}
		}
	})
}

func mustList(t *testing.T, kind string, list []byte) []int64 {
	if kind == "null" {
		return nil
	}
	out, err := unpackSources(list)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// asRow is the row that an event is written as.
func (r *rowRecord) asRow(z *squeezer) *eventRow {
	e := r.eventRow
	e.dataKind, e.listKind = "text", "null"
	if b, ok := z.stored(r.data).([]byte); ok {
		e.dataKind, e.data = "blob", b
	}
	e.dataLen = int64(len(e.data))
	if r.hasList {
		e.listKind, e.list = "blob", packSources(r.sources)
	}
	return &e
}

// FuzzDatabaseRecord: whatever a line says, it is refused or becomes rows that say the same.
func FuzzDatabaseRecord(f *testing.F) {
	z, err := newSqueezer()
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range []string{
		`{"type":"turn/start","seq":3,"time":-5,"data":{"turn":1}}`, `{"data":[1e3, "\ud800"],"time":5.0,"seq":3e0,"type":"\u0061"}`,
		`{"type":"user/message","seq":3,"time":5,"data":{},"surfaceOp":{"op":"replace","start":1,"end":2},"sourceEventSeqs":[2,1]}`,
		`{"type":"text-chunks","seq0":3,"time0":5,"data":{"turn":1,"step":1,"index":0,"dt":[-1],"texts":["a","b"]}}`,
		`{"type":"tool-call-chunks","seq0":3,"time0":5,"data":{"turn":1,"step":1,"index":0,"id":"c","dt":[],"args":["a"]}}`,
		`{"type":"x","seq":3,"time":5,"data":1,"ignorable":true}`, rowHead,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if _, err := headerRowOf(line); err != nil {
			checkRefused(t, err)
		}
		r, err := recordOf(line, 1)
		if err != nil {
			checkRefused(t, err)
			return
		}
		if !r.seq0 {
			again, err := r.asRow(z).appendLine(nil, z)
			if err != nil {
				t.Fatal(err)
			}
			back, err := recordOf(bytes.TrimSuffix(again, []byte("\n")), 1)
			if err != nil && json.Valid(again) || err == nil && (back.seq != r.seq || back.time != r.time || back.typ != r.typ || !bytes.Equal(bytes.ReplaceAll(bytes.ReplaceAll(r.data, []byte("\n"), []byte(" ")), []byte("\r"), []byte(" ")), back.data) || !slices.Equal(back.sources, r.sources)) {
				t.Fatalf("%v\n%q\n%q", err, line, again)
			}
			return
		}
		parts, err := r.unpack(1)
		if err != nil {
			checkRefused(t, err)
			return
		}
		next := r.seq
		for _, p := range parts {
			if p.seq != next || !json.Valid(p.data) {
				t.Fatalf("%q: %+v", line, p)
			}
			next += p.members
		}
	})
}

func checkRefused(t *testing.T, err error) {
	var no *format.RefusedError
	if !errors.As(err, &no) || no.Why == "" {
		t.Fatal(err)
	}
}
