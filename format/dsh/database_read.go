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

// eventRows goes over the rows of a session in their order.
func eventRows(ctx context.Context, q database.Reader, id string) iter.Seq2[*eventRow, error] {
	return rowsOf(ctx, q, rowColumns, id, (*eventRow).columns)
}

// rowsOf goes over columns of the rows of a session in their order; places are where those of a row go.
func rowsOf[T any](ctx context.Context, q database.Reader, columns, id string, places func(*T) []any) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		rows, err := q.QueryContext(ctx, "select "+columns+" from events where session_id = ? order by seq", id)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			r := new(T)
			if err := rows.Scan(places(r)...); err != nil {
				yield(nil, err)
				return
			}
			if !yield(r, nil) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}
