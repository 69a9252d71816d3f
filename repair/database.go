package repair

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"

	"github.com/sessfix/sessfix/database"
	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/verify"
)

// ModeRows: the file is a database, and Path names a session in it, behind "#".
const ModeRows = "rows"

// stored repairs a session that lies in a database, where its format writes there. The log that the rows stand for is mended as
// any other; what it becomes goes back into the rows in one transaction.
func (w *work) stored(ctx context.Context) error {
	f, ok := w.s.Format.(format.Rewritable)
	if !ok || w.s.ReadOnly() != "" {
		var err error
		w.out.Before, err = verify.File(ctx, w.s)
		return err
	}
	path, id := w.s.Database()
	at, err := realPath(path)
	if err != nil {
		return err
	}
	r := rowRepair{work: w, rows: f, path: at, id: id}
	if w.o.Output == "" && !w.o.DryRun {
		if err := r.settle(ctx); err != nil {
			return err
		}
	}
	if err := w.plan(ctx, nil); err != nil || w.out.Result == nil {
		return err
	}
	if err := w.s.Copy().Sound(ctx); err != nil {
		return fmt.Errorf("%s: the database is not written: %w", w.s.Path, err)
	}
	switch {
	case w.o.DryRun:
		return nil
	case w.o.Output != "":
		return r.elsewhere(ctx)
	}
	return r.publish(ctx)
}

// rowRepair is the repair of rows.
type rowRepair struct {
	*work
	rows     format.Rewritable
	path, id string // of the database, and of the session in it
}

// name is what the session's cases are kept under.
func (r *rowRepair) name() string { return r.path + "#" + r.id }

// elsewhere writes the result into a new database of its own.
func (r *rowRepair) elsewhere(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "sessfix-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	made := filepath.Join(dir, "made")
	next, stop := iter.Pull2(lines(io.NewSectionReader(r.out.Result, 0, r.out.Result.Size())))
	defer stop()
	header, err, _ := next()
	if err != nil {
		return err
	}
	err = r.rows.NewDatabase(ctx, made, header, func(yield func([]byte, error) bool) {
		for line, err, ok := next(); ok && yield(line, err); line, err, ok = next() {
		}
	})
	if err != nil {
		return unfit(r.s.Path, err)
	}
	if err := durable.MkdirAllSync(r.o.FS, filepath.Dir(r.o.Output)); err != nil {
		return err
	}
	err = durable.WriteNew(r.o.FS, r.o.Output, func(to io.Writer) error { return copyFile(durable.Disk, made, to) })
	r.out.Changed = err == nil
	return err
}

// unfit turns a record that rows cannot hold into the refusal that says so.
func unfit(path string, err error) error {
	var no *format.RefusedError
	if errors.As(err, &no) {
		return fmt.Errorf("%s: record %d: %s: %w", path, no.N, no.Why, ErrUnproved)
	}
	return fmt.Errorf("%s: %w", path, err)
}

