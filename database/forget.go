package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Rows are rows of a database that are about one file and count its bytes. They can be made again from it.
type Rows struct {
	Path string // of the database
	Key  string // the argument of all statements
	// Counts gives how many bytes of the file the rows know of; no row means that there are none.
	Counts string
	// Forget takes them out.
	Forget []string
}

// Forget takes rows out, in one transaction, where they know of bytes from an offset on. A database that is not there,
// that cannot be read or that has another shape has none.
func Forget(ctx context.Context, r Rows, from int64) (bool, error) {
	if fi, err := os.Stat(r.Path); errors.Is(err, fs.ErrNotExist) || err == nil && !fi.Mode().IsRegular() {
		return false, nil
	}
	// A look at a copy first: a database that needs no change is not touched.
	c, err := Open(ctx, r.Path)
	switch {
	case errors.Is(err, ErrMoving):
	case err != nil:
		return false, ctx.Err()
	default:
		known, err := counted(ctx, c.DB, r)
		c.Close()
		if err != nil || known <= from {
			return false, ctx.Err()
		}
	}
	db, err := sql.Open("sqlite", location(r.Path, "mode=rw&_pragma=busy_timeout(5000)&_txlock=immediate"))
	if err != nil {
		return false, fmt.Errorf("%s: %w", r.Path, err)
	}
	defer db.Close()
	tx, err := begin(ctx, db)
	if err != nil {
		return false, fmt.Errorf("%s: take rows out: %w", r.Path, err)
	}
	defer tx.Rollback()
	known, err := counted(ctx, tx, r)
	if err != nil || known <= from {
		return false, err
	}
	for _, s := range r.Forget {
		if _, err := tx.ExecContext(ctx, s, r.Key); err != nil {
			return false, fmt.Errorf("%s: take rows out: %w", r.Path, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := tx.Commit(); err != nil {
		return false, fmt.Errorf("%s: take rows out: %w", r.Path, err)
	}
	return true, nil
}

func counted(ctx context.Context, q Reader, r Rows) (int64, error) {
	var known sql.NullInt64
	err := q.QueryRowContext(ctx, r.Counts, r.Key).Scan(&known)
	if errors.Is(err, sql.ErrNoRows) {
		return -1, nil
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", r.Path, err)
	}
	return known.Int64, nil
}
