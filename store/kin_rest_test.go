package store_test

import (
	"context"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/codex"
	"github.com/sessfix/sessfix/store"
)

// Options.Env may be nil where a path is named, as in all other formats.
func TestKinNoEnv(t *testing.T) {
	dir := tree(t, map[string]string{"sessions/2026/01/02/" + rolloutName(thread(1)): starts(1, 0, "")})
	_, err := store.Open(context.Background(), []string{dir}, store.Options{Formats: []format.Format{codex.Format{}}})
	must(t, err)
}
