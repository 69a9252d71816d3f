package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// scanShapes are the schemas of scan's document and lines, closed like those of the report: see shapes.
var scanShapes = sync.OnceValues(func() (s struct{ document, line *jsonschema.Schema }, err error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	for _, name := range []string{"schema.json", "scan-schema.json"} {
		doc, err := closedSchema(name)
		if err != nil {
			return s, err
		}
		if err := c.AddResource("https://github.com/sessfix/sessfix/report/"+name, doc); err != nil {
			return s, err
		}
	}
	const id = "https://github.com/sessfix/sessfix/report/scan-schema.json"
	if s.document, err = c.Compile(id); err != nil {
		return s, err
	}
	s.line, err = c.Compile(id + "#/$defs/line")
	return s, err
})

// fitsScan holds what scan prints against its schema.
func fitsScan(data []byte, lines bool) error {
	s, err := scanShapes()
	if err != nil {
		return err
	}
	if !lines {
		return validate(s.document, data)
	}
	n := 0
	for line := range bytes.Lines(data) {
		n++
		if err := validate(s.line, line); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if n == 0 {
		return errors.New("no line at all")
	}
	return nil
}

func validate(s *jsonschema.Schema, data []byte) error {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("it is no JSON: %w", err)
	}
	return s.Validate(v)
}

// A schema that nothing fails proves nothing.
func TestTheSchemaOfScanRefuses(t *testing.T) {
	const head, file = `{"version":1,"tool":{"name":"sessfix","version":"x"},"files":[`, `{"path":"a","medium":"jsonl","size":1,"textSize":1,"records":1,"findings":[]`
	if err := fitsScan([]byte(head+file+`}]}`), false); err != nil {
		t.Fatal(err)
	}
	if err := fitsScan([]byte(file+"}\n"+`{"path":"b","error":"gone"}`+"\n"), true); err != nil {
		t.Fatal(err)
	}
	for name, doc := range map[string]string{
		"an unknown key":    head + file + `,"extra":1}]}`,
		"a missing key":     head + `{"path":"a"}]}`,
		"another medium":    head + `{"path":"a","medium":"tape","size":1,"textSize":1,"records":1,"findings":[]}]}`,
		"a span without":    head + file + `,"recordSpans":[{"offset":1}]}]}`,
		"no spans, and yet": head + file + `,"recordSpans":[]}]}`,
		"a finding without": head + file[:len(file)-1] + `{"code":"TORN_TAIL"}]}]}`,
	} {
		if fitsScan([]byte(doc), false) == nil {
			t.Errorf("%s passes", name)
		}
	}
	for name, line := range map[string]string{"an error without path": `{"error":"x"}`, "nothing": ``, "a document": head + `]}`} {
		if fitsScan([]byte(line), true) == nil {
			t.Errorf("%s passes as lines", name)
		}
	}
}

// What scan prints of every damaged sample fits.
func TestScanOfTheSamplesFits(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"--json"}, {"--json", "--records"}, {"--format", "jsonl"}, {"--format", "jsonl", "--records"}} {
		for _, dir := range []string{"corrupt", "sessions"} {
			all := append([]string{"scan", filepath.Join("..", "testdata", dir), filepath.Join("..", "testdata", "missing.jsonl")}, args...)
			stdout, _, _ := inProcess(t, "", all...)
			if err := fitsScan([]byte(stdout), len(args) > 1 && args[1] == "jsonl"); err != nil {
				t.Errorf("%q: %v", args, err)
			}
		}
	}
}
