package dsh

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/sessfix/sessfix/format"
)

// eventRow is a row of the events table. A packed row has the type and the data of a packed line, and is marked by an
// ignorable of 0.
type eventRow struct {
	seq, time int64
	typ       string
	dataKind  string // as SQLite names it: text, blob, …
	dataLen   int64
	data      []byte
	listKind  string
	list      []byte // of sources
	op        sql.NullString
	ignorable sql.NullInt64
}

// rowColumns are where they are read from: what is too long is left where it is.
var rowColumns = fmt.Sprintf("seq, time, type, typeof(data), octet_length(data), iif(octet_length(data) > %d, null, cast(data as blob)),"+
	" iif(octet_length(source_event_seqs) > %[1]d, 'too long', typeof(source_event_seqs)),"+
	" iif(octet_length(source_event_seqs) > %[1]d, null, cast(source_event_seqs as blob)),"+
	" iif(octet_length(surface_op) > %[1]d, 'too long', surface_op), ignorable", maxRow)

func (r *eventRow) columns() []any {
	return []any{&r.seq, &r.time, &r.typ, &r.dataKind, &r.dataLen, &r.data, &r.listKind, &r.list, &r.op, &r.ignorable}
}

// packed tells a row that stands for several deltas.
func (r *eventRow) packed() bool { return r.ignorable.Valid && r.ignorable.Int64 == 0 }

// isPacked tells the types of packed rows.
func isPacked(typ string) bool {
	return typ == "text-chunks" || typ == "reasoning-chunks" || typ == "tool-call-chunks"
}

// appendLine appends the record that the row holds, members in the order in which the JSONL backend writes what is appended to
// a live session, and a newline. Where the client cannot read the row, what it appends is a line that is no record, but for
// the start of a call: that one was written for good before the call ran, so that nobody may say that it did not. Only a row
// that is too long gives an error.
func (r *eventRow) appendLine(b []byte, z *squeezer) ([]byte, error) {
	at := len(b)
	b, err := r.appendRecord(b, z)
	if errors.Is(err, errTooLong) {
		return b[:at], fmt.Errorf("row %d: %w", r.seq, err)
	}
	if err != nil {
		b = r.appendHead(b[:at])
		if r.typ == "tool/call" {
			b = fmt.Appendf(b, `,"unreadable row: %v":null}`, err)
		} else {
			b = fmt.Appendf(b, `,"data":%v`, err)
		}
	}
	return append(b, '\n'), nil
}

// appendHead appends the beginning of the record of an event.
func (r *eventRow) appendHead(b []byte) []byte {
	b = appendText(append(b, `{"type":`...), r.typ)
	b = append(append(b, `,"seq":`...), num(r.seq)...)
	return append(append(b, `,"time":`...), num(r.time)...)
}

func (r *eventRow) appendRecord(b []byte, z *squeezer) ([]byte, error) {
	data, err := r.text(z)
	if err != nil {
		return b, err
	}
	if r.packed() {
		if err := r.packedProblem(data); err != nil {
			return b, err
		}
		b = appendText(append(b, `{"type":`...), r.typ)
		b = append(append(b, `,"seq0":`...), num(r.seq)...)
		b = append(append(b, `,"time0":`...), num(r.time)...)
		return append(appendJSON(append(b, `,"data":`...), data), '}'), nil
	}
	b = appendJSON(append(r.appendHead(b), `,"data":`...), data)
	switch r.listKind {
	case "null":
	case "blob":
		list, err := unpackSources(r.list)
		if err != nil {
			return b, err
		}
		b = append(b, `,"sourceEventSeqs":[`...)
		for i, v := range list {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, num(v)...)
		}
		b = append(b, ']')
	default:
		return b, errSources
	}
	if r.op.Valid {
		if !json.Valid([]byte(r.op.String)) {
			return b, errors.New("its surface_op is no JSON")
		}
		b = appendJSON(append(b, `,"surfaceOp":`...), []byte(r.op.String))
	}
	if r.ignorable.Valid {
		b = append(b, `,"ignorable":true`...)
	}
	return append(b, '}'), nil
}

