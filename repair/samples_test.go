package repair_test

import (
	"os"
	"path/filepath"
	"testing"
)

// Where sessions of real clients lie beside the repository they are cut as well: at every byte if SESSFIX_EVERY_CUT is
// set, else at a few hundred.
func TestCutSamples(t *testing.T) {
	dir := filepath.Join("..", "..", "shared", "oracles", "claude-code", "samples")
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no samples of real clients beside the repository")
	}
	for _, name := range []string{"real-crash-parallel.jsonl", "real-old-2.1.81.jsonl", "real-compact.jsonl"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			step := 61
			if os.Getenv("SESSFIX_EVERY_CUT") != "" {
				step = 1
			}
			for n := 0; n <= len(data); n += step {
				if _, err := once(t.Context(), transcriptPath, data[:n:n], n%5 == 0); err != nil {
					t.Fatalf("cut at %d of %d: %v", n, len(data), err)
				}
			}
		})
	}
}
