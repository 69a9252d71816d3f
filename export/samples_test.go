package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sessfix/sessfix/export"
	"github.com/sessfix/sessfix/format/all"
	"github.com/sessfix/sessfix/jsonout"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

const samples = "../testdata"

var tool = jsonout.Tool{Name: "sessfix", Version: "test"}

// open opens the session at a path below testdata.
func open(t testing.TB, path string) *export.Session {
	t.Helper()
	env := func(string) string { return "" }
	found, err := store.Open(t.Context(), []string{filepath.Join(samples, path)}, store.Options{Formats: all.Formats(), Env: env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(found.Close)
	groups := found.Groups()
	if len(groups) != 1 {
		t.Fatalf("%s: %d sessions, %v", path, len(groups), found.Troubles)
	}
	s, err := export.Open(t.Context(), groups[0], repair.Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	s.Path = path
	return s
}

// forms are the exports that have golden files.
var forms = []struct {
	name  string
	write func(ctx context.Context, s *export.Session) ([]byte, error)
}{
	{"md", func(ctx context.Context, s *export.Session) ([]byte, error) {
		var b bytes.Buffer
		err := export.WriteMarkdown(ctx, &b, s, export.Options{Content: true})
		return b.Bytes(), err
	}},
	{"redacted.md", func(ctx context.Context, s *export.Session) ([]byte, error) {
		var b bytes.Buffer
		err := export.WriteMarkdown(ctx, &b, s, export.Options{})
		return b.Bytes(), err
	}},
	{"jsonl", func(ctx context.Context, s *export.Session) ([]byte, error) {
		var b bytes.Buffer
		err := export.WriteJSONL(ctx, &b, s, tool, export.Options{Content: true})
		return b.Bytes(), err
	}},
	{"redacted.jsonl", func(ctx context.Context, s *export.Session) ([]byte, error) {
		var b bytes.Buffer
		err := export.WriteJSONL(ctx, &b, s, tool, export.Options{})
		return b.Bytes(), err
	}},
	{"anthropic.json", messages("anthropic")},
	{"openai.json", messages("openai")},
}

func messages(provider string) func(ctx context.Context, s *export.Session) ([]byte, error) {
	return func(ctx context.Context, s *export.Session) ([]byte, error) {
		var b bytes.Buffer
		_, err := export.WriteMessages(ctx, &b, s, provider, export.Options{Content: true})
		return b.Bytes(), err
	}
}

// golden are the samples that have golden files: of each agent one that is whole and says much, and one that is damaged.
var golden = map[string]string{
	"dsh":             "sessions/dsh/orchard.v0.jsonl",
	"dsh-frames":      "sessions/dsh/orchard.v3.jsonl.zstd",
	"dsh-damaged":     "corrupt/calls-started/session.jsonl",
	"claude":          "sessions/claude-code/compacted.jsonl",
	"claude-spilled":  "sessions/claude-code/spilled.jsonl",
	"claude-damaged":  "corrupt/claude-dangling-parallel",
	"codex":           "sessions/codex/tools",
	"codex-compacted": "sessions/codex/compacted",
	"codex-back":      "sessions/codex/taken-back",
	"codex-damaged":   "corrupt/codex-call-middle",
	"pi":              "sessions/pi/everything.jsonl",
	"pi-tree":         "sessions/pi/tree.jsonl",
	"pi-damaged":      "corrupt/pi-dangling-parallel",
	"grok":            "sessions/grok/orchard",
	"grok-rewound":    "sessions/grok/rewound",
	"grok-damaged":    "corrupt/grok-answer-torn",
}

func TestGolden(t *testing.T) {
	for name, path := range golden {
		t.Run(name, func(t *testing.T) {
			s := open(t, path)
			for _, f := range forms {
				got, err := f.write(t.Context(), s)
				if err != nil {
					t.Errorf("%s: %v", f.name, err)
					continue
				}
				file := filepath.Join("testdata", "golden", name+"."+f.name)
				if *update {
					if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(file, got, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(got, want) {
					t.Errorf("%s differs from what is written (run the test with -update, and look at the change)", file)
				}
			}
		})
	}
}

// each calls do with every session below a folder of testdata.
func each(t *testing.T, do func(t *testing.T, s *export.Session)) {
	env := func(string) string { return "" }
	seen := 0
	for _, dir := range []string{"sessions", "corrupt"} {
		found, err := store.Open(t.Context(), []string{filepath.Join(samples, dir)}, store.Options{Formats: all.Formats(), Env: env})
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		for _, group := range found.Groups() {
			s, err := export.Open(t.Context(), group, repair.Options{Env: env})
			if err != nil {
				t.Errorf("%s: %v", group[0].Path, err)
				continue
			}
			seen++
			do(t, s)
			s.Close()
		}
	}
	if seen < 250 {
		t.Errorf("only %d sessions were looked at", seen)
	}
}

// All shipped sessions can be told in every form, damaged or not; the lists are such that a provider takes them, which the writer checks
// itself; and two runs give the same bytes.
func TestEverySampleIsTold(t *testing.T) {
	told := 0
	schema := lineSchema(t)
	each(t, func(t *testing.T, s *export.Session) {
		for _, f := range forms {
			one, err := f.write(t.Context(), s)
			if err != nil {
				t.Errorf("%s: %s: %v", s.Path, f.name, err)
				continue
			}
			two, err := f.write(t.Context(), s)
			if err != nil || !bytes.Equal(one, two) {
				t.Errorf("%s: %s: two runs differ: %v", s.Path, f.name, err)
			}
			switch {
			case strings.HasSuffix(f.name, "jsonl"):
				fits(t, schema, s.Path, one)
			case strings.HasSuffix(f.name, ".json"):
				var list []json.RawMessage
				if err := json.Unmarshal(one, &list); err != nil {
					t.Errorf("%s: %s: %v", s.Path, f.name, err)
				}
				if len(list) > 0 {
					told++
				}
			}
		}
	})
	if told < 300 {
		t.Errorf("only %d lists hold anything", told)
	}
}

func lineSchema(t *testing.T) *jsonschema.Schema {
	f, err := os.Open("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	// The schema that is shipped lets later releases add keys; the tests let nobody add one to the lines alone.
	for _, def := range doc.(map[string]any)["$defs"].(map[string]any) {
		if def := def.(map[string]any); def["properties"] != nil {
			def["additionalProperties"] = false
		}
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("line.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("line.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fits holds each line against the schema, and the first against the others.
func fits(t *testing.T, schema *jsonschema.Schema, path string, text []byte) {
	findings, want := 0, 0
	for i, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err != nil {
			t.Fatalf("%s: line %d: %v", path, i+1, err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: line %d: %v\n%s", path, i+1, err, line)
			return
		}
		o := v.(map[string]any)
		switch o["type"] {
		case "session":
			n, _ := o["findings"].(json.Number).Int64()
			want = int(n)
		case "finding":
			findings++
		}
		if (o["type"] == "session") != (i == 0) {
			t.Errorf("%s: line %d is a %s", path, i+1, o["type"])
		}
	}
	if findings != want {
		t.Errorf("%s: %d findings of %d", path, findings, want)
	}
}

// Each record of the file stands in the lines, in its place and with its length.
func TestSpans(t *testing.T) {
	s := open(t, golden["claude"])
	data, err := os.ReadFile(filepath.Join(samples, golden["claude"]))
	if err != nil {
		t.Fatal(err)
	}
	text, err := forms[2].write(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	at := int64(0)
	for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n"))[1:] {
		var r struct {
			Type           string
			Offset, Length int64
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		if r.Type != "record" {
			continue
		}
		if r.Offset != at || data[r.Offset] != '{' || data[r.Offset+r.Length] != '\n' {
			t.Errorf("a record at %d of %d bytes, want one at %d", r.Offset, r.Length, at)
		}
		at = r.Offset + r.Length + 1
	}
	if at != int64(len(data)) {
		t.Errorf("the records end at %d of %d", at, len(data))
	}
}

// What is redacted holds no word of the conversation, in no form.
func TestRedactedHoldsNoText(t *testing.T) {
	for name, secrets := range map[string][]string{
		"claude":         {"crates", "Seventeen", "press the juice", "210 litres"},
		"claude-damaged": {"./", "press"},
	} {
		s := open(t, golden[name])
		for _, f := range forms {
			text, err := f.write(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			for _, secret := range secrets {
				has := strings.Contains(string(text), secret)
				if strings.HasPrefix(f.name, "redacted") && has {
					t.Errorf("%s: %s holds %q", name, f.name, secret)
				}
				if f.name == "md" && !has && name == "claude" {
					t.Errorf("%s: not even the transcript holds %q", name, secret)
				}
			}
		}
	}
}
