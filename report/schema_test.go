package report_test

import (
	_ "embed"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/report"
)

//go:embed schema.json
var schema string

// object is a part of the schema that describes an object.
type object struct {
	Ref        string            `json:"$ref"`
	Type       string            `json:"type"`
	Const      any               `json:"const"`
	Enum       []any             `json:"enum"`
	Properties map[string]object `json:"properties"`
	Required   []string          `json:"required"`
	Items      *object           `json:"items"`
	Pattern    string            `json:"pattern"`
	Examples   []string          `json:"examples"`
	Defs       map[string]object `json:"$defs"`
}

func parsed(t *testing.T) object {
	t.Helper()
	var o object
	if err := json.Unmarshal([]byte(schema), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// The schema is itself valid, by the draft it names.
func TestSchemaCompiles(t *testing.T) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	id := doc.(map[string]any)["$id"].(string)
	if err := c.AddResource(id, doc); err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"", "#/$defs/line"} {
		if _, err := c.Compile(id + at); err != nil {
			t.Error(err)
		}
	}
}

// The schema and the structs that are printed name the same keys, with the same types, and
// require exactly those that are always printed. It is the only hand-written copy of them.
func TestSchemaNamesTheKeysOfTheReport(t *testing.T) {
	s := parsed(t)
	compare(t, s, s.Defs["document"], reflect.TypeFor[report.Document](), "document")
}

func compare(t *testing.T, root, o object, typ reflect.Type, at string) {
	t.Helper()
	for o.Ref != "" {
		o = root.Defs[strings.TrimPrefix(o.Ref, "#/$defs/")]
	}
	if typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	kind := o.Type
	switch o.Const.(type) {
	case string:
		kind = "string"
	case float64:
		kind = "integer"
	case bool:
		kind = "boolean"
	}
	if len(o.Enum) > 0 {
		kind = "string"
	}
	want := map[reflect.Kind]string{
		reflect.String: "string", reflect.Bool: "boolean", reflect.Int: "integer", reflect.Int32: "integer",
		reflect.Int64: "integer", reflect.Slice: "array", reflect.Array: "array", reflect.Struct: "object",
	}[typ.Kind()]
	if kind != want {
		t.Errorf("%s: the schema says %q, the report prints %q", at, kind, want)
		return
	}
	switch typ.Kind() {
	case reflect.Slice, reflect.Array:
		if o.Items == nil {
			t.Errorf("%s: the schema does not say of what", at)
			return
		}
		compare(t, root, *o.Items, typ.Elem(), at+"[]")
	case reflect.Struct:
		var names, always []string
		for _, field := range reflect.VisibleFields(typ) {
			if !field.IsExported() || field.Anonymous { // of an embedded one the fields are here as well
				continue
			}
			name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
			if name == "-" || name == "" {
				t.Errorf("%s: field %s has no key", at, field.Name)
				continue
			}
			names = append(names, name)
			if option != "omitempty" {
				always = append(always, name)
			}
			if p, ok := o.Properties[name]; ok {
				compare(t, root, p, field.Type, at+"."+name)
			} else {
				t.Errorf("%s: the schema lacks %q", at, name)
			}
		}
		for name := range o.Properties {
			if !slices.Contains(names, name) {
				t.Errorf("%s: the schema has %q, the report has not", at, name)
			}
		}
		slices.Sort(always)
		required := slices.Sorted(slices.Values(o.Required))
		if !slices.Equal(always, required) {
			t.Errorf("%s: always printed are %q, the schema requires %q", at, always, required)
		}
	}
}

// The keys that users were promised. This list is not derived from anything: renaming a key must
// fail here.
func TestSchemaKeepsThePromisedKeys(t *testing.T) {
	promised := map[string]string{
		"document":    "version tool summary sessions homes",
		"end":         "version tool summary homes",
		"tool":        "name version",
		"summary":     "sessions clean repairable refused failed",
		"session":     "path agent medium id formatVersion verdict size records events turns tail findings branches offers closers quarantined edits receipt sha256",
		"tail":        "turn step calls",
		"call":        "id name state",
		"finding":     "code severity file offset length line frame logicalLine callId message repair never because client",
		"closer":      "code callId place",
		"quarantined": "file offset length",
		"hashes":      "before after",
	}
	s := parsed(t)
	for def, keys := range promised {
		for _, key := range strings.Fields(keys) {
			if _, ok := s.Defs[def].Properties[key]; !ok {
				t.Errorf("%s lacks %q", def, key)
			}
		}
	}
}

// The schema lists the codes for its readers, in the catalogue's order, and does not forbid
// codes of a later release.
func TestSchemaListsTheCodes(t *testing.T) {
	var all []string
	for _, e := range finding.All() {
		all = append(all, string(e.Code))
	}
	got := parsed(t).Defs["code"].Examples
	if !slices.Equal(got, all) {
		t.Errorf("the codes of the schema differ from the catalogue's, which are:\n\"%s\"", strings.Join(all, `", "`))
	}
}
