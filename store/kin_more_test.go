package store_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/codex"
	"github.com/sessfix/sessfix/store"
)

// Nobody is waited for at the other end of a pipe that bears a rollout's name.
func TestKinOfPipe(t *testing.T) {
	mkfifo, err := exec.LookPath("mkfifo")
	if err != nil {
		t.Skip("no named pipes here")
	}
	whole := starts(1, 0, "") + more(1, 4)
	at := func(n int) string { return "sessions/2026/01/02/" + rolloutName(thread(n)) }
	dir := tree(t, map[string]string{at(1): whole, at(2): starts(2, 5, on(thread(1), 5, len(whole))), at(3): starts(3, 5, on(thread(7), 5, each))})
	must(t, exec.Command(mkfifo, filepath.Join(dir, filepath.FromSlash(at(7)))).Run())
	done := make(chan map[string]string, 1)
	go func() { done <- kin(t, dir) }()
	select {
	case got := <-done:
		if got[at(1)] != fmt.Sprint(len(whole)) || got[at(3)] != "-1 missing" {
			t.Errorf("%v", got)
		}
	case <-time.After(5 * time.Second):
		t.Fatal("it hangs")
	}
}

// A file that lies beside the days does not make a home smaller for the others.
func TestKinOfBesideTheDays(t *testing.T) {
	whole := starts(1, 0, "") + more(1, 4)
	dir := tree(t, map[string]string{"archived_sessions/" + rolloutName(thread(1)): whole, "sessions/" + rolloutName(thread(3)): starts(3, 0, ""),
		"sessions/2026/01/02/" + rolloutName(thread(2)): starts(2, 5, on(thread(1), 5, len(whole)))})
	found, err := store.Open(context.Background(), []string{dir}, store.Options{Formats: []format.Format{codex.Format{}}, Env: func(string) string { return "" }})
	must(t, err)
	for i := len(found.Sessions) - 1; i >= 0; i-- { // whoever is asked first
		s := found.Sessions[i]
		if s.Pin(); len(s.Beside()) > 0 {
			t.Errorf("%s: %+v", s.Path, s.Beside())
		}
	}
}

// Nothing at all of a packed rollout ends at a record's end, too.
func TestKinOfNothingOfPacked(t *testing.T) {
	at := func(n int) string { return "sessions/2026/01/02/" + rolloutName(thread(n)) }
	if got := kin(t, tree(t, map[string]string{at(1) + ".zst": packed(starts(1, 0, "")), at(2): starts(2, 0, on(thread(1), 0, 0))}))[at(2)]; got != "-1" {
		t.Error(got)
	}
}
