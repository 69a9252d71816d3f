package database

import (
	"context"
	"errors"
	"io/fs"
	"os"
)

// Counted is how many bytes of the file the rows know of, -1 where they know of none: also where the database is not there,
// cannot be read or has another shape.
func Counted(ctx context.Context, r Rows) (int64, error) {
	if fi, err := os.Stat(r.Path); errors.Is(err, fs.ErrNotExist) || err == nil && !fi.Mode().IsRegular() {
		return -1, nil
	}
	c, err := Open(ctx, r.Path)
	if err != nil {
		return -1, ctx.Err()
	}
	defer c.Close()
	known, err := counted(ctx, c.DB, r)
	if err != nil {
		return -1, ctx.Err()
	}
	return known, nil
}
