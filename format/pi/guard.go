package pi

import (
	"path/filepath"

	"github.com/sessfix/sessfix/format"
)

// Guards find a live client. It has no lock, no registry, and opens the file anew for each entry: what shows it is a
// process of its name that uses the same folder, and works where the session belongs, and that the file is written. One that goes on after all does no harm to the
// file: its next entry begins a branch.
func (Format) Guards(path string) []format.Guard {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	out := []format.Guard{{Kind: format.Quiet, Path: abs}}
	if dir := filepath.Dir(filepath.Dir(abs)); placed(abs) && filepath.Base(dir) == "sessions" {
		agent := filepath.Dir(dir)
		folder := filepath.Base(filepath.Dir(abs))
		here := func(dir string) bool { return folderOf(dir) == folder }
		out = append([]format.Guard{{Kind: format.Running, Path: agent, Names: []string{"pi", "pi-rpc"}, Home: agentDir, Dir: here}}, out...)
	}
	return out
}

var _ format.Guarder = Format{}
