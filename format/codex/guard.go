package codex

import (
	"os"
	"path/filepath"

	"github.com/sessfix/sessfix/format"
)

// Guards keep a live client out of a rollout. Releases from 0.150.1 on hold the kernel lock of a thread for as long as
// they have it loaded, and take it under a second lock that all of them share for a moment; its file goes with them.
// Earlier ones have no lock, and keep the rollout open while they may write.
func (Format) Guards(path string) []format.Guard {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	n, named := nameOf(abs)
	root := rootOf(abs)
	if !named || root == "" {
		return nil
	}
	locks := filepath.Join(root, "thread-writer-locks")
	out := []format.Guard{
		{Kind: format.FileLock, Path: filepath.Join(locks, ".coordination.lock"), Wait: true, Make: true},
		{Kind: format.FileLock, Path: filepath.Join(locks, n.thread+".lock"), Sweep: true},
		{Kind: format.OpenFile, Path: abs},
		{Kind: format.Quiet, Path: abs},
	}
	maintenance := filepath.Join(root, ".tmp", "rollout-maintenance.lock")
	if _, err := os.Stat(maintenance); err == nil {
		out = append(out, format.Guard{Kind: format.FileLock, Path: maintenance})
	}
	return out
}
