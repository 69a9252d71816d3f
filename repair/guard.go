package repair

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/format"
)

// LiveError says that somebody is at work on the session.
type LiveError struct {
	Path string
	Who  string
	Err  error
}

func (e *LiveError) Error() string { return fmt.Sprintf("%s: in use: %s", e.Path, e.Who) }
func (e *LiveError) Unwrap() error { return e.Err }

// quietWindow is longer than any client waits between two appends.
const quietWindow = 2 * time.Second

// guard takes the agent's locks and looks for live owners. The returned function gives the
// locks back.
func guard(ctx context.Context, fsys durable.FS, path string, guards []format.Guard) (release func(), err error) {
	// What only looks comes first: a refusal must leave no trace.
	for _, g := range guards {
		if err := look(ctx, fsys, path, g); err != nil {
			return func() {}, err
		}
	}
	h := &holding{fsys: fsys}
	for _, g := range guards {
		if g.Kind != format.FileLock && g.Kind != format.Claim {
			continue
		}
		if err = h.take(ctx, g); err != nil {
			break
		}
	}
	if err == nil {
		h.letGo() // others want those that all share
		return h.release, nil
	}
	h.release()
	if errors.Is(err, durable.ErrLocked) {
		err = &LiveError{path, "another process holds " + filepath.Base(h.last.Path), err}
	} else {
		err = fmt.Errorf("take the agent's lock %s: %w", h.last.Path, err)
	}
	return func() {}, err
}

// Live tells whether somebody may be at work on the session at a path. It does not wait to see whether the file is
// written, and where it cannot look it says yes.
func Live(path string, guards []format.Guard) bool {
	for _, g := range guards {
		if g.Kind != format.Quiet && look(context.Background(), durable.Disk, path, g) != nil {
			return true
		}
	}
	return false
}

func look(ctx context.Context, fsys durable.FS, path string, g format.Guard) error {
	var who []durable.Process
	var err error
	switch g.Kind {
	case format.FileLock:
		if g.Wait {
			return nil // taking it will show
		}
		busy, err := durable.FlockBusy(g.Path, g.Prefix)
		if busy {
			return &LiveError{path, "another process holds " + filepath.Base(g.Path), durable.ErrLocked}
		}
		return err
	case format.Quiet:
		if err := durable.Quiet(ctx, fsys, []string{g.Path}, quietWindow); errors.Is(err, durable.ErrChanged) {
			return &LiveError{path, "the file is being written", err}
		} else if err != nil {
			return err
		}
		return nil
	case format.Claim:
		return claimed(fsys, path, g)
	case format.Registry:
		who, err = durable.WhoIsRegistered(g.Path, func(name string, data []byte) (durable.Owner, bool) {
			o, ok := g.Owner(name, data)
			return durable.Owner(o), ok
		}, g.Entry, g.Session)
	case format.OpenFile:
		who, err = durable.WhoHasOpen(g.Path)
	case format.Running:
		home, _ := filepath.EvalSymlinks(g.Path)
		who, err = durable.WhoRuns(g.Names, func(env func(string) string) bool {
			theirs, _ := filepath.EvalSymlinks(g.Home(env))
			return theirs == home && home != ""
		})
		if g.Dir != nil {
			who = slices.DeleteFunc(who, func(p durable.Process) bool { return p.Dir != "" && !g.Dir(p.Dir) })
		}
	}
	if err != nil {
		return fmt.Errorf("look for a live owner of %s: %w", path, err)
	}
	if len(who) == 0 {
		return nil
	}
	var names []string
	for _, p := range who {
		names = append(names, fmt.Sprintf("process %d (%s) %s", p.PID, p.Name, p.Why))
	}
	return &LiveError{path, strings.Join(names, ", "), nil}
}
