package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ErrBusy says that somebody else writes to a database for longer than a client would wait.
var ErrBusy = errors.New("somebody else is writing to the database")

// Reader is what rows are read from: a copy, or a transaction.
type Reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// settings of a connection that writes: what is committed is on the disk, references hold, and nothing that stands in the
// schema is run.
const settings = "_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)&_pragma=synchronous(full)&_pragma=trusted_schema(0)&_txlock=immediate"

// Change changes a database in place, in one immediate transaction: all that do does or, where it returns an error, nothing.
// It returns ErrBusy where the transaction cannot begin.
func Change(ctx context.Context, path string, do func(tx *sql.Tx) error) error {
	fi, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return fmt.Errorf("%s: %w", path, ErrNoDatabase)
	}
	return transact(ctx, path, do)
}

// Make makes a new database, readable by its owner alone, with what do puts into it. Where do returns an error there is none.
// Its folder is not synced.
func Make(ctx context.Context, path string, do func(tx *sql.Tx) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := transact(ctx, path, do); err != nil {
		for _, suffix := range suffixes {
			os.Remove(path + suffix)
		}
		return err
	}
	return nil
}

func transact(ctx context.Context, path string, do func(tx *sql.Tx) error) (err error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", location(abs, "mode=rw&"+settings))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() {
		if e := db.Close(); err == nil {
			err = e
		}
	}()
	db.SetMaxOpenConns(1)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", path, busy(err))
	}
	defer tx.Rollback()
	if err := do(tx); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%s: %w", path, busy(err))
	}
	return nil
}

// busy tells another writer from trouble.
func busy(err error) error {
	if text := err.Error(); strings.Contains(text, "SQLITE_BUSY") || strings.Contains(text, "(5)") {
		return fmt.Errorf("%w: %v", ErrBusy, reason(err))
	}
	return err
}
