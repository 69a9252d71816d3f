package dsh

import (
	"context"
	"database/sql"
	"iter"
	"slices"

	"github.com/sessfix/sessfix/database"
)

// rawRow are the columns of an event behind the session's id, as they are.
type rawRow [7]any

func (r *rawRow) seq() int64 { v, _ := r[0].(int64); return v }

// equal holds two rows against each other, type by type.
func (r *rawRow) equal(o *rawRow) bool {
	for i := range r {
		a, bytesA := r[i].([]byte)
		b, bytesB := o[i].([]byte)
		if bytesA != bytesB || bytesA && !slices.Equal(a, b) || !bytesA && r[i] != o[i] {
			return false
		}
	}
	return true
}

// rawRows goes over the rows of a session in their order.
func rawRows(ctx context.Context, q database.Reader, id string) iter.Seq2[*rawRow, error] {
	return rowsOf(ctx, q, "seq, type, time, data, source_event_seqs, surface_op, ignorable", id, func(r *rawRow) []any {
		to := make([]any, len(r))
		for i := range r {
			to[i] = &r[i]
		}
		return to
	})
}

// Keep writes the rows of a session into a new database, which the client opens as well.
func (Format) Keep(ctx context.Context, q database.Reader, id, path string) error {
	var store, incarnation string
	var revision int64
	h, _, err := headerOf(ctx, q, id)
	if err != nil {
		return err
	}
	if err := q.QueryRowContext(ctx, "select (select store_id from persistence_state), incarnation, revision from sessions where id = ?", id).Scan(&store, &incarnation, &revision); err != nil {
		return err
	}
	return database.Make(ctx, path, func(tx *sql.Tx) error {
		if err := makeTables(ctx, tx, store); err != nil {
			return err
		}
		if err := insertRow(ctx, tx, "sessions", append(h.values(), incarnation, revision)...); err != nil {
			return err
		}
		stmt, err := tx.PrepareContext(ctx, insertInto("events"))
		if err != nil {
			return err
		}
		defer stmt.Close()
		for r, err := range rawRows(ctx, q, id) {
			if err != nil {
				return err
			}
			if _, err := stmt.ExecContext(ctx, append([]any{id}, r[:]...)...); err != nil {
				return err
			}
		}
		return nil
	})
}

// PutBack makes the rows of a session those that were kept. The revision goes on: the client's caches never meet one
// twice.
func (Format) PutBack(ctx context.Context, tx *sql.Tx, id string, kept *database.Copy) error {
	next, stop := iter.Pull2(rawRows(ctx, kept, id))
	defer stop()
	old, err, more := next()
	if err != nil {
		return err
	}
	var gone []int64 // numbers of rows that are not as they were
	var back []*rawRow
	for r, err := range rawRows(ctx, tx, id) {
		if err != nil {
			return err
		}
		for more && old.seq() < r.seq() {
			back = append(back, old)
			if old, err, more = next(); more && err != nil {
				return err
			}
		}
		same := more && old.seq() == r.seq()
		if same && old.equal(r) {
			if old, err, more = next(); more && err != nil {
				return err
			}
			continue
		}
		gone = append(gone, r.seq())
		if same {
			back = append(back, old)
			if old, err, more = next(); more && err != nil {
				return err
			}
		}
	}
	for more {
		back = append(back, old)
		if old, err, more = next(); more && err != nil {
			return err
		}
	}
	for _, seq := range gone {
		if _, err := tx.ExecContext(ctx, "delete from events where session_id = ? and seq = ?", id, seq); err != nil {
			return err
		}
	}
	for _, r := range back {
		if err := insertRow(ctx, tx, "events", append([]any{id}, r[:]...)...); err != nil {
			return err
		}
	}
	return countUp(ctx, tx, id)
}
