package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// shapes are the schemas of the JSON report, closed: the schema that is shipped lets later
// releases add keys, the tests let nobody add one to the report alone.
var shapes = sync.OnceValues(func() (s struct{ document, line *jsonschema.Schema }, err error) {
	doc, err := closedSchema("schema.json")
	if err != nil {
		return s, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("closed.json", doc); err != nil {
		return s, err
	}
	if s.document, err = c.Compile("closed.json"); err != nil {
		return s, err
	}
	s.line, err = c.Compile("closed.json#/$defs/line")
	return s, err
})

// closedSchema reads a schema of the reports and lets no object of it have other keys than it names.
func closedSchema(name string) (any, error) {
	f, err := os.Open(filepath.Join("..", "report", name))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		return nil, err
	}
	for _, def := range doc.(map[string]any)["$defs"].(map[string]any) {
		if def := def.(map[string]any); def["properties"] != nil {
			def["additionalProperties"] = false
		}
	}
	return doc, nil
}

// fitsDocument holds a report against the schema, and its sums against its sessions.
func fitsDocument(data []byte) error {
	s, err := shapes()
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("the report is no JSON: %w", err)
	}
	if err := s.document.Validate(v); err != nil {
		return err
	}
	doc := v.(map[string]any)
	return adds(doc, doc["sessions"].([]any))
}

// fitsLines does the same for --format jsonl.
func fitsLines(data []byte) error {
	s, err := shapes()
	if err != nil {
		return err
	}
	var sessions []any
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	for i, line := range lines {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(line))
		if err != nil {
			return fmt.Errorf("line %d is no JSON: %w", i+1, err)
		}
		if err := s.line.Validate(v); err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		o := v.(map[string]any)
		if _, end := o["summary"]; end != (i == len(lines)-1) {
			return fmt.Errorf("line %d: the summary stands in the last line and nowhere else", i+1)
		} else if end {
			return adds(o, sessions)
		}
		sessions = append(sessions, v)
	}
	return errors.New("no line at all")
}

// adds holds the summary against what it sums up.
func adds(doc map[string]any, sessions []any) error {
	want := map[string]int{"sessions": len(sessions)}
	for _, v := range sessions {
		s := v.(map[string]any)
		if s["repaired"] == true {
			want["repaired"]++
			continue
		}
		want[map[string]string{"clean": "clean", "repairable": "repairable", "refuse": "refused"}[s["verdict"].(string)]]++
	}
	if errs, ok := doc["errors"].([]any); ok {
		want["failed"] = len(errs)
	}
	for key, v := range doc["summary"].(map[string]any) {
		if got := fmt.Sprint(v); got != fmt.Sprint(want[key]) {
			return fmt.Errorf("summary.%s is %s, the report holds %d", key, got, want[key])
		}
	}
	return nil
}

// A schema that nothing fails proves nothing.
func TestTheSchemaRefuses(t *testing.T) {
	const head = `{"version":1,"tool":{"name":"sessfix","version":"x"},"summary":{"sessions":1,"clean":1,"repairable":0,"refused":0,"failed":0},"sessions":[`
	const session = `{"path":"a","agent":"dsh","medium":"jsonl","verdict":"clean","size":1,"records":1,"events":1,"turns":1,"findings":[]`
	if err := fitsDocument([]byte(head + session + `}]}`)); err != nil {
		t.Fatal(err)
	}
	for name, doc := range map[string]string{
		"an unknown key":   head + session + `,"extra":1}]}`,
		"another verdict":  head + `{"path":"a","agent":"dsh","medium":"jsonl","verdict":"fine","size":1,"records":1,"events":1,"turns":1,"findings":[]}]}`,
		"a missing key":    head + `{"path":"a"}]}`,
		"sums that differ": head + `]}`,
		"a lower code":     head + session[:len(session)-1] + `{"code":"torn","severity":"error","file":"a","offset":0,"length":0,"message":"m"}]}]}`,
	} {
		if fitsDocument([]byte(doc)) == nil {
			t.Errorf("%s passes", name)
		}
	}
}
