package repair

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// All repairs a session with all its parts: its one file, or its folder. Output is the file, or the folder, that gets the result.
func All(ctx context.Context, parts []store.Session, o Options) ([]*Outcome, error) {
	if parts[0].Folder() != "" {
		return Parts(ctx, parts, o)
	}
	out, err := Session(ctx, parts[0], o)
	return []*Outcome{out}, err
}

// Parts repairs a session that is several files, given in their order. Each is planned beside what the others will be by then, and
// nothing is written unless all can be mended. The files are then published one by one: a kill in between leaves the first
// ones new, and another run finds in them what it needs for the rest. There is an outcome for each part, whatever the error.
func Parts(ctx context.Context, parts []store.Session, o Options) ([]*Outcome, error) {
	works, outs := make([]*work, len(parts)), make([]*Outcome, len(parts))
	for i, s := range parts {
		po := o
		if o.Output != "" {
			po.Output = filepath.Join(o.Output, filepath.Base(s.Path))
		}
		works[i] = newWork(s, po)
		outs[i] = works[i].out
		defer works[i].close()
	}
	for i, w := range works {
		if err := w.settle(ctx); err != nil {
			return outs, judgeRest(ctx, works[i:], err)
		}
	}
	beside := NewOverlay(os.DirFS(filepath.Dir(parts[0].Path)))
	for i, w := range works {
		if err := w.plan(ctx, beside); err != nil {
			return outs, judgeRest(ctx, works[i:], err)
		}
	}
	if !slices.ContainsFunc(outs, func(o *Outcome) bool { return o.Result != nil }) ||
		slices.ContainsFunc(outs, func(o *Outcome) bool { return o.Before.Verdict == verify.Refused }) {
		return outs, nil
	}
	for _, w := range works {
		if err := w.agrees(ctx, beside); err != nil {
			return outs, err
		}
	}
	if o.DryRun || o.Output != "" {
		for _, w := range works {
			if err := w.unmoved(); err != nil {
				return outs, err
			}
		}
		if o.DryRun {
			return outs, nil
		}
		return outs, folderElsewhere(ctx, works, o)
	}
	release, err := guardAll(ctx, works)
	if err != nil {
		return outs, err
	}
	defer release()
	for _, w := range works { // a lock may have been waited for
		if err := w.unmoved(); err != nil {
			return outs, err
		}
	}
	var paths []string
	for _, s := range parts {
		paths = append(paths, s.Path)
	}
	run, err := lastRun(works[0].o.FS, o.CaseDir, paths)
	if err != nil {
		return outs, err
	}
	for _, w := range works {
		if w.out.Result == nil {
			continue
		}
		w.run = run + 1
		if err := w.publish(ctx); err != nil {
			return outs, err
		}
	}
	return outs, nil
}

// judgeRest gives each of the parts its diagnosis, for the report of what could not be done.
func judgeRest(ctx context.Context, rest []*work, why error) error {
	for _, w := range rest {
		if w.out.Before == nil {
			w.out.Before, _ = verify.File(ctx, w.s)
		}
	}
	return why
}

// agrees proves that the part is clean beside what all the others will be.
func (w *work) agrees(ctx context.Context, beside fs.FS) error {
	in := w.in
	in.Dir, in.Accept = beside, nil
	if r := w.out.Result; r != nil {
		in.R, in.Size, in.Missing = r, r.Size(), false
	}
	res, err := verify.Session(ctx, in)
	if err != nil {
		return err
	}
	if res.Verdict == verify.Clean {
		return nil
	}
	for _, f := range res.Findings {
		if f.Damage() {
			return fmt.Errorf("%s: %s at %d would come up: %w", w.s.Path, f.Code, f.Off, ErrUnproved)
		}
	}
	return nil
}

// guardAll takes the agent's locks for all parts, each once.
func guardAll(ctx context.Context, works []*work) (release func(), err error) {
	var all []format.Guard
	seen := map[string]bool{}
	path := ""
	for _, w := range works {
		g, ok := w.s.Format.(format.Guarder)
		if !ok {
			continue
		}
		at, err := realPath(w.s.Path)
		if err != nil {
			return nil, err
		}
		if path = at; len(works) > 1 {
			path = filepath.Dir(at)
		}
		for _, x := range g.Guards(at) {
			if key := x.Kind + " " + x.Path; x.Kind == format.Registry || !seen[key] {
				seen[key], all = true, append(all, x)
			}
		}
	}
	if len(all) == 0 {
		return func() {}, nil
	}
	return guard(ctx, works[0].o.FS, path, all)
}

// folderElsewhere writes the whole folder to another place: mended parts, and all else as it is.
func folderElsewhere(ctx context.Context, works []*work, o Options) error {
	mended := map[string]bool{}
	for _, w := range works {
		if w.out.Result == nil {
			continue
		}
		if err := w.elsewhere(); err != nil {
			return err
		}
		mended[w.s.Path] = true
	}
	return CopyFolder(ctx, works[0].o.FS, filepath.Dir(works[0].s.Path), o.Output, mended)
}

// CopyFolder copies the files of a session's folder to another one as they are, without locks, and without those at the paths that are
// given.
func CopyFolder(ctx context.Context, fsys durable.FS, root, output string, without map[string]bool) error {
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.IsDir() && sameDir(path, output) {
			return fs.SkipDir
		}
		if !e.Type().IsRegular() || without[path] || strings.HasSuffix(path, ".lock") || strings.HasSuffix(path, ".tmp") {
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		to := filepath.Join(output, rel)
		if err := durable.MkdirAllSync(fsys, filepath.Dir(to)); err != nil {
			return err
		}
		return durable.WriteNew(fsys, to, func(w io.Writer) error { return copyFile(fsys, path, w) })
	})
}

func sameDir(a, b string) bool {
	x, err := realPath(a)
	y, err2 := realPath(b)
	return err == nil && err2 == nil && x == y
}

// Overlay is a folder with some of its files as they are going to be.
type Overlay struct {
	fs.FS
	files map[string]Content
}

// NewOverlay is a folder as it is.
func NewOverlay(dir fs.FS) *Overlay { return &Overlay{dir, map[string]Content{}} }

// Put says what a file of the folder is going to hold.
func (o *Overlay) Put(name string, c Content) { o.files[name] = c }

// Open opens a file as it is going to be.
func (o *Overlay) Open(name string) (fs.File, error) {
	r, ok := o.files[name]
	if !ok {
		return o.FS.Open(name)
	}
	return planned{io.NewSectionReader(r, 0, r.Size()), name}, nil
}

// Stat looks at a file without opening it, which could take for ever.
func (o *Overlay) Stat(name string) (fs.FileInfo, error) {
	if _, ok := o.files[name]; ok {
		f, _ := o.Open(name)
		return f.Stat()
	}
	return fs.Stat(o.FS, name)
}

// planned is a file as it is going to be.
type planned struct {
	*io.SectionReader
	name string
}

func (planned) Close() error                 { return nil }
func (p planned) Stat() (fs.FileInfo, error) { return p, nil }
func (p planned) Name() string               { return p.name }
func (planned) Mode() fs.FileMode            { return 0o600 }
func (planned) ModTime() time.Time           { return time.Time{} }
func (planned) IsDir() bool                  { return false }
func (planned) Sys() any                     { return nil }

var _ fs.File = planned{}
