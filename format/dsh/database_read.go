package dsh

import (
	"context"
	"io"
	"iter"

	"github.com/sessfix/sessfix/database"
)

// Lines writes the log of a session: the header, where there is one, and then a line for each row.
func (Format) Lines(ctx context.Context, q database.Reader, id string, w io.Writer) error {
	h, ok, err := headerOf(ctx, q, id)
	if err != nil {
		return err
	}
	if ok {
		if _, err := w.Write(append(h.line(), '\n')); err != nil {
			return err
		}
	}
	z, err := newSqueezer()
	if err != nil {
		return err
	}
	defer z.close()
	var line []byte
	for r, err := range eventRows(ctx, q, id) {
		if err != nil {
			return err
		}
		if line, err = r.appendLine(line[:0], z); err != nil {
			return err
		}
		if _, err := w.Write(line); err != nil {
			return err
		}
	}
	return nil
}

// eventRows goes over the rows of a session. A row is valid until the next.
func eventRows(ctx context.Context, q database.Reader, id string) iter.Seq2[*eventRow, error] {
	return func(yield func(*eventRow, error) bool) {
		rows, err := q.QueryContext(ctx, "select "+rowColumns+" from events where session_id = ? order by seq", id)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var r eventRow
			if err := rows.Scan(r.columns()...); err != nil {
				yield(nil, err)
				return
			}
			if !yield(&r, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}
