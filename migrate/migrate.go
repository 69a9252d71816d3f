package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// Options say how sessions are to be brought over.
type Options struct {
	// To is the generation that is wanted, "" for the newest that has no older one beside it which all clients read.
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
	_, err := repair.Settle(ctx, path, s, repair.Options{CaseDir: o.CaseDir, FS: o.FS, Env: o.Env})
	return err
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

// plan works out what becomes of one file. It tells whether the generation that is wanted is one that the file has, or can have.
func (o *Outcome) plan(ctx context.Context, opt Options, several bool) (bool, error) {
	s := o.Session
	if s.Unknown != nil {
		var err error
		if o.Before, err = verify.File(ctx, s); err != nil {
			return false, err
		}
		return false, o.refuse("%s", s.Unknown.Error())
	}
	all := steps(s)
	if len(all) == 0 {
		return false, nil
	}
	in, err := open(ctx, s)
	if err != nil {
		return false, err
	}
	o.in, o.Before, o.From = in, in.res, s.Dialect.Version()
	src := in.source()
	if a, ok := s.Format.(format.Aged); ok {
		if o.From, err = a.Age(src); err != nil {
			return false, o.named(err)
		}
	}
	o.To = o.From
	o.Steps, err = way(all, o.From, opt.To)
	switch {
	case errors.Is(err, format.ErrNoWay):
		return false, nil
	case len(o.Steps) == 0:
		return true, nil
	}
	o.To = o.Steps[len(o.Steps)-1].To
	if o.Before.Verdict == verify.Refused && !o.prepares() {
		return true, o.refuse("its damage has no safe repair: sessfix verify says which")
	}
	if s.Stored() && opt.Output == "" {
		return true, o.refuse("it lies in a database: --output DIR writes the result as a file")
	}
	if o.rewrites(opt) && s.Dialect.Rules().Pinned && s.Pin() > 0 {
		return true, o.refuse("other sessions begin in this file and count its bytes: --output writes the result elsewhere")
	}
	if o.Before.Verdict != verify.Clean {
		if several {
			return true, &RefusedError{Path: s.Path, Why: "it is damaged: repair it first", Mendable: true}
		}
		for i := range o.Before.Findings {
			if f := &o.Before.Findings[i]; f.Damage() && !slices.Contains(o.Repaired, f.Code) {
				o.Repaired = append(o.Repaired, f.Code)
			}
		}
	}
	path := s.Path
	if r, ok := s.Format.(format.Recoder); ok && s.Stored() {
		name, err := r.Recoded(src, scan.Lines)
		if err != nil {
			return true, o.named(err)
		}
		path = filepath.Join(filepath.Dir(s.Path), filepath.FromSlash(name))
		o.Path = path
	}
	for _, x := range o.Steps {
		if x.Beside != nil {
			o.Path = x.Beside(path)
		}
	}
	return true, o.chain(ctx, src, opt)
}

// prepares tells whether all that repair refuses is mended on the way.
func (o *Outcome) prepares() bool {
	p, ok := o.Session.Format.(format.Preparer)
	return ok && !slices.ContainsFunc(o.Before.Findings, func(f finding.Finding) bool {
		return f.Damage() && f.Cure == finding.Refuse && !p.Prepares(&f)
	})
}

// rewrites tells whether the session's own file would be written.
func (o *Outcome) rewrites(opt Options) bool {
	return opt.Output == "" && !slices.ContainsFunc(o.Steps, func(x format.Upgrade) bool { return x.Beside != nil })
}

// chain runs the steps into a spool.
func (o *Outcome) chain(ctx context.Context, src format.Source, opt Options) error {
	var stages []format.Stage
	if p, ok := o.Session.Format.(format.Preparer); ok {
		st, err := p.Prepare(ctx, src, o.From, o.To)
		if err != nil {
			return o.named(err)
		}
		if st != nil {
			stages = append(stages, st)
		}
	}
	if err := o.accepted(ctx, src, stages); err != nil {
		return err
	}
	if len(stages) > 0 { // a stage is used once
		st, err := o.Session.Format.(format.Preparer).Prepare(ctx, src, o.From, o.To)
		if err != nil {
			return o.named(err)
		}
		stages = []format.Stage{st}
	}
	for _, x := range o.Steps {
		st, err := x.Begin(src)
		if err != nil {
			return o.named(err)
		}
		stages = append(stages, st)
		if x.Also != nil {
			files, err := x.Also(src)
			if err != nil {
				return o.named(err)
			}
			o.also = append(o.also, files...)
		}
	}
	text, err := newSpool()
	if err != nil {
		return err
	}
	o.content = text
	out := &writer{}
	err = text.fill(func(w io.Writer) error {
		out.w = w
		return run(src, stages, out)
	})
	if err != nil {
		return o.named(err)
	}
	o.Notes, o.Whys, o.Records = out.notes, out.reasons(), int64(len(out.pieces))
	if err := o.fates(o.in, out, text, opt.Fates); err != nil {
		return err
	}
	if o.in.medium == scan.Frames {
		if err := o.pack(); err != nil {
			return err
		}
	}
	o.Size = o.content.Size()
	if o.Path != o.Session.Path && opt.Output == "" {
		return o.already(ctx, opt)
	}
	return nil
}

// pack makes frames of the text.
func (o *Outcome) pack() error {
	packed, err := newSpool()
	if err != nil {
		return err
	}
	text := o.content
	o.content = packed
	defer text.Close()
	return packed.fill(func(w io.Writer) error {
		return framed(w, io.NewSectionReader(text, 0, text.Size()), o.Session.Dialect.Framing().HeaderFrame)
	})
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

// accepted asks, of formats that know what a migration refuses, whether this one would be.
func (o *Outcome) accepted(ctx context.Context, src format.Source, prepare []format.Stage) error {
	t, ok := o.Session.Dialect.(format.Targeter)
	if !ok {
		return nil
	}
	d, err := t.Target(o.To)
	if err != nil {
		return o.refuse("%v", err)
	}
	vi := verify.InputOf(o.Session, o.in.r, o.in.size)
	vi.Dialect, vi.ReadOnly, vi.Around = d, "", nil
	if len(prepare) > 0 {
		text, err := newSpool()
		if err != nil {
			return err
		}
		defer text.Close()
		out := &writer{}
		err = text.fill(func(w io.Writer) error {
			out.w = w
			return run(src, prepare, out)
		})
		if err != nil {
			return o.named(err)
		}
		vi.R, vi.Size, vi.Medium = text, text.Size(), scan.Lines
	}
	res, err := verify.Session(ctx, vi)
	if err != nil {
		return err
	}
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Damage() && f.Code == finding.WontMigrate {
			return &RefusedError{Path: o.Session.Path, Line: f.Logical, Why: f.Message}
		}
	}
	return nil
}

// already looks whether the result is there: the new generation begins with the same records then, however they are spelled, and
// may go on.
func (o *Outcome) already(ctx context.Context, opt Options) error {
	fi, err := os.Lstat(o.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return o.refuse("%s is in the way: it is no file", o.Path)
	}
	f, err := os.Open(o.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	framing := o.Session.Dialect.Framing()
	ours, err := scan.New(ctx, o.content, o.content.Size(), scan.Options{Medium: o.in.medium, Framing: framing})
	if err != nil {
		return err
	}
	theirs, err := scan.New(ctx, f, fi.Size(), scan.Options{Medium: o.in.medium, Framing: framing})
	if err != nil {
		return err
	}
	for ours.Next() {
		if !theirs.Next() || !sameJSON(ours.Record().Raw, theirs.Record().Raw) {
			if err := theirs.Err(); err != nil {
				return err
			}
			return o.refuse("%s is there already, and is another from line %d on", filepath.Base(o.Path), ours.Record().Logical)
		}
	}
	o.There = ours.Err() == nil
	return ours.Err()
}

// sameJSON tells whether two records say the same.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, y := decoded(a), decoded(b)
	return x != nil && reflect.DeepEqual(x, y)
}

func decoded(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
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
