package repair

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sessfix/sessfix/database"
	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/format"
)

// casePath is what the cases of an argument are kept under: that of a session in a database has the database's path, "#" and
// the id.
func casePath(arg string) (string, error) {
	if _, err := os.Lstat(arg); err != nil {
		for at := range arg {
			if arg[at] != '#' {
				continue
			}
			if fi, err := os.Stat(arg[:at]); err == nil && fi.Mode().IsRegular() {
				path, err := realPath(arg[:at])
				return path + arg[at:], err
			}
		}
	}
	return realPath(arg)
}

// undoRows puts the rows of a session back, where nobody wrote to it since. The client's count of writes goes on.
func undoRows(ctx context.Context, s stored, o UndoOptions) error {
	f, err := rewritable(o.Formats, s)
	if err != nil {
		return err
	}
	path := strings.TrimSuffix(s.Path, "#"+s.Row)
	release, err := claimDatabase(ctx, o.FS, path, s.Path, f.Owners(path))
	if err != nil {
		return err
	}
	defer release()
	now, err := rowsNow(ctx, f, path, s.Row)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	switch {
	case now.hash == s.SHA256[0] && now.stamp != s.Stamps[1]: // it was not repaired after all, or undone already
		return mark(o.FS, s.dir, "undone.json", s.Case)
	case !now.is(s.Stamps[1], s.SHA256[1]):
		return fmt.Errorf("%s: %w", s.Path, ErrWritten)
	}
	kept, err := database.Open(ctx, filepath.Join(s.dir, "original"))
	if err != nil {
		return err
	}
	defer kept.Close()
	err = database.Change(ctx, path, func(tx *sql.Tx) error {
		if err := f.Exact(ctx, tx); err != nil {
			return err
		}
		is, err := stateOf(ctx, f, kept, tx, s.Row)
		if err != nil {
			return err
		}
		is.log.Close()
		if !is.is(s.Stamps[1], s.SHA256[1]) {
			return &LiveError{s.Path, "the session changed while it was looked at", durable.ErrChanged}
		}
		if err := f.PutBack(ctx, tx, s.Row, kept); err != nil {
			return err
		}
		if is, err = stateOf(ctx, f, kept, tx, s.Row); err != nil {
			return err
		}
		is.log.Close()
		if is.hash != s.SHA256[0] {
			return fmt.Errorf("%s: the rows that were kept are not the original", s.dir)
		}
		return nil
	})
	if errors.Is(err, database.ErrBusy) {
		return &LiveError{s.Path, database.ErrBusy.Error(), err}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	return mark(o.FS, s.dir, "undone.json", s.Case)
}

// rewritable is the format that writes such rows.
func rewritable(list []format.Format, s stored) (format.Rewritable, error) {
	for _, f := range list {
		if r, ok := f.(format.Rewritable); ok && f.Name() == s.Agent {
			return r, nil
		}
	}
	return nil, fmt.Errorf("%s: nothing is known of databases of %s", s.Path, s.Agent)
}
