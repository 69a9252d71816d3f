package export

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/toy"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
)

// A file that is cut while it is read gives an error that says so, and names it.
func TestShorter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "talk"+toy.TreeSuffix)
	if err := os.WriteFile(path, []byte(`{"t":"user","id":"a","up":null,"text":"Plums?"}`+"\n"+`{"t":"say","id":"b","up":"a","text":"Ripe."}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := store.Open(t.Context(), []string{path}, store.Options{Formats: []format.Format{toy.Tree{}}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), found.Groups()[0], repair.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	talk, err := s.Follow(t.Context(), false)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	tell := func() error {
		return talk.Say(t.Context(), false, func(m *Said) error {
			said = append(said, m.Blocks[0].Text)
			return nil
		})
	}
	if err := tell(); err != nil || strings.Join(said, " ") != "Plums? Ripe." {
		t.Fatal(said, err)
	}
	if err := os.Truncate(path, 60); err != nil {
		t.Fatal(err)
	}
	err = tell()
	if !errors.Is(err, errShorter) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "EOF") {
		t.Errorf("%v", err)
	}
}
