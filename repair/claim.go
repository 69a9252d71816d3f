package repair

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/format"
)

// claimed finds out whether a process that lives has claimed the session. A claim that cannot be read counts as one.
func claimed(fsys durable.FS, path string, g format.Guard) error {
	data, err := fsys.ReadFile(g.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	o, ok := g.Owner(filepath.Base(g.Path), data)
	switch {
	case !ok:
		return &LiveError{path, filepath.Base(g.Path) + " is there and cannot be read", durable.ErrLocked}
	case durable.Alive(o.PID, o.Start):
		return &LiveError{path, fmt.Sprintf("process %d holds %s", o.PID, filepath.Base(g.Path)), durable.ErrLocked}
	}
	return nil
}

// claim claims the session. The claim of a process that is gone goes first.
func claim(fsys durable.FS, g format.Guard) error {
	if _, err := fsys.Stat(g.Path); err == nil {
		if err := claimed(fsys, g.Path, g); err != nil {
			return err
		}
		if err := fsys.Remove(g.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	pid, start := durable.Self()
	return durable.Claim(fsys, g.Path, g.Say(pid, start, time.Now()))
}
