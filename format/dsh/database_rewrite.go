package dsh

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/sessfix/sessfix/database"
	"github.com/sessfix/sessfix/format"
)

// Stamp is what the client's own caches go by: which database, which session of that name, and how often it was written
// (store.ts, sqliteRevision).
func (Format) Stamp(ctx context.Context, q database.Reader, id string) (string, error) {
	var store, incarnation string
	var revision int64
	err := q.QueryRowContext(ctx, "select (select store_id from persistence_state), incarnation, revision from sessions where id = ?", id).Scan(&store, &incarnation, &revision)
	if errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("the session %q is not in the database any more", id)
	}
	return fmt.Sprintf("store:%s:incarnation:%s:revision:%d", store, incarnation, revision), err
}

// rowChange is what is to be done about one number: its row goes, and a line of the new text comes in its place.
type rowChange struct {
	seq      int64
	gone     bool
	at, size int64 // of the line, -1 where none comes
	n        int64 // of the line
}

// Rewrite makes the rows of a session say what a log says. The header stays as it is.
func (f Format) Rewrite(ctx context.Context, tx *sql.Tx, id string, text io.ReaderAt, size int64) error {
	changes, err := differences(ctx, tx, id, text, size)
	if err != nil {
		return err
	}
	for _, c := range changes {
		if c.gone {
			if _, err := tx.ExecContext(ctx, "delete from events where session_id = ? and seq = ?", id, c.seq); err != nil {
				return err
			}
		}
	}
	in, err := newRowInserter(ctx, tx, id)
	if err != nil {
		return err
	}
	defer in.close()
	for _, c := range changes {
		if c.at < 0 {
			continue
		}
		line := make([]byte, c.size)
		if _, err := text.ReadAt(line, c.at); err != nil && err != io.EOF {
			return err
		}
		r, err := recordOf(line, c.n)
		if err != nil {
			return err
		}
		if _, err := in.put(ctx, &r, c.n); err != nil {
			return err
		}
	}
	return countUp(ctx, tx, id)
}

// countUp counts the revision of a session up.
func countUp(ctx context.Context, tx *sql.Tx, id string) error {
	res, err := tx.ExecContext(ctx, "update sessions set revision = revision + 1 where id = ?", id)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n != 1 {
		return fmt.Errorf("the session %q is not in the database any more", id)
	}
	return nil
}

// differences holds the rows of a session against a log. Both are in the order of their numbers.
func differences(ctx context.Context, tx *sql.Tx, id string, text io.ReaderAt, size int64) ([]rowChange, error) {
	h, ok, err := headerOf(ctx, tx, id)
	if err != nil {
		return nil, err
	}
	next, stop := iter.Pull2(logLines(text, size))
	defer stop()
	line, err, more := next()
	if err != nil {
		return nil, err
	}
	if !ok || !more || !bytes.Equal(line.text, h.line()) {
		return nil, format.Refuse(0, "the row of a session is never changed, and the header would be another one")
	}
	z, err := newSqueezer()
	if err != nil {
		return nil, err
	}
	defer z.close()
	var out []rowChange
	advance := func() error {
		if line, err, more = next(); more && err != nil {
			return err
		}
		return nil
	}
	if err := advance(); err != nil {
		return nil, err
	}
	last := int64(-1)
	// before takes the lines whose numbers are below limit, and tells whether the next line has it.
	before := func(limit int64) (bool, error) {
		for more {
			r, err := recordOf(line.text, line.n)
			if err != nil {
				return false, err
			}
			if r.seq <= last {
				return false, format.Refuse(line.n, "the record's number is not above that of the one in front of it")
			}
			if r.seq > limit {
				return false, nil
			}
			last = r.seq
			out = append(out, rowChange{seq: r.seq, gone: r.seq == limit, at: line.at, size: int64(len(line.text)), n: line.n})
			if err := advance(); err != nil || r.seq == limit {
				return r.seq == limit, err
			}
		}
		return false, nil
	}
	var have []byte
	for row, err := range eventRows(ctx, tx, id) {
		if err != nil {
			return nil, err
		}
		if have, err = row.appendLine(have[:0], z); err != nil {
			return nil, err
		}
		if more && bytes.Equal(line.text, have[:len(have)-1]) {
			last = row.seq
			if err := advance(); err != nil {
				return nil, err
			}
			continue
		}
		taken, err := before(row.seq)
		if err != nil {
			return nil, err
		}
		if taken {
			continue
		}
		if more && bytes.Equal(line.text, have[:len(have)-1]) { // behind lines that are new
			last = row.seq
			if err := advance(); err != nil {
				return nil, err
			}
			continue
		}
		out = append(out, rowChange{seq: row.seq, gone: true, at: -1})
	}
	_, err = before(1 << 62)
	return out, err
}

// logLine is a line of a text, without its newline, and where it stands.
type logLine struct {
	text []byte
	at   int64
	n    int64
}

// logLines goes over the lines of a text. A line is valid until the next.
func logLines(text io.ReaderAt, size int64) iter.Seq2[logLine, error] {
	return func(yield func(logLine, error) bool) {
		r := bufio.NewReaderSize(io.NewSectionReader(text, 0, size), 1<<16)
		var at, n int64
		var line []byte
		for {
			line = line[:0]
			for {
				part, err := r.ReadSlice('\n')
				line = append(line, part...)
				if err == bufio.ErrBufferFull && len(line) <= maxRow+1<<20 {
					continue
				}
				if err == io.EOF && len(line) == 0 {
					return
				}
				if err != nil {
					yield(logLine{}, fmt.Errorf("line %d: %w", n, err))
					return
				}
				break
			}
			if !yield(logLine{line[:len(line)-1], at, n}, nil) {
				return
			}
			at += int64(len(line))
			n++
		}
	}
}
