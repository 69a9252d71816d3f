package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
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

// Session repairs one session. The outcome holds the diagnosis whatever the error. A *LiveError
// says that somebody is at work on it; ErrUnproved that the plan does not do what it should.
func Session(ctx context.Context, s store.Session, o Options) (*Outcome, error) {
	if o.FS == nil {
		o.FS = durable.Disk
	}
	out := &Outcome{}
	if s.Stored() {
		var err error
		out.Before, err = verify.File(ctx, s)
		return out, err
	}
	if o.Output == "" && !o.DryRun {
		resumed, err := settlePending(ctx, o, s)
		var live *LiveError
		if errors.As(err, &live) {
			before, e := verify.File(ctx, s)
			out.Before = before
			if e != nil {
				err = e
			}
		}
		if err != nil {
			return out, err
		}
		out.Resumed = resumed
	}
	f, err := os.Open(s.Path)
	if err != nil {
		return out, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return out, err
	}
	token := durable.TokenOf(fi)
	in := verify.InputOf(s, f, fi.Size())
	in.Accept = o.Accept
	if out.Before, err = verify.Session(ctx, in); err != nil || out.Before.Verdict != verify.Repairable {
		return out, err
	}
	if out.Plan, err = MakePlan(ctx, in, out.Before); err != nil {
		return out, err
	}
	if out.Result, err = out.Plan.Apply(f, fi.Size()); err != nil {
		return out, err
	}
	for _, c := range out.Plan.Closings {
		out.Closers = append(out.Closers, Closer{Code: c.Code, CallID: c.CallID, Kind: c.Kind, Place: cmp.Or(c.Place, "end")})
	}
	if out.After, err = Prove(ctx, in, out.Result); err != nil {
		return out, err
	}
	if out.SHA256[0], err = hashOf(f, fi.Size()); err != nil {
		return out, err
	}
	if out.SHA256[1], err = hashOf(out.Result, out.Result.Size()); err != nil {
		return out, err
	}
	if o.DryRun || o.Output != "" {
		if now, err := o.FS.Stat(s.Path); err != nil || durable.TokenOf(now) != token {
			return out, &LiveError{s.Path, "the file changed while it was looked at", durable.ErrChanged}
		}
	}
	if o.DryRun {
		return out, nil
	}
	if o.Output != "" {
		if err := durable.MkdirAllSync(o.FS, filepath.Dir(o.Output)); err != nil {
			return out, err
		}
		err = durable.WriteNew(o.FS, o.Output, func(w io.Writer) error { _, err := out.Result.WriteTo(w); return err })
		out.Changed = err == nil
		return out, err
	}
	return out, publish(ctx, s, o, out, f, token)
}

// publish keeps what is needed to undo, puts the result in place, checks it and writes the receipt.
func publish(ctx context.Context, s store.Session, o Options, out *Outcome, f *os.File, token durable.Token) error {
	path, err := realPath(s.Path)
	if err != nil {
		return err
	}
	if g, ok := s.Format.(format.Guarder); ok {
		release, err := guard(ctx, o.FS, path, g.Guards(path))
		if err != nil {
			return err
		}
		defer release()
	}
	check := func() error {
		now, err := o.FS.Stat(path)
		if err != nil {
			return err
		}
		if durable.TokenOf(now) != token {
			return durable.ErrChanged
		}
		return ctx.Err()
	}
	if err := check(); err != nil {
		return live(path, err)
	}
	r := out.Result
	c := Case{
		Version: caseVersion, Agent: out.Before.Agent, Session: out.Before.ID, Path: path, Mode: ModeReplace,
		Size: [2]int64{r.Account.Size, r.Size()}, SHA256: out.SHA256, Account: r.Account,
		Removed: r.Removed, Closers: out.Closers, Cures: cures(out.Before),
	}
	appendix, appends := r.Appendix()
	c.KeepTime = s.Dialect.Rules().KeepTime
	if appends = appends && !c.KeepTime; appends {
		c.Mode = ModeAppend
	}
	dir, err := openCase(o.FS, o.CaseDir, c, f, r)
	if err != nil {
		return fmt.Errorf("%s: write the case folder: %w", s.Path, err)
	}
	out.Receipt = dir
	if !appends {
		if err := forget(ctx, s, path, o, r); err != nil {
			return err
		}
	}
	if appends {
		err = durable.Append(o.FS, path, c.Size[0], appendix, check)
	} else {
		err = durable.Replace(o.FS, path, durable.ReplaceOptions{Suffix: tempSuffix(c.SHA256[1]), KeepTime: c.KeepTime, Check: check}, func(w io.Writer) error {
			_, err := r.WriteTo(w)
			return err
		})
	}
	if err != nil && !errors.Is(err, durable.ErrUnsynced) {
		return live(path, fmt.Errorf("publish the repair: %w", err))
	}
	out.Changed = true
	if size, hash, err := fileHash(o.FS, path); err != nil {
		return err
	} else if size != c.Size[1] || hash != c.SHA256[1] {
		return live(path, durable.ErrChanged)
	}
	return mark(o.FS, dir, "receipt.json", c)
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
