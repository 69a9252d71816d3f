package repair

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// Options say how a session is to be repaired.
type Options struct {
	CaseDir string
	FS      durable.FS // nil = the disk
	DryRun  bool
	// Accept names faults whose offer the user takes, though it loses something.
	Accept map[finding.Code]bool
	// Env tells where databases lie that repeat what the session says.
	Env func(string) string
	// Output is the file that gets the result instead of the original; it must not exist.
	Output string
}

// Outcome is what a repair did or would do.
type Outcome struct {
	Before  *verify.Result
	After   *verify.Result // nil where nothing was to be done or it was refused
	Plan    *Plan
	Result  *edit.Result
	Closers []Closer
	SHA256  [2]string
	Receipt string // folder of the case
	Changed bool   // something was written
	Resumed bool   // an interrupted repair was settled first
}

// Session repairs one session that is a single file. The outcome holds the diagnosis whatever the error. A *LiveError
// says that somebody is at work on it; ErrUnproved that the plan does not do what it should.
func Session(ctx context.Context, s store.Session, o Options) (*Outcome, error) {
	w := newWork(s, o)
	defer w.close()
	if s.Stored() {
		return w.out, w.stored(ctx)
	}
	if err := w.settle(ctx); err != nil {
		return w.out, err
	}
	if err := w.plan(ctx, nil); err != nil || w.out.Result == nil {
		return w.out, err
	}
	if o.DryRun || o.Output != "" {
		if err := w.unmoved(); err != nil || o.DryRun {
			return w.out, err
		}
		return w.out, w.elsewhere()
	}
	release, err := guardAll(ctx, []*work{w})
	if err != nil {
		return w.out, err
	}
	defer release()
	return w.out, w.publish(ctx)
}

// work is the repair of one file.
type work struct {
	s     store.Session
	o     Options
	out   *Outcome
	f     *os.File // nil where it is missing
	size  int64
	token durable.Token
	in    verify.Input
	run   int // of the repairs of a session of several files
}

func newWork(s store.Session, o Options) *work {
	if o.FS == nil {
		o.FS = durable.Disk
	}
	return &work{s: s, o: o, out: &Outcome{}}
}

func (w *work) close() {
	if w.f != nil {
		w.f.Close()
	}
}

// open opens the log.
func (w *work) open(ctx context.Context) (*os.File, error) {
	if w.s.Stored() {
		return w.s.Log(ctx)
	}
	return os.Open(w.s.Path)
}

// settle brings an earlier repair to its end.
func (w *work) settle(ctx context.Context) error {
	if w.o.Output != "" || w.o.DryRun {
		return nil
	}
	resumed, err := settlePending(ctx, w.o, w.s)
	var live *LiveError
	if errors.As(err, &live) {
		before, e := verify.File(ctx, w.s)
		w.out.Before = before
		if e != nil {
			err = e
		}
	}
	w.out.Resumed = resumed
	return err
}

// plan judges the file and works out what mends it, and proves it. The folder around it is as beside says, where that is not
// nil, and gets the result. Where nothing is to be done, or nothing can be, the outcome has no result.
func (w *work) plan(ctx context.Context, beside *Overlay) error {
	out := w.out
	var r io.ReaderAt = bytes.NewReader(nil)
	if !w.s.Missing {
		f, err := w.open(ctx)
		if err != nil {
			return err
		}
		w.f, r = f, f
		fi, err := f.Stat()
		if err != nil {
			return err
		}
		w.size, w.token = fi.Size(), durable.TokenOf(fi)
	}
	in := verify.InputOf(w.s, r, w.size)
	in.Accept = w.o.Accept
	if beside != nil {
		in.Dir = beside
	}
	w.in = in
	var err error
	if out.Before, err = verify.Session(ctx, in); err != nil || out.Before.Verdict != verify.Repairable {
		return err
	}
	if out.Plan, err = MakePlan(ctx, in, out.Before); err != nil {
		return err
	}
	result, err := out.Plan.Apply(r, w.size)
	if err != nil {
		return err
	}
	out.Result = result
	if beside != nil {
		beside.Put(filepath.Base(w.s.Path), result)
	}
	for _, c := range out.Plan.Closings {
		out.Closers = append(out.Closers, Closer{Code: c.Code, CallID: c.CallID, Kind: c.Kind, Place: cmp.Or(c.Place, "end")})
	}
	if out.After, err = Prove(ctx, in, out.Result); err != nil {
		return err
	}
	if out.SHA256[0], err = hashOf(r, w.size); err != nil {
		return err
	}
	out.SHA256[1], err = hashOf(out.Result, out.Result.Size())
	return err
}