// publish changes the rows. What was planned must still be what is there, and what the rows say then is read and judged
// before it is committed. The case is written in between: before, so that a kill leaves rows that undo knows of.
func (r *rowRepair) publish(ctx context.Context) error {
	release, err := claimDatabase(ctx, r.o.FS, r.path, r.name(), r.rows.Owners(r.path))
	if err != nil {
		return err
	}
	defer release()
	var c Case
	err = database.Change(ctx, r.path, func(tx *sql.Tx) error {
		if err := r.rows.Exact(ctx, tx); err != nil {
			return err
		}
		was, err := r.state(ctx, tx)
		if err != nil {
			return err
		}
		defer was.log.Close()
		if was.hash != r.out.SHA256[0] {
			return &LiveError{r.s.Path, "the session changed while it was looked at", durable.ErrChanged}
		}
		dir, err := os.MkdirTemp("", "sessfix-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		kept := filepath.Join(dir, "kept")
		if err := r.rows.Keep(ctx, tx, r.id, kept); err != nil {
			return fmt.Errorf("%s: keep the rows: %w", r.s.Path, err)
		}
		if err := r.rows.Rewrite(ctx, tx, r.id, r.out.Result, r.out.Result.Size()); err != nil {
			return unfit(r.s.Path, err)
		}
		is, err := r.state(ctx, tx)
		if err != nil {
			return err
		}
		defer is.log.Close()
		if err := r.prove(ctx, is); err != nil {
			return err
		}
		r.out.SHA256[1] = is.hash
		c = r.caseOf(was, is)
		c.keep = func(w io.Writer) error { return copyFile(durable.Disk, kept, w) }
		if r.out.Receipt, err = openCase(r.o.FS, r.o.CaseDir, c, r.f, nil); err != nil {
			return fmt.Errorf("%s: write the case folder: %w", r.s.Path, err)
		}
		return nil
	})
	switch {
	case errors.Is(err, database.ErrBusy):
		return r.undone(c, &LiveError{r.s.Path, database.ErrBusy.Error(), err})
	case err != nil:
		return r.undone(c, err)
	}
	r.out.Changed = true
	return mark(r.o.FS, r.out.Receipt, "receipt.json", c)
}

// undone gives up a case whose transaction did not end well. Where nobody can tell how it ended the next run settles it.
func (r *rowRepair) undone(c Case, err error) error {
	if r.out.Receipt == "" {
		return err
	}
	if now, e := r.now(context.Background()); e == nil && now.is(c.Stamps[0], c.SHA256[0]) {
		return errors.Join(err, mark(r.o.FS, r.out.Receipt, "undone.json", c))
	}
	return err
}

// prove holds what the rows say against what was planned.
func (r *rowRepair) prove(ctx context.Context, is rowState) error {
	in := r.in
	in.Accept, in.R, in.Size = nil, is.log, is.size
	res, err := verify.Session(ctx, in)
	switch {
	case err != nil:
		return err
	case res.Verdict != verify.Clean || res.Records != r.out.After.Records || res.Events != r.out.After.Events:
		return fmt.Errorf("%s: the rows say something else than was planned: %w", r.s.Path, ErrUnproved)
	}
	r.out.After = res
	return nil
}

func (r *rowRepair) caseOf(was, is rowState) Case {
	out := r.out
	return Case{
		Version: caseVersion, Agent: r.s.Format.Name(), Session: cmp.Or(out.Before.ID, r.id), Path: r.name(), Mode: ModeRows,
		Size: [2]int64{was.size, is.size}, SHA256: out.SHA256, Account: out.Result.Account, Removed: out.Result.Removed,
		Closers: out.Closers, Cures: cures(out.Before), Stamps: &[2]string{was.stamp, is.stamp}, Row: r.id,
	}
}

// rowState is what the rows of a session say.
type rowState struct {
	stamp string
	log   *os.File
	size  int64
	hash  string
}

func (s rowState) is(stamp, hash string) bool { return s.stamp == stamp && s.hash == hash }

// state reads it.
func (r *rowRepair) state(ctx context.Context, q database.Reader) (rowState, error) {
	return stateOf(ctx, r.rows, r.s.Copy(), q, r.id)
}

// stateOf reads it into a file in a copy's folder.
func stateOf(ctx context.Context, f format.Rewritable, c *database.Copy, q database.Reader, id string) (s rowState, err error) {
	if s.stamp, err = f.Stamp(ctx, q, id); err != nil {
		return s, err
	}
	if s.log, err = c.Spool(func(w io.Writer) error { return f.Lines(ctx, q, id, w) }); err != nil {
		return s, err
	}
	fi, err := s.log.Stat()
	if err == nil {
		s.size = fi.Size()
		s.hash, err = hashOf(s.log, s.size)
	}
	if err != nil {
		s.log.Close()
	}
	return s, err
}

// now is what the rows say by now, read from a new copy.
func (r *rowRepair) now(ctx context.Context) (rowState, error) {
	return rowsNow(ctx, r.rows, r.path, r.id)
}

func rowsNow(ctx context.Context, f format.Rewritable, path, id string) (s rowState, err error) {
	c, err := database.Open(ctx, path)
	if err != nil {
		return s, err
	}
	defer c.Close()
	if s, err = stateOf(ctx, f, c, c, id); err == nil {
		s.log.Close()
	}
	return s, err
}

// settle brings an interrupted repair of the rows to its end: the transaction was committed or it was not.
func (r *rowRepair) settle(ctx context.Context) error {
	list, err := cases(r.o.FS, caseHome(r.o.CaseDir, r.name()))
	if err != nil {
		return fmt.Errorf("%s: read its earlier repairs: %w", r.s.Path, err)
	}
	if len(list) == 0 {
		return nil
	}
	c := list[len(list)-1]
	if c.done || c.settled {
		return nil
	}
	now, err := r.now(ctx)
	if err != nil {
		return err
	}
	r.out.Resumed = true
	if now.is(c.Stamps[1], c.SHA256[1]) {
		return mark(r.o.FS, c.dir, "receipt.json", c.Case)
	}
	return mark(r.o.FS, c.dir, "undone.json", c.Case)
}

// lines goes over the lines of a text.
func lines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		b := bufio.NewReaderSize(r, 1<<16)
		for {
			line, err := b.ReadBytes('\n')
			if err == io.EOF && len(line) == 0 || !yield(bytes.TrimSuffix(line, []byte("\n")), err) || err != nil {
				return
			}
		}
	}
}
