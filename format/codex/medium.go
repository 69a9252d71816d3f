package codex

import (
	"path/filepath"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

// Recoded is the name of a rollout plain or compressed. Of both beside each other the client opens the plain one.
func (Format) Recoded(s format.Source, medium string) (string, error) {
	name := strings.TrimSuffix(filepath.Base(s.Path), ".zst")
	switch medium {
	case scan.Frames:
		return name + ".zst", nil
	case scan.Lines:
		return name, nil
	}
	return "", format.Refuse(-1, "rollouts lie in files only")
}
