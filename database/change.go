package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
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

// Make makes a new database, readable by its owner alone, with what do puts into it. Where do returns an error there is none,
// and what is there already stays: it returns fs.ErrExist then. It is made under another name, so that a kill leaves it whole or not there.
func Make(ctx context.Context, path string, do func(tx *sql.Tx) error) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "make", Path: path, Err: fs.ErrExist}
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		for _, suffix := range suffixes {
			os.Remove(f.Name() + suffix)
		}
	}()
	if err := f.Close(); err != nil {
		return err
	}
	if err := transact(ctx, f.Name(), do); err != nil {
		return err
	}
	return publish(f.Name(), path)
}

// publish gives a file its name, which nothing else has.
func publish(from, to string) error {
	err := os.Link(from, to)
	if err != nil && !errors.Is(err, fs.ErrExist) { // not all file systems have links
		if _, there := os.Lstat(to); there == nil {
			return &fs.PathError{Op: "make", Path: to, Err: fs.ErrExist}
		}
		err = os.Rename(from, to)
	}
	if err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(to)); err == nil {
		dir.Sync() // where a system can
		dir.Close()
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
	tx, err := begin(ctx, db)
	if err != nil {
		return fmt.Errorf("%s: %w", path, busy(err))
	}
	defer tx.Rollback()
	if err := do(tx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%s: %w", path, busy(err))
	}
	return nil
}

// begin begins a transaction that ends only where it is told to. One of ctx would be rolled back beside the caller, who would
// come back while the journal is still there; the caller asks ctx before it commits.
func begin(ctx context.Context, db *sql.DB) (*sql.Tx, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return db.BeginTx(context.WithoutCancel(ctx), nil)
}

// busy tells another writer from trouble.
func busy(err error) error {
	if text := err.Error(); strings.Contains(text, "SQLITE_BUSY") || strings.Contains(text, "(5)") {
		return fmt.Errorf("%w: %v", ErrBusy, reason(err))
	}
	return err
}