// text is the JSON text of the row's data.
func (r *eventRow) text(z *squeezer) ([]byte, error) {
	if r.dataLen > maxRow {
		return nil, fmt.Errorf("its data of %d bytes is %w", r.dataLen, errTooLong)
	}
	data := r.data
	switch r.dataKind {
	case "text":
	case "blob":
		var err error
		if data, err = z.open(r.data); err != nil {
			return nil, err
		}
	default:
		return nil, fmt.Errorf("its data is of the type %s", r.dataKind)
	}
	if !json.Valid(data) && !mendable(data) {
		return nil, errors.New("its data is no JSON")
	}
	return data, nil
}

// mendable tells JSON of which only control characters inside of texts are wrong: these are shown as they are, and are mended as in
// a line. A newline could not be shown in one.
func mendable(data []byte) bool {
	if bytes.ContainsAny(data, "\n\r\x00") {
		return false
	}
	return json.Valid(bytes.Map(func(c rune) rune {
		if c < ' ' {
			return ' '
		}
		return c
	}, data))
}

// packedProblem says what makes the client refuse a packed row, beyond what makes it refuse a packed line.
func (r *eventRow) packedProblem(data []byte) error {
	var body struct{ Texts, Args []json.RawMessage }
	switch {
	case !isPacked(r.typ):
		return errors.New("it is marked as packed, and its type is that of no packed row")
	case r.listKind != "null" || r.op.Valid:
		return errors.New("it is packed, and carries columns of an event")
	case len(data) > packedBytes:
		return fmt.Errorf("it is packed, and its data is longer than %d bytes", packedBytes)
	case json.Unmarshal(data, &body) != nil:
		return errors.New("it is packed, and its data holds no members")
	}
	n := len(body.Texts)
	if r.typ == "tool-call-chunks" {
		n = len(body.Args)
	}
	if n < packedLeast || n > packedMost {
		return fmt.Errorf("it is packed, and has %d members: the client takes %d to %d", n, packedLeast, packedMost)
	}
	return nil
}

// appendJSON appends JSON as part of a line: newlines between its tokens become blanks.
func appendJSON(b, data []byte) []byte {
	at := len(b)
	b = append(b, data...)
	for i := at; i < len(b); i++ {
		if b[i] == '\n' || b[i] == '\r' {
			b[i] = ' '
		}
	}
	return b
}

// rowRecord is a line read for a row.
type rowRecord struct {
	eventRow
	sources []int64
	hasList bool
	seq0    bool // it is packed
}

// recordOf reads a line. What has no column is refused; n is the record's number in the log.
func recordOf(line []byte, n int64) (r rowRecord, err error) {
	list, err := pairsOf(line)
	if err != nil {
		return r, format.Refuse(n, "the record is %v", err)
	}
	var seq, time, data bool
	for _, m := range list {
		ok := true
		switch m.name {
		case "type":
			r.typ, err = plainText(m.raw)
			ok = err == nil && r.typ != ""
		case "seq", "seq0":
			r.seq, ok = integer(m.raw)
			ok = ok && r.seq >= 0 && !seq
			seq, r.seq0 = true, m.name == "seq0"
		case "time", "time0":
			r.time, ok = integer(m.raw)
			time = true
		case "data":
			r.data, data = m.raw, true
		case "sourceEventSeqs":
			if ok = len(m.raw) > 0 && m.raw[0] == '['; ok {
				problem := ""
				r.sources, problem = seqList(nil, m.raw, false, maxSafe, 0)
				ok, r.hasList = problem == "", true
			}
		case "surfaceOp":
			r.op = sql.NullString{String: string(m.raw), Valid: true}
		case "ignorable":
			ok = string(m.raw) == "true"
			r.ignorable = sql.NullInt64{Int64: 1, Valid: true}
		default:
			return r, format.Refuse(n, "a database has no column for the member %q", short([]byte(m.name)))
		}
		if !ok {
			return r, format.Refuse(n, "the record's %s is nothing that a database holds", m.name)
		}
	}
	switch {
	case r.typ == "" || !seq || !time || !data:
		return r, format.Refuse(n, "the record has no type, number, time or data")
	case r.seq0 && (!isPacked(r.typ) || r.hasList || r.op.Valid || r.ignorable.Valid):
		return r, format.Refuse(n, "the record is a packed row that carries members of an event")
	case len(r.data) > maxRow:
		return r, format.Refuse(n, "the record's data of %d bytes is longer than is written to a database", len(r.data))
	}
	return r, nil
}
