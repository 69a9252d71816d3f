package dsh

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"

	"github.com/sessfix/sessfix/database"
	"github.com/sessfix/sessfix/format"
)

// WriteDatabase writes a log of version 0 into a new database of schema 17: the header, then the records, lines without their
// newline, numbered from 0 without hole. The data of a record goes over byte for byte. Packed rows of other lengths than a
// database may hold are divided or taken apart. What has no column gives a *format.RefusedError, and there is no database then.
func WriteDatabase(ctx context.Context, path string, header []byte, records iter.Seq2[[]byte, error]) error {
	h, err := headerRowOf(header)
	if err != nil {
		return err
	}
	return database.Make(ctx, path, func(tx *sql.Tx) error {
		if err := makeTables(ctx, tx, derivedUUID("store", header)); err != nil {
			return err
		}
		if err := insertRow(ctx, tx, "sessions", append(h.values(), derivedUUID("incarnation", header), 1)...); err != nil {
			return err
		}
		in, err := newRowInserter(ctx, tx, h.id)
		if err != nil {
			return err
		}
		defer in.close()
		n, next := int64(0), int64(0)
		for line, err := range records {
			if err != nil {
				return err
			}
			n++
			r, err := recordOf(line, n)
			if err != nil {
				return err
			}
			if r.seq != next {
				return format.Refuse(n, "the record has the number %d, where %d should stand", r.seq, next)
			}
			if next, err = in.put(ctx, &r, n); err != nil {
				return err
			}
		}
		return nil
	})
}

// NewDatabase is WriteDatabase.
func (Format) NewDatabase(ctx context.Context, path string, header []byte, records iter.Seq2[[]byte, error]) error {
	return WriteDatabase(ctx, path, header, records)
}

// makeTables makes the schema.
func makeTables(ctx context.Context, tx *sql.Tx, store string) error {
	list := []string{fmt.Sprintf("pragma application_id = %d", databaseID), fmt.Sprintf("pragma user_version = %d", databaseSchema)}
	for i := len(schemaTables) - 1; i >= 0; i-- { // what is referred to comes first
		list = append(list, schemaTables[i].make)
	}
	for _, s := range list {
		if _, err := tx.ExecContext(ctx, s); err != nil {
			return fmt.Errorf("make the database: %w", err)
		}
	}
	return insertRow(ctx, tx, "persistence_state", 1, store)
}

// insertRow puts one row into a table, all columns in their order.
func insertRow(ctx context.Context, tx *sql.Tx, table string, values ...any) error {
	_, err := tx.ExecContext(ctx, insertInto(table), values...)
	return err
}

// insertInto is the statement for that.
func insertInto(table string) string {
	for _, t := range schemaTables {
		if t.name == table {
			marks := "?"
			for _, c := range t.columns {
				if c == ',' {
					marks += ", ?"
				}
			}
			return "insert into " + table + " (" + t.columns + ") values (" + marks + ")"
		}
	}
	return ""
}

// derivedUUID is an id that follows from the session, so that the same log always makes the same database (RFC 9562, version 8).
func derivedUUID(what string, header []byte) string {
	h := sha256.Sum256(append([]byte("sessfix dsh database "+what+"\n"), header...))
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80
	s := hex.EncodeToString(h[:16])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// rowInserter puts records into the events table.
type rowInserter struct {
	id   string
	stmt *sql.Stmt
	z    *squeezer
}

func newRowInserter(ctx context.Context, tx *sql.Tx, id string) (*rowInserter, error) {
	stmt, err := tx.PrepareContext(ctx, insertInto("events"))
	if err != nil {
		return nil, err
	}
	z, err := newSqueezer()
	if err != nil {
		return nil, errors.Join(err, stmt.Close())
	}
	return &rowInserter{id, stmt, z}, nil
}

func (in *rowInserter) close() {
	in.stmt.Close()
	in.z.close()
}

// put writes one record, n in its log, and returns the number behind it.
func (in *rowInserter) put(ctx context.Context, r *rowRecord, n int64) (int64, error) {
	if !r.seq0 {
		return r.seq + 1, in.scalar(ctx, r)
	}
	parts, err := r.unpack(n)
	if err != nil {
		return 0, err
	}
	next := r.seq
	for _, p := range parts {
		if p.packed {
			err = in.row(ctx, p.seq, r.typ, p.time, p.data, nil, nil, 0)
		} else {
			err = in.row(ctx, p.seq, "assistant/chunk", p.time, p.data, nil, nil, nil)
		}
		if err != nil {
			return 0, err
		}
		next = p.seq + p.members
	}
	return next, nil
}

func (in *rowInserter) scalar(ctx context.Context, r *rowRecord) error {
	var list, op, ignorable any
	if r.hasList {
		list = packSources(r.sources)
	}
	if r.op.Valid {
		op = r.op.String
	}
	if r.ignorable.Valid {
		ignorable = 1
	}
	return in.row(ctx, r.seq, r.typ, r.time, r.data, list, op, ignorable)
}

func (in *rowInserter) row(ctx context.Context, seq int64, typ string, time int64, data []byte, list, op, ignorable any) error {
	_, err := in.stmt.ExecContext(ctx, in.id, seq, typ, time, in.z.stored(data), list, op, ignorable)
	return err
}
