package repair

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
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
	var locks []func()
	release = func() {
		for i := len(locks) - 1; i >= 0; i-- {
			locks[i]()
		}
	}
	defer func() {
		if err != nil {
			release()
			release = func() {}
		}
	}()
	// What only looks comes first: a refusal must leave no trace.
	for _, g := range guards {
		if err := look(ctx, fsys, path, g); err != nil {
			return release, err
		}
	}
	for _, g := range guards {
		if g.Kind != format.FileLock {
			continue
		}
		l, err := lock(ctx, fsys, g)
		if errors.Is(err, durable.ErrLocked) {
			return release, &LiveError{path, "another process holds " + filepath.Base(g.Path), err}
		}
		if err != nil {
			return release, fmt.Errorf("take the agent's lock %s: %w", g.Path, err)
		}
		locks = append(locks, func() {
			if g.Sweep {
				fsys.Remove(g.Path) // ours, while nobody else can take it
			}
			l.Unlock()
		})
	}
	return release, nil
}

// lockWait is how long a lock is waited for that others hold for moments only.
const lockWait = 2 * time.Second

// lock takes an agent's lock.
func lock(ctx context.Context, fsys durable.FS, g format.Guard) (*durable.Lock, error) {
	if g.Make {
		if err := durable.MkdirAllSync(fsys, filepath.Dir(g.Path)); err != nil {
			return nil, err
		}
	}
	for until := time.Now().Add(lockWait); ; {
		l, err := durable.Flock(g.Path, g.Prefix)
		if !g.Wait || !errors.Is(err, durable.ErrLocked) || time.Now().After(until) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
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
