// Package database reads SQLite databases that an agent may have open, from a private copy, and changes rows of them in
// one transaction.
//
// A database and its write-ahead log, or the journal of a transaction that a crash left half done, belong together: to read
// the first alone shows an older state or a torn one, and to open them in place changes them.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// ErrNoDatabase says that a file is no SQLite database, or damaged beyond reading.
var ErrNoDatabase = errors.New("no readable database")

// ErrDamaged says that a database can be read only in part.
var ErrDamaged = errors.New("the database is damaged")

// ErrMoving says that a database was written to all the while it was copied.
var ErrMoving = errors.New("written to while it was copied")

// maxCopy bounds the size of a copy.
const maxCopy = 4 << 30

// copies is how often a copy is tried.
const copies = 3

// Copy is a private copy of a database.
type Copy struct {
	*sql.DB
	dir string

	looked  sync.Mutex
	done    bool
	unsound error
}

// Close removes the copy.
func (c *Copy) Close() error {
	err := c.DB.Close()
	return errors.Join(err, os.RemoveAll(c.dir))
}

// suffixes are those of the files that belong to a database, itself first.
var suffixes = [...]string{"", "-wal", "-journal"}

// Open copies a database with its write-ahead log or its journal, and opens the copy. It returns fs.ErrNotExist where there is none,
// ErrNoDatabase or ErrMoving.
func Open(ctx context.Context, path string) (*Copy, error) {
	dir, err := os.MkdirTemp("", "sessfix-")
	if err != nil {
		return nil, err
	}
	c, err := open(ctx, path, dir)
	if err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return c, nil
}

func open(ctx context.Context, path, dir string) (*Copy, error) {
	for try := 1; ; try++ {
		before, err := stamps(path)
		if err != nil {
			return nil, err
		}
		for _, suffix := range suffixes {
			if err := copyFile(path+suffix, filepath.Join(dir, "copy"+suffix)); err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
				return nil, err
			}
		}
		after, err := stamps(path)
		if err != nil {
			return nil, err
		}
		if before == after {
			break
		}
		if try == copies {
			return nil, ErrMoving
		}
		for _, suffix := range suffixes[1:] {
			os.Remove(filepath.Join(dir, "copy"+suffix))
		}
	}
	db, err := sql.Open("sqlite", location(filepath.Join(dir, "copy"), ""))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	var tables int
	if err := db.QueryRowContext(ctx, "select count(*) from sqlite_schema").Scan(&tables); err != nil {
		db.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, fmt.Errorf("%w: %v", ErrNoDatabase, reason(err))
	}
	return &Copy{DB: db, dir: dir}, nil
}

// location is a path as the driver takes it.
func location(path, query string) string {
	return "file:" + (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath() + "?" + query
}

// stamp tells whether a file changed.
type stamp struct {
	size int64
	at   time.Time
}

func stamps(path string) (out [len(suffixes)]stamp, err error) {
	for i, suffix := range suffixes {
		fi, err := os.Stat(path + suffix)
		if i > 0 && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return out, err
		}
		if !fi.Mode().IsRegular() || fi.Size() > maxCopy {
			return out, ErrNoDatabase
		}
		out[i] = stamp{fi.Size(), fi.ModTime()}
	}
	return out, nil
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, maxCopy))
	return errors.Join(err, out.Close())
}

// reason is the driver's message without its prefix.
func reason(err error) string {
	return strings.TrimPrefix(err.Error(), "SQL logic error: ")
}

// Unreadable tells that a query failed because the database is damaged, and not because it has another shape.
func Unreadable(err error) bool {
	return err != nil && (errors.Is(err, ErrNoDatabase) || strings.Contains(err.Error(), "(11)") || strings.Contains(err.Error(), "(26)"))
}

// Sound is an error where the database itself is damaged: rows that its tables hold and its indexes do not, or the other way
// round, must not be written over. It looks once.
func (c *Copy) Sound(ctx context.Context) error {
	c.looked.Lock()
	defer c.looked.Unlock()
	if !c.done {
		var word string
		err := c.QueryRowContext(ctx, "pragma integrity_check(1)").Scan(&word)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if c.done = true; err != nil {
			word = err.Error()
		}
		if word != "ok" {
			c.unsound = fmt.Errorf("%w: %s", ErrDamaged, word)
		}
	}
	return c.unsound
}
