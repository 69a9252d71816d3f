package migrate

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// Options say how sessions are to be brought over.
type Options struct {
	// To is the generation that is wanted, "" for the last one that the steps lead to which are not optional.
	To string
	// Output is the directory that gets the result; the session is left alone then.
	Output string
	DryRun bool
	// Fates: records that change are told one by one.
	Fates   bool
	CaseDir string
	FS      durable.FS // nil = the disk
	Env     func(string) string
	Store   store.Options // for reading the result as its client would
}

// Outcome is what became, or would become, of one file.
type Outcome struct {
	Session  store.Session
	Before   *verify.Result
	From, To string
	Steps    []format.Upgrade // empty where nothing is to be done
	Path     string           // of the result
	// There: the result is there already.
	There    bool
	Repaired []finding.Code // mended on the way
	Records  int64          // of the result
	Size     int64
	Counts   map[string]int64 // of records that are not as they were, by their fate
	Fates    []Fate
	Notes    []Remark
	Whys     []Reason // why records were added, or changed beyond what the steps say
	Account  edit.Account
	Removed  []edit.Removed
	SHA256   [2]string
	Receipt  string
	Done     bool // it was written

	in      *input
	content *spool
	also    []format.NewFile
}

// RefusedError says why a session is not brought over.
type RefusedError struct {
	Path string
	Line int64 // of the record that is the reason, 0 = the session as a whole
	Why  string
	// Mendable: a repair comes first.
	Mendable bool
}

func (e *RefusedError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("%s: line %d: not migrated: %s", e.Path, e.Line, e.Why)
	}
	return e.Path + ": not migrated: " + e.Why
}

// Steps are the steps that a format knows.
func Steps(f format.Format) []format.Upgrade {
	if u, ok := f.(format.Upgrader); ok {
		return u.Upgrades()
	}
	return nil
}

// Session brings one session over, given with all its parts. There is an outcome for each part, whatever the error. A
// *RefusedError says why nothing was done.
func Session(ctx context.Context, parts []store.Session, o Options) ([]*Outcome, error) {
	if o.FS == nil {
		o.FS = durable.Disk
	}
	outs := make([]*Outcome, 0, len(parts))
	defer func() {
		for _, out := range outs {
			out.close()
		}
	}()
	known := false
	for _, s := range parts {
		out := &Outcome{Session: s, Path: s.Path}
		outs = append(outs, out)
		if s.Missing {
			continue
		}
		if err := o.settle(ctx, s, s.Path); err != nil {
			return outs, err
		}
		reached, err := out.plan(ctx, o, len(parts) > 1)
		if err != nil {
			return outs, err
		}
		if out.Path != s.Path {
			if err := o.settle(ctx, s, out.Path); err != nil {
				return outs, err
			}
		}
		known = known || reached
	}
	if !known && o.To != "" {
		return outs, &RefusedError{Path: parts[0].Path, Why: fmt.Sprintf("no step leads from generation %s to %s", outs[0].From, o.To)}
	}
	todo := slices.DeleteFunc(slices.Clone(outs), func(out *Outcome) bool { return len(out.Steps) == 0 || out.There })
	if len(todo) == 0 {
		return outs, nil
	}
	if err := proveAll(ctx, parts, outs, o); err != nil {
		return outs, err
	}
	for _, out := range todo {
		if err := out.unmoved(o.FS); err != nil {
			return outs, err
		}
	}
	switch {
	case o.DryRun:
		return outs, nil
	case o.Output != "":
		return outs, elsewhere(ctx, parts, todo, o)
	}
	return outs, publish(ctx, todo, o)
}

// settle brings an interrupted run to its end.
func (o Options) settle(ctx context.Context, s store.Session, path string) error {
	if o.DryRun || o.Output != "" || s.Stored() {
		return nil
	}
	return repair.Settle(ctx, path, s, repair.Options{CaseDir: o.CaseDir, FS: o.FS, Env: o.Env})
}

func (o *Outcome) close() {
	if o.in != nil {
		o.in.close()
	}
	if o.content != nil {
		o.content.Close()
	}
}

// refuse says why a file is not brought over.
func (o *Outcome) refuse(text string, args ...any) error {
	return &RefusedError{Path: o.Session.Path, Why: fmt.Sprintf(text, args...)}
}

// sound refuses a result that is not clean.
func (o *Outcome) sound(res *verify.Result) error {
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Damage() {
			return o.refuse("the result would have %s: %s", f.Code, f.Message)
		}
	}
	return nil
}

// mended tells what is wrong with the file, and therefore mended on the way.
func (o *Outcome) mended() {
	for i := range o.Before.Findings {
		if f := &o.Before.Findings[i]; f.Damage() && !slices.Contains(o.Repaired, f.Code) {
			o.Repaired = append(o.Repaired, f.Code)
		}
	}
}

// named gives a stage's refusal the session's name and the record's line.
func (o *Outcome) named(err error) error {
	var no *format.RefusedError
	if !errors.As(err, &no) {
		return fmt.Errorf("%s: %w", o.Session.Path, err)
	}
	e := &RefusedError{Path: o.Session.Path, Why: no.Why}
	if no.N >= 0 {
		e.Line = no.N + 1
	}
	return e
}

// unmoved is an error where the file is another by now than the one that was read.
func (o *Outcome) unmoved(fsys durable.FS) error {
	if o.in == nil || o.Session.Stored() {
		return nil
	}
	fi, err := fsys.Stat(o.Session.Path)
	if err != nil {
		return err
	}
	if durable.TokenOf(fi) != o.in.token {
		return &repair.LiveError{Path: o.Session.Path, Who: "the file changed while it was looked at", Err: durable.ErrChanged}
	}
	return nil
}
