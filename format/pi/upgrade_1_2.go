package pi

import (
	"bytes"
	"math"
	"strconv"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// Members that only old headers and changes of the model have. Written by 0.7.6: "model":"provider/id" and thinkingLevel; by 0.13.2 and
// later: provider, modelId, thinkingLevel and, of a branch, branchedFrom.
const (
	oModel = iota
	oProvider
	oModelID
	oThinking
	oBranchedFrom
	oKeys
)

var oldNames = scan.NewSingle([]string{
	oModel: "model", oProvider: "provider", oModelID: "modelId", oThinking: "thinkingLevel", oBranchedFrom: "branchedFrom",
})

// oldMembers are those of a record.
func oldMembers(raw []byte) (out [oKeys]session.Capture) {
	_, caps, _ := oldNames.Take(raw)
	for _, c := range caps {
		out[c.Key] = c
	}
	return out
}

// treeing is the step to version 2: each entry gets an id, and hangs under the one in front of it.
type treeing struct {
	session string
	ids     []string // as JSON, by the record's number
	given   map[string]bool
	up      string // the entry in front
}

func beginTree(s format.Source) (format.Stage, error) {
	return &treeing{session: s.ID, given: map[string]bool{}, up: "null"}, nil
}

// Record takes a header or an entry.
func (t *treeing) Record(l format.Line, out format.Out) error {
	f, err := recordOf(l)
	switch {
	case err != nil:
		return err
	case string(f.Str(kType)) == "session":
		return t.header(l, f, out)
	case t.ids == nil:
		return format.Refuse(l.N, "the log does not begin with a header")
	case f.Has(kID):
		return format.Refuse(l.N, "the entry has an id, and those of version 1 have none: whether the session is a tree or a line cannot be said")
	}
	own := t.name(l.N, "")
	members, list := `"id":`+own, []splice(nil)
	if c := f.At(kParent); c.Len > 0 {
		list = append(list, value(c, t.up))
	} else {
		members += `,"parentId":` + t.up
	}
	list = append(list, f.added(members))
	t.ids = append(append(t.ids, make([]string, max(0, int(l.N)-len(t.ids)))...), own)
	t.up = own
	switch string(f.Str(kType)) {
	case "compaction":
		s, kept := t.kept(f, own)
		list = append(list, s...)
		if !kept {
			out.Note(l.N, "the compaction counts no entry in front of it as the first that it keeps: it keeps none, as the client has it")
		}
	case "model_change":
		list = append(list, split(f)...)
	}
	l.Raw = spliced(l.Raw, list...)
	return out.Put(l)
}

// End has nothing to add.
func (t *treeing) End(format.Out) error { return nil }

// header gives a header its version. The first one gets behind it, as entries, what it says of the session's beginning.
func (t *treeing) header(l format.Line, f *fields, out format.Out) error {
	first := t.ids == nil
	t.ids = append(append(t.ids, make([]string, max(0, int(l.N)-len(t.ids)))...), "")
	o := oldMembers(l.Raw)
	list := []splice{f.stands(kVersion, strconv.Itoa(hooked))}
	if !first {
		l.Raw = spliced(l.Raw, list...)
		return out.Put(l)
	}
	if t.session == "" {
		t.session = string(f.Str(kID))
	}
	raw := l.Raw
	l.Raw = spliced(raw, append(list, origin(f, o[oBranchedFrom])...)...)
	if err := out.Put(l); err != nil {
		return err
	}
	at := `"1970-01-01T00:00:00.000Z"`
	if f.Kind(kTime) == '"' {
		at = string(f.Value(kTime))
	}
	put := func(typ, members, why string) error {
		own := t.name(l.N, typ)
		line := `{"type":"` + typ + `","id":` + own + `,"parentId":` + t.up + `,"timestamp":` + at + `,` + members + `}`
		t.up = own
		return out.Put(format.Line{Raw: []byte(line), N: -1, Why: why})
	}
	provider, model := o[oProvider], o[oModelID]
	name, id := string(f.Of(provider)), string(f.Of(model))
	known := provider.Kind == '"' && model.Kind == '"' && model.Len > 2
	if !known {
		name, id, known = slashed(f.Of(o[oModel]))
	}
	if known {
		if err := put("model_change", `"provider":`+name+`,"modelId":`+id, "the model that the header names"); err != nil {
			return err
		}
	}
	if c := o[oThinking]; c.Kind == '"' && c.Len > 2 {
		return put("thinking_level_change", `"thinkingLevel":`+string(f.Of(c)), "the thinking level that the header names")
	}
	return nil
}

// name is the id of the entry that a record becomes, or that is made of it.
func (t *treeing) name(n int64, what string) string {
	id := dialect{}.NewID(t.session+"\x00"+strconv.FormatInt(n, 10)+"\x00"+what, func(id []byte) bool { return t.given[string(id)] })
	t.given[string(id)] = true
	return string(id)
}

// kept names the first entry that a compaction keeps. In version 1 it is a number among the records, of which the header is 0; the client
// leaves one out that stands further on. A compaction that names itself keeps none.
func (t *treeing) kept(f *fields, own string) (list []splice, ok bool) {
	c := f.At(kFirstIndex)
	if c.Kind != '0' {
		return nil, true
	}
	first := own
	if n, err := strconv.ParseFloat(string(f.Of(c)), 64); err == nil && n == math.Trunc(n) && n > 0 && n < float64(len(t.ids)) && t.ids[int(n)] != "" {
		first, ok = t.ids[int(n)], true
	}
	if f.Has(kFirstKept) {
		return []splice{value(f.At(kFirstKept), first)}, ok
	}
	name := nameOf(f.Raw, c)
	return []splice{{name.Off, name.Len, `"firstKeptEntryId"`}, value(c, first)}, ok
}

// split gives a change of the model both its names, where it has them in one.
func split(f *fields) []splice {
	o := oldMembers(f.Raw)
	name, id, ok := slashed(f.Of(o[oModel]))
	if !ok || o[oProvider].Len > 0 || o[oModelID].Len > 0 {
		return nil
	}
	return []splice{f.added(`"provider":` + name + `,"modelId":` + id)}
}

// slashed reads "provider/id", of which the id may have more slashes. It takes and gives JSON.
func slashed(text []byte) (provider, id string, ok bool) {
	if len(text) < 2 || text[0] != '"' {
		return "", "", false
	}
	name, rest, ok := bytes.Cut(text[1:len(text)-1], []byte("/"))
	name = bytes.TrimSuffix(name, []byte(`\`)) // a slash may be escaped
	return `"` + string(name) + `"`, `"` + string(rest) + `"`, ok && len(name) > 0 && len(rest) > 0
}
