package repair_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Where sessions of real clients lie beside the repository they are cut as well: at every byte if SESSFIX_EVERY_CUT is
// set, else at a few hundred.
func TestCutSamples(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "oracles")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no samples of real clients beside the repository")
	}
	for _, name := range []string{
		"claude-code/samples/real-crash-parallel.jsonl", "claude-code/samples/real-old-2.1.81.jsonl", "claude-code/samples/real-compact.jsonl",
		"codex/samples/crash-parallel/*", "codex/samples/legacy-compact/*", "codex/samples/compressed/*",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			paths, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(name)))
			if err != nil || len(paths) != 1 {
				t.Fatalf("%q, %v", paths, err)
			}
			data, err := os.ReadFile(paths[0])
			if err != nil {
				t.Fatal(err)
			}
			path := transcriptPath
			if strings.HasPrefix(name, "codex") {
				path = "no-such-directory/" + filepath.Base(paths[0])
			}
			step := 61
			if os.Getenv("SESSFIX_EVERY_CUT") != "" {
				step = 1
			}
			for n := 0; n <= len(data); n += step {
				if _, err := once(t.Context(), path, data[:n:n], n%5 == 0); err != nil {
					t.Fatalf("cut at %d of %d: %v", n, len(data), err)
				}
			}
		})
	}
}