// unmoved is an error where the file is another by now than the one that was read.
func (w *work) unmoved() error {
	if err := w.same(w.s.Path); err != nil {
		return &LiveError{w.s.Path, "the file changed while it was looked at", durable.ErrChanged}
	}
	return nil
}

func (w *work) same(path string) error {
	now, err := w.o.FS.Stat(path)
	switch {
	case w.s.Missing && errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case w.s.Missing || durable.TokenOf(now) != w.token:
		return durable.ErrChanged
	}
	return nil
}

// elsewhere writes the result to the file that was asked for.
func (w *work) elsewhere() error {
	if err := durable.MkdirAllSync(w.o.FS, filepath.Dir(w.o.Output)); err != nil {
		return err
	}
	err := durable.WriteNew(w.o.FS, w.o.Output, func(to io.Writer) error { _, err := w.out.Result.WriteTo(to); return err })
	w.out.Changed = err == nil
	return err
}

// publish keeps what is needed to undo, puts the result in place, checks it and writes the receipt.
func (w *work) publish(ctx context.Context) error {
	s, out, fsys := w.s, w.out, w.o.FS
	path, err := realPath(s.Path)
	if err != nil {
		return err
	}
	check := func() error {
		if err := w.same(path); err != nil {
			return err
		}
		return ctx.Err()
	}
	if err := check(); err != nil {
		return live(path, err)
	}
	r := out.Result
	c := Case{
		Version: caseVersion, Agent: out.Before.Agent, Session: cmp.Or(out.Before.ID, s.ID), Path: path, Mode: ModeReplace,
		Size: [2]int64{r.Account.Size, r.Size()}, SHA256: out.SHA256, Account: r.Account,
		Removed: r.Removed, Closers: out.Closers, Cures: cures(out.Before),
	}
	if w.run > 0 {
		c.Folder, c.Run = filepath.Dir(path), w.run
	}
	appendix, appends := r.Appendix()
	c.KeepTime = s.Dialect.Rules().KeepTime
	switch appends = appends && !c.KeepTime && !s.Missing; {
	case s.Missing:
		c.Mode = ModeCreate
	case appends:
		c.Mode = ModeAppend
	}
	if c.Mode != ModeAppend {
		appendix = nil
	}
	dir, err := openCase(fsys, w.o.CaseDir, c, w.f, appendix)
	if err != nil {
		return fmt.Errorf("%s: write the case folder: %w", s.Path, err)
	}
	out.Receipt = dir
	if !appends {
		from := int64(0)
		if s.Medium == scan.Lines && len(r.Removed) > 0 {
			from = r.Removed[0].Off
		}
		if err := forget(ctx, s, path, w.o, from); err != nil {
			return err
		}
	}
	if out.Changed, err = w.put(c, r, appendix, check); err != nil {
		return err
	}
	return mark(fsys, dir, "receipt.json", c)
}

// tempSuffix names the file beside the log while it is written; no client takes it for a log.
func tempSuffix(hash string) string { return "." + hash[:12] + ".tmp" }

// live turns a file that moved into the error that says so.
func live(path string, err error) error {
	if errors.Is(err, durable.ErrChanged) {
		return &LiveError{path, "the file changed while it was being repaired", err}
	}
	return fmt.Errorf("%s: %w", path, err)
}

func cures(res *verify.Result) []finding.Code {
	var out []finding.Code
	seen := map[finding.Code]bool{}
	for _, f := range res.Findings {
		if f.Damage() && !seen[f.Code] {
			seen[f.Code] = true
			out = append(out, f.Code)
		}
	}
	return out
}
