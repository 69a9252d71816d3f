package export_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/export"
	"github.com/sessfix/sessfix/format/all"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
)

// folder opens the session in a folder.
func folder(t *testing.T, dir string) *export.Session {
	t.Helper()
	env := func(string) string { return "" }
	found, err := store.Open(t.Context(), []string{dir}, store.Options{Formats: all.Formats(), Env: env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(found.Close)
	s, err := export.Open(t.Context(), found.Groups()[0], repair.Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// A talk of which the file is gone is told as a repair would write it anew.
func TestMissingTalk(t *testing.T) {
	const name = "chat_history.jsonl"
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../testdata/sessions/grok/orchard")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	s := folder(t, dir)
	if s.Talk == nil || s.Talk.File != name || !s.Talk.Missing {
		t.Fatalf("the talk is %+v", s.Talk)
	}
	var messages, page bytes.Buffer
	if _, err := export.WriteMessages(t.Context(), &messages, s, "openai", export.Options{Content: true}); err != nil {
		t.Fatal(err)
	}
	if err := export.WriteMarkdown(t.Context(), &page, s, export.Options{Content: true}); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"Which of them are ripe?", "plum 7", "call_south", "It is 12 in the north"} {
		if !bytes.Contains(messages.Bytes(), []byte(words)) {
			t.Errorf("the messages are without %q:\n%s", words, &messages)
		}
	}
	for _, words := range []string{"Which of them are ripe?", "plum 7", "It is 12 in the north"} {
		if !bytes.Contains(page.Bytes(), []byte(words)) {
			t.Errorf("the transcript is without %q:\n%s", words, &page)
		}
	}
}

// What the talk no longer holds, and another part tells, stands in front of it in a transcript, and in no list.
func TestFrontOfTalk(t *testing.T) {
	s := folder(t, "../testdata/sessions/grok/compacted")
	var messages, page bytes.Buffer
	if _, err := export.WriteMessages(t.Context(), &messages, s, "openai", export.Options{Content: true}); err != nil {
		t.Fatal(err)
	}
	if err := export.WriteMarkdown(t.Context(), &page, s, export.Options{Content: true}); err != nil {
		t.Fatal(err)
	}
	front, talk, _ := strings.Cut(page.String(), "## Instructions")
	for _, words := range []string{"> What was picked on Monday?", "> 12 kg of pears.", "no longer sent"} {
		if !strings.Contains(front, words) || strings.Contains(talk, words) {
			t.Errorf("%q does not stand in front:\n%s", words, &page)
		}
	}
	if !strings.Contains(talk, "> 42 kg;") || strings.Contains(front, "> 42 kg;") || strings.Contains(messages.String(), "picked on Monday") {
		t.Errorf("the talk is not told once:\n%s\n%s", &page, &messages)
	}
}
