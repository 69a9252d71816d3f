package dsh

import (
	"path/filepath"

	"github.com/sessfix/sessfix/format"
)

// Guards keep a live agent out of a session that lies in a sessions root. Builds of version 1
// and up hold a kernel lock on session.lock for as long as they may write; version 0 has no
// lock, opens the log only to append, and waits at most 200 ms between two appends.
func (Format) Guards(path string) []format.Guard {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	if _, _, _, placed := placeOf(abs); !placed {
		return nil
	}
	dir := filepath.Dir(abs)
	sessions := filepath.Dir(filepath.Dir(dir))
	return []format.Guard{
		{Kind: format.FileLock, Path: filepath.Join(dir, "session.lock"), Prefix: `dsh-session-lock-`},
		{Kind: format.OpenFile, Path: abs},
		{Kind: format.Running, Path: filepath.Dir(sessions), Names: []string{"dsh"}, Home: homeOf},
		{Kind: format.Quiet, Path: abs},
	}
}
