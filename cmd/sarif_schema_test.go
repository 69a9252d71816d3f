package cmd

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// here is the package's directory: some tests work in another.
var here, _ = os.Getwd()

// sarifSchema is the public schema of SARIF 2.1.0. It is not kept here: a library for SARIF has it in its source, where nobody
// else can get at it.
var sarifSchema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	list := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif")
	list.Dir = here
	dir, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("find the library that holds the schema of SARIF: %w", err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	value := f.Decls[0].(*ast.GenDecl).Specs[0].(*ast.ValueSpec).Values[0].(*ast.BasicLit).Value
	text, err := strconv.Unquote(value)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4)
	c.AssertFormat()
	if err := c.AddResource("sarif.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("sarif.json")
})

// fitsSARIF holds a report against the schema, and what that library reads in it against what the schema does not say.
func fitsSARIF(data []byte) error {
	schema, err := sarifSchema()
	if err != nil {
		return err
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("the report is no JSON: %w", err)
	}
	if err := schema.Validate(v); err != nil {
		return err
	}
	report, err := sarif.FromBytes(data)
	if err != nil {
		return err
	}
	for _, run := range report.Runs {
		rules := run.Tool.Driver.Rules
		used := make([]bool, len(rules))
		prints := map[string]bool{}
		for i, r := range run.Results {
			if r.RuleIndex < 0 || r.RuleIndex >= len(rules) || *rules[r.RuleIndex].ID != *r.RuleID {
				return fmt.Errorf("result %d: rule %d is not %s", i, r.RuleIndex, *r.RuleID)
			}
			used[r.RuleIndex] = true
			key := *r.RuleID + *r.Locations[0].PhysicalLocation.ArtifactLocation.URI + r.PartialFingerprints["sessfix/v1"]
			if prints[key] {
				return fmt.Errorf("result %d has the fingerprint of another", i)
			}
			prints[key] = true
		}
		for i, u := range used {
			if !u {
				return fmt.Errorf("rule %s does not occur", *rules[i].ID)
			}
		}
	}
	return nil
}
