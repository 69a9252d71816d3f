package harness

import (
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
)

const draftHead = `{"kind":"header","version":4,"id":"d1","createdAt":1700000000000,"cwd":"/home/user/project","metadata":{"a":1}}`

func TestOwn(t *testing.T) {
	for first, want := range map[string]bool{
		head(""):                           true,
		draftHead:                          true,
		`{"v":9,"kind":"header","id":"x"}`: true,
		`{"kind":"header","seq":7,"v":4}`:  false,
		`{"kind":"header"}`:                false,
		`{"type":"session","version":3,"id":"x","timestamp":"t","cwd":1}`: false,
		`[` + head("") + `]`: false,
		head("")[:40]:        false,
		"":                   false,
		"null":               false,
	} {
		if Own([]byte(first)) != want {
			t.Errorf("%s: own is %v", first, !want)
		}
	}
}

func TestShaped(t *testing.T) {
	for record, generation := range map[string]string{
		told(head(""), tx{set(tips, "main", "null")}):                                                    "",
		`{"kind":"value","op":"set","seq":1,"namespace":"a","key":"b","value":1}`:                        current,
		`[{"kind":"entry","id":"a","parentId":null,"type":"message","seq":1,"timestamp":1}]`:             current,
		`{"kind":"entry","lane":"main","id":"a","parentId":null,"type":"message","seq":1,"timestamp":1}`: draft,
		`{"kind":"fact","seq":1,"fact":"name"}`:                                                          draft,
		`{"kind":"value"}`:                                                                               "",
		`{"kind":"entry","seq":1}`:                                                                       "",
		`[]`:                                                                                             "",
		`[7]`:                                                                                            "",
		`{"type":"message","id":"a"}`:                                                                    "",
	} {
		record, _, _ := strings.Cut(record, "\n")
		if Shaped([]byte(record)) != (generation != "") {
			t.Errorf("%s: shaped is %v", record, generation == "")
		}
		d, err := Dialect([]byte(record))
		if err != nil || generation != "" && d.Version() != generation {
			t.Errorf("%s: %v, %v", record, d, err)
		}
	}
}

func TestDialect(t *testing.T) {
	for _, c := range []struct{ first, generation, version string }{
		{head(""), current, ""},
		{draftHead, draft, ""},
		{strings.Replace(head(""), `"v":4`, `"v":5`, 1), "", "5"},
		{strings.Replace(head(""), `"v":4`, `"v":"4"`, 1), "", `"4"`},
		{strings.Replace(head(""), `"storageVersion":1`, `"storageVersion":2`, 1), "", "4 with storage version 2"},
		{strings.Replace(head(""), `"storageVersion":1`, `"storageVersion":0`, 1), current, ""},
		{strings.Replace(draftHead, `"version":4`, `"version":3`, 1), "", "3"},
		{"{", current, ""},
	} {
		d, err := Dialect([]byte(c.first))
		if c.generation != "" {
			if err != nil || d.Version() != c.generation {
				t.Errorf("%s: %v, %v", c.first, d, err)
			}
			continue
		}
		if v, ok := err.(*format.VersionError); !ok || v.Version != c.version || v.Newer != (c.version == "5" || strings.HasSuffix(c.version, "2")) {
			t.Errorf("%s: %#v", c.first, err)
		}
	}
	if d, _ := Dialect([]byte(draftHead)); !d.Rules().KeepTime {
		t.Error("the draft's client lists sessions by time")
	}
}

func TestTitle(t *testing.T) {
	got := Title([]byte(head(`,"parentSessionId":"p"`)))
	if got.ID != sessionID || got.CWD != "/home/user/project" || got.Parent != "p" {
		t.Errorf("%+v", got)
	}
	if got := Title([]byte(`{"kind":"value","seq":1,"id":"x"}`)); got != (format.Header{}) {
		t.Errorf("%+v", got)
	}
}

func TestDurable(t *testing.T) {
	commit := `{"type":"commit","seq":1,"files":[]}`
	for _, c := range []struct {
		path, first string
		want        bool
	}{
		{"s/main.jsonl", commit, true},
		{"s/main.jsonl", `{"seq":1,"maxId":3,"writes":[]}`, true},
		{"s/doc-12.jsonl", `{"type":"document","seq":4,"id":12}`, true},
		{"s/task-7.jsonl", `{"seq":4,"maxId":9,"writes":[{}],"refs":[]}`, true},
		{"s/sticky-1.jsonl", `{"seq":4,"maxId":9,"writes":[]}`, true},
		{"s/main.jsonl", head(""), false},
		{"s/main.jsonl", `{"type":"session","version":3}`, false},
		{"s/main.jsonl", "", false},
		{"s/task-x.jsonl", commit, false},
		{"s/other.jsonl", commit, false},
		{"s/main.jsonl.reclaim", commit, false},
		{"s/doc-12.jsonl", `{"seq":0,"type":"x"}`, false},
	} {
		if Durable(c.path, []byte(c.first)) != c.want {
			t.Errorf("%s, %s: durable is %v", c.path, c.first, !c.want)
		}
	}
}

// Every row is about these sessions only: the table stands in front of another.
func TestReactions(t *testing.T) {
	rows, err := format.ParseReactions(Reactions)
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]bool{current: true, draft: true, "lane": true, "entry": true, "idle": true, "suspended": true}
	for _, r := range rows {
		if !own[r.Where] || r.From >= 0 {
			t.Errorf("%s %s is not of these sessions alone", r.Code, r.Where)
		}
	}
}

func TestSafe(t *testing.T) {
	for text, want := range map[string]int64{"7": 7, "-1": -1, "1.0": 1, "1e3": 1000, "9007199254740991": safest, "0": 0} {
		if n, ok := safe([]byte(text)); !ok || n != want {
			t.Errorf("%s is %d, %v", text, n, ok)
		}
	}
	for _, text := range []string{"", "9007199254740992", "1.5", `"1"`, "null", "[1]", "1e400", "99999999999999999999"} {
		if n, ok := safe([]byte(text)); ok {
			t.Errorf("%s is %d", text, n)
		}
	}
}
