package dsh_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/dsh"
)

func TestInherits(t *testing.T) {
	for _, c := range []struct {
		header string
		want   format.Heritage
		ok     bool
	}{
		{`"version":0,"id":"a"`, format.Heritage{}, false},
		{`"version":0,"id":"a","seedLength":4`, format.Heritage{}, false},
		{`"version":0,"id":"a","parentSession":7`, format.Heritage{}, false},
		{`"version":0,"id":"a","parentSession":"p","seedLength":4`, format.Heritage{Parent: "p", Records: 4}, true},
		{`"version":1,"id":"a","parentSession":"p\u0021","seedLength":0`, format.Heritage{Parent: "p!"}, true},
		{`"version":0,"id":"a","parentSession":"p","seedLength":-3`, format.Heritage{Parent: "p"}, true},
		{`"version":0,"id":"a","parentSession":"p","origin":"subagent"`, format.Heritage{Parent: "p"}, true},
		{`"version":0,"id":"a","parentSession":"p","origin":"subagent","seedLength":9`, format.Heritage{Parent: "p", Records: 9}, true},
		{`"version":2,"id":"a","parentSession":"p","isSeeded":true`, format.Heritage{Parent: "p", Records: -1}, true},
		{`"version":4,"id":"a","parentSession":"p","isSeeded":false`, format.Heritage{Parent: "p"}, true},
		{`"version":3,"id":"a","parentSession":"p"`, format.Heritage{Parent: "p", Records: -1}, true},
	} {
		line := []byte(`{"type":"session",` + c.header + `,"createdAt":1,"delegationDepth":0}`)
		if have, ok := (dsh.Format{}).Inherits(format.Peek{First: line}); have != c.want || ok != c.ok {
			t.Errorf("%s: %+v, %v", c.header, have, ok)
		}
	}
	if _, ok := (dsh.Format{}).Inherits(format.Peek{First: []byte(`{"type":"session/end-seed"}`)}); ok {
		t.Error("an event is no header")
	}
}

func TestAncestor(t *testing.T) {
	root := filepath.Join(t.TempDir(), "[a]")
	for _, name := range []string{
		"--own--/child/session.v3.jsonl",
		"--own--/plain/session.v3.jsonl", "--own--/plain/session.jsonl",
		"--own--/twice/session.v3.jsonl", "--other--/twice/session.v3.jsonl",
		"--other--/far/session.v3.jsonl.zstd", "--other--/a~002Fb/session.v3.jsonl",
		"--own--/older/session.v2.jsonl", "--own--/folder/session.v3.jsonl/x",
		"loose/stray/session.v3.jsonl",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for parent, want := range map[string]string{
		"plain": "--own--/plain/session.v3.jsonl", "twice": "--own--/twice/session.v3.jsonl", "far": "--other--/far/session.v3.jsonl.zstd",
		"a/b": "--other--/a~002Fb/session.v3.jsonl", "older": "--own--/older/session.v2.jsonl", "folder": "", "stray": "", "gone": "", "..": "", "": "",
	} {
		if want != "" {
			want = filepath.Join(root, filepath.FromSlash(want))
		}
		child := filepath.Join(root, "--own--", "child", "session.v3.jsonl")
		if have := (dsh.Format{}).Ancestor(child, format.Heritage{Parent: parent}); have != want {
			t.Errorf("%q: %s, want %s", parent, have, want)
		}
	}
	if have := (dsh.Format{}).Ancestor(filepath.Join(root, "copy.jsonl"), format.Heritage{Parent: "plain"}); have != "" {
		t.Errorf("a copy elsewhere has its parent at %s", have)
	}
}

func TestAlike(t *testing.T) {
	const e = `{"type":"user/message","seq":3,"time":9,"data":{"id":"m","x":%s},"surfaceOp":"append"}`
	for _, c := range []struct {
		name, child, parent string
		want                bool
	}{
		{"the same bytes", fmt.Sprintf(e, `1`), fmt.Sprintf(e, `1`), true},
		{"no records, the same", `?`, `?`, true},
		{"no records", `?`, `!`, false},
		{"a number", fmt.Sprintf(e, `1`), fmt.Sprintf(e, `1.0e0`), true},
		{"another number", fmt.Sprintf(e, `1`), fmt.Sprintf(e, `2`), false},
		{"an escape", fmt.Sprintf(e, `"é/"`), fmt.Sprintf(e, `"\u00e9\/"`), true},
		{"bytes that are no UTF-8", fmt.Sprintf(e, `"�"`), fmt.Sprintf(e, "\"\xff\""), true},
		{"a member twice", fmt.Sprintf(e, `2`), fmt.Sprintf(e, `1,"x":2`), true},
		{"a member more", fmt.Sprintf(e, `1`), fmt.Sprintf(e, `1,"y":null`), false},
		{"order", `{"seq":1,"type":"a"}`, `{"type":"a","seq":1}`, true},
		{"joined sources", `{"type":"a","sourceEventSeqs":[[1,4],9]}`, `{"type":"a","sourceEventSeqs":[1,2,3,4,9]}`, true},
		{"other sources", `{"type":"a","sourceEventSeqs":[[1,4],9]}`, `{"type":"a","sourceEventSeqs":[1,2,4,9]}`, false},
		{"no sources", `{"type":"a","sourceEventSeqs":[[1]]}`, `{"type":"a","sourceEventSeqs":["1"]}`, false},
		{"an older form, rewritten", `{"type":"user/message","seq":3,"time":9,"data":{"id":"legacy-message:a:3"}}`, `{"type":"steering/message","seq":3,"time":9,"data":{"turn":1}}`, true},
		{"an older form of another record", `{"type":"user/message","seq":4,"time":9,"data":{"id":"legacy-message:a:3"}}`, `{"type":"steering/message","seq":3,"time":9,"data":{"turn":1}}`, false},
		{"an older form without number", `{"type":"a","seq":{},"time":[]}`, `{"type":"steering/message","seq":{},"time":[]}`, false},
		{"ids that upgrades made", fmt.Sprintf(e, `["legacy-retry:a:b:7",{"y":"v2-to-v3-system-00ff"}]`), fmt.Sprintf(e, `["legacy-retry:c:7",{"y":"v2-to-v3-system-ff00"}]`), true},
		{"such ids of other records", fmt.Sprintf(e, `"legacy-message:a:7"`), fmt.Sprintf(e, `"legacy-message:a:8"`), false},
		{"a turn's trigger", `{"type":"turn/start","seq":3,"time":9,"data":{"turn":1}}`, `{"type":"turn/start","seq":3,"time":9,"data":{"turn":1,"trigger":"user"}}`, true},
	} {
		if have := (dsh.Format{}).Alike([]byte(c.child), []byte(c.parent)); have != c.want {
			t.Errorf("%s: %v", c.name, have)
		}
	}
}

func FuzzAlike(f *testing.F) {
	for _, s := range fuzzSeeds(f) {
		f.Add(s, s)
	}
	f.Add([]byte(`{"type":"steering/message","seq":{},"sourceEventSeqs":[[1,[]]]}`), []byte(`{"seq":{}}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		dsh.Format{}.Alike(a, b)
		if !(dsh.Format{}).Alike(a, a) {
			t.Fatal("a record is not like itself")
		}
		dsh.Format{}.Inherits(format.Peek{First: a})
	})
}
