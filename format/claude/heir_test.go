package claude

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
)

func TestInherits(t *testing.T) {
	for first, want := range map[string]string{
		`{"type":"user","uuid":"a","parentUuid":null,"forkedFrom":{"sessionId":"@3","messageUuid":"a"}}`: idOf("3"),
		`{"type":"user","uuid":"a","parentUuid":null,"sessionId":"@1"}`:                                  "",
		`{"type":"mode","mode":"normal","forkedFrom":{"sessionId":"@3"}}`:                                "",
		`{"type":"user","uuid":"a","forkedFrom":{"sessionId":"../@3"}}`:                                  "",
		`{"type":"user","uuid":"a","forkedFrom":{"sessionId":7}}`:                                        "",
		`{"type":"user","uuid":"a","forkedFrom":"@3"}`:                                                   "",
		`{"type":"assistant","uuid":"a","requestSessionId":"@3"}`:                                        "",
		`{"type":"user"`: "",
		"":               "",
	} {
		h, ok := (Format{}).Inherits(format.Peek{First: []byte(strings.ReplaceAll(first, "@3", idOf("3")))})
		if ok != (want != "") || h.Parent != want || ok && h.Records != -1 {
			t.Errorf("%s: %+v %v", first, h, ok)
		}
	}
}

// A child says whose it is in the words that are read.
func TestForkInherits(t *testing.T) {
	q := request(sessionPath(t), "*user a\n *answer b")
	_, text := born(t, q)
	first, _, _ := strings.Cut(strings.ReplaceAll(text, "@1", idOf("1")), "\n")
	if h, ok := (Format{}).Inherits(format.Peek{First: []byte(first)}); !ok || h.Parent != idOf("1") {
		t.Errorf("%+v %v", h, ok)
	}
}

func TestAncestor(t *testing.T) {
	home := t.TempDir()
	at := func(parts ...string) string { return filepath.Join(append([]string{home}, parts...)...) }
	for _, p := range []string{at("projects", "-a", idOf("1")+".jsonl"), at("projects", "-b", idOf("1")+".jsonl"), at("projects", "-b", idOf("2")+".jsonl"), at("copies", idOf("3")+".jsonl")} {
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ path, parent, want string }{
		{at("projects", "-b", idOf("9")+".jsonl"), idOf("1"), at("projects", "-b", idOf("1")+".jsonl")},
		{at("projects", "-c", idOf("9")+".jsonl"), idOf("1"), at("projects", "-a", idOf("1")+".jsonl")},
		{at("projects", "-a", idOf("9")+".jsonl"), idOf("2"), at("projects", "-b", idOf("2")+".jsonl")},
		{at("copies", "child.jsonl"), idOf("3"), at("copies", idOf("3")+".jsonl")},
		{at("copies", "child.jsonl"), idOf("1"), ""},
		{at("projects", "-a", idOf("9")+".jsonl"), idOf("4"), ""},
		{at("projects", "-a", idOf("9")+".jsonl"), "../../copies/" + idOf("3"), ""},
	} {
		if got := (Format{}).Ancestor(c.path, format.Heritage{Parent: c.parent}); got != c.want {
			t.Errorf("%s of %s: %s, want %s", c.parent, c.path, got, c.want)
		}
	}
}

func TestAlike(t *testing.T) {
	const parent = `{"parentUuid":"p","type":"user","uuid":"a","timestamp":"t","message":{"content":"x"},"sessionId":"1","cwd":"/a"}`
	for child, want := range map[string]bool{
		parent: true,
		`{"parentUuid":"q","type":"user","uuid":"a","timestamp":"t","message":{"content":"x"},"sessionId":"2","forkedFrom":{}}`: true,
		`{"type":"user","uuid":"a","timestamp":"t","message":{"content":"y"}}`:                                                  false,
		`{"type":"user","uuid":"a","timestamp":"u","message":{"content":"x"}}`:                                                  false,
		`{"type":"user","uuid":"a","timestamp":"t"}`:                                                                            false,
		`{"type":"user","uuid":"a","timestamp":"t","content":{"content":"x"}}`:                                                  false,
		`{"type":"user","uuid":"a","timestamp":"t","message":{"content":"x"},"attachment":{}}`:                                  false,
		`{"type":"user"`: false,
	} {
		if got := (Format{}).Alike([]byte(child), []byte(parent)); got != want {
			t.Errorf("%s: %v", child, got)
		}
	}
	if !(Format{}).Alike([]byte("{torn"), []byte("{torn")) || (Format{}).Alike([]byte("{torn"), []byte("{other")) {
		t.Error("what is no record is compared by its bytes")
	}
}
