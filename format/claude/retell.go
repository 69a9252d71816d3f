package claude

import (
	"bytes"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/provider"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// patch replaces raw[from:to].
type patch struct {
	from, to int
	text     string
}

// retelling collects what changes in a record.
type retelling struct {
	f       *fields
	patches []patch
	drops   []string
	added   []string // new members of the record
}

// Retell tells a record anew under its own id: the last record of an id counts. Every byte stays but those
// that the retelling names.
func (d dialect) Retell(q format.Retelling) ([]byte, error) {
	f, err := read(q.Record)
	if err != nil {
		return nil, err
	}
	r := &retelling{f: f}
	if q.Parent != nil {
		p, err := read(q.Parent)
		if err != nil {
			return nil, err
		}
		r.member(kParent, "parentUuid", string(p.Value(kUUID)))
	}
	if q.Root {
		r.member(kParent, "parentUuid", "null")
	}
	for _, t := range q.Truths {
		if err := r.truth(t); err != nil {
			return nil, err
		}
	}
	var orphans []string
	for _, m := range q.Mends {
		if id, ok := strings.CutPrefix(m, format.OrphanPrefix); ok {
			orphans = append(orphans, id)
		}
	}
	for _, m := range q.Mends {
		if err := r.mend(m, orphans); err != nil {
			return nil, err
		}
	}
	return append(r.apply(), '\n'), nil
}

// mend makes one change, by the word of the finding that asks for it.
func (r *retelling) mend(word string, orphans []string) error {
	f := r.f
	switch word {
	case format.SideMark:
		r.put(f.At(kSide), "false")
	case format.NoContent:
		const lost = `[{"type":"text","text":"(content lost)"}]`
		switch {
		case f.Has(kContent):
			r.put(f.At(kContent), lost)
		case f.Kind(kMessage) == '{':
			m := f.At(kMessage)
			comma := ","
			if m.N == 0 {
				comma = ""
			}
			r.patches = append(r.patches, patch{int(m.Off) + 1, int(m.Off) + 1, `"content":` + lost + comma})
		default:
			r.member(kMessage, "message", `{"role":"`+string(f.Str(kType))+`","content":`+lost+`}`)
		}
	case format.OpenBorder:
		r.put(f.At(kSubtype), `"informational"`)
		r.drop("compactMetadata")
		r.drop("logicalParentUuid")
	case string(provider.EmptyText):
		if f.Kind(kContent) == '"' {
			r.put(f.At(kContent), `"(empty message)"`)
		}
		for _, k := range f.blocks {
			if string(f.Inside(k.kind)) == "text" && provider.Blank(f.Inside(k.text)) {
				r.put(k.text, `"(empty)"`)
			}
		}
	case string(provider.EmptyAnswer):
		for _, k := range f.blocks {
			if string(f.Inside(k.kind)) == "text" && provider.Blank(f.Inside(k.text)) {
				r.put(k.text, `"(empty)"`)
			}
		}
	case string(provider.Input):
		for _, k := range f.blocks {
			if string(f.Inside(k.kind)) != "tool_use" || k.input.Kind == '{' {
				continue
			}
			if k.input.Kind == 0 {
				r.insert(k.kind, `,"input":{}`)
			} else {
				r.put(k.input, `{"input":`+string(f.Of(k.input))+`}`)
			}
		}
	case string(provider.EmptyError):
		for _, k := range f.blocks {
			switch {
			case k.isError.Kind != 't' || k.isError.Len != 4 || !k.empty():
			case k.content.Kind == 0:
				r.insert(k.isError, `,"content":"(no output)"`)
			default:
				r.put(k.content, `"(no output)"`)
			}
		}
	case string(provider.ImageSize), string(provider.ImagePixels), string(provider.ImageMany), string(provider.ImageData):
		r.images(provider.Rule(word))
	case string(provider.Unsigned):
		r.put(f.At(kContent), "[]")
	case string(provider.ResultLast):
		r.sort()
	case string(provider.Surrogate):
		for at, _ := provider.Escapes(f.Raw, 0); at >= 0; at, _ = provider.Escapes(f.Raw, at+6) {
			r.patches = append(r.patches, patch{at, at + 6, `\ufffd`})
		}
	case string(provider.NulChar):
		from, text := int(f.At(kContent).Off), f.Value(kContent)
		for _, at := provider.Escapes(text, 0); at >= 0; _, at = provider.Escapes(text, at+6) {
			r.patches = append(r.patches, patch{from + at, from + at + 6, `\ufffd`})
		}
	default:
		if ids, ok := strings.CutPrefix(word, format.RenamePrefix); ok {
			old, id, _ := strings.Cut(ids, " ")
			for _, k := range f.blocks {
				for _, c := range []session.Capture{k.id, k.call} {
					if c.Kind == '"' && string(f.Inside(c)) == old {
						r.put(c, `"`+id+`"`)
					}
				}
			}
			return nil
		}
		if !strings.HasPrefix(word, format.OrphanPrefix) {
			return fmt.Errorf("no way to mend %q", word)
		}
		if orphans[0] == strings.TrimPrefix(word, format.OrphanPrefix) {
			r.orphans(orphans)
		}
	}
	return nil
}

// images puts words in the place of the images that break a rule.
func (r *retelling) images(rule provider.Rule) {
	f := r.f
	put := func(all session.Capture, p *picture) {
		if p.image.Kind == '"' && f.breaks(p, rule) {
			r.put(all, fmt.Sprintf(`{"type":"text","text":"(an image of %d bytes stood here that the provider does not take)"}`, p.image.Len-2))
		}
	}
	for i := range f.blocks {
		if k := &f.blocks[i]; string(f.Inside(k.kind)) == "image" {
			put(k.all, &k.picture)
		}
	}
	for i := range f.inner {
		put(f.inner[i].all, &f.inner[i].picture)
	}
}

// orphans turns results without their calls into text that keeps their content.
func (r *retelling) orphans(ids []string) {
	f := r.f
	others := false
	const lead = "Result of a tool call that is lost: "
	for _, k := range f.blocks {
		if string(f.Inside(k.kind)) != "tool_result" {
			continue
		}
		if !slices.Contains(ids, string(f.Inside(k.call))) {
			others = true
			continue
		}
		text := `{"type":"text","text":"` + lead + string(f.Inside(k.content)) + `"}`
		if inner := f.Of(k.content); k.content.Kind == '[' && k.content.N > 0 {
			text = `{"type":"text","text":"` + lead + `"},` + string(bytes.TrimSpace(inner[1:len(inner)-1]))
		}
		r.put(k.all, text)
	}
	if !others {
		r.drop("toolUseResult")
		r.drop("sourceToolAssistantUUID")
		r.drop("toolDenialKind")
	}
}

// truth puts the true result in the place of one that a recovery made up.
func (r *retelling) truth(q format.Truth) error {
	t, err := read(q.Record)
	if err != nil {
		return err
	}
	for _, have := range r.f.blocks {
		for _, real := range t.blocks {
			if string(r.f.Inside(have.call)) == q.Call && string(t.Inside(real.call)) == q.Call {
				r.put(have.all, string(t.Of(real.all)))
			}
		}
	}
	if t.Has(kUseResult) && r.f.Has(kUseResult) {
		r.put(r.f.At(kUseResult), string(t.Value(kUseResult)))
	} else {
		r.drop("toolUseResult")
	}
	r.drop("toolDenialKind")
	return nil
}

// sort puts the results of a message in front of its other content.
func (r *retelling) sort() {
	var first, rest []string
	for _, k := range r.f.blocks {
		if string(r.f.Inside(k.kind)) == "tool_result" {
			first = append(first, string(r.f.Of(k.all)))
		} else {
			rest = append(rest, string(r.f.Of(k.all)))
		}
	}
	r.put(r.f.At(kContent), "["+strings.Join(append(first, rest...), ",")+"]")
}

func (r *retelling) put(c session.Capture, text string) {
	if c.Len > 0 {
		r.patches = append(r.patches, patch{int(c.Off), int(c.Off + c.Len), text})
	}
}

// insert puts text behind a value.
func (r *retelling) insert(c session.Capture, text string) {
	at := int(c.Off + c.Len)
	r.patches = append(r.patches, patch{at, at, text})
}

// member sets a member of the record, which may be missing.
func (r *retelling) member(key int, name, value string) {
	if r.f.Has(key) {
		r.put(r.f.At(key), value)
		return
	}
	r.added = append(r.added, `"`+name+`":`+value)
}

// drop takes a member out of the record, with its comma.
func (r *retelling) drop(name string) { r.drops = append(r.drops, name) }

// without is a record without a member.
func without(raw []byte, name string) []byte {
	from, to, ok := span(raw, name)
	if !ok {
		return raw
	}
	for to < len(raw) && isBlank(raw[to]) {
		to++
	}
	if to < len(raw) && raw[to] == ',' {
		to++
	} else {
		for from > 0 && isBlank(raw[from-1]) {
			from--
		}
		if from > 0 && raw[from-1] == ',' {
			from--
		}
	}
	return slices.Delete(raw, from, to)
}

// apply makes the new record. Where one patch lies inside another the outer one counts.
func (r *retelling) apply() []byte {
	if len(r.added) > 0 {
		at := bytes.IndexByte(r.f.Raw, '{') + 1
		text := strings.Join(r.added, ",")
		if !bytes.HasPrefix(bytes.TrimLeft(r.f.Raw[at:], " \t\r"), []byte("}")) {
			text += ","
		}
		r.patches = append(r.patches, patch{at, at, text})
	}
	sort.SliceStable(r.patches, func(i, j int) bool {
		if r.patches[i].from != r.patches[j].from {
			return r.patches[i].from < r.patches[j].from
		}
		return r.patches[i].to > r.patches[j].to
	})
	var out []byte
	at := 0
	for _, p := range r.patches {
		if p.from < at {
			continue
		}
		out = append(append(out, r.f.Raw[at:p.from]...), p.text...)
		at = p.to
	}
	out = append(out, r.f.Raw[at:]...)
	for _, name := range r.drops {
		out = without(out, name)
	}
	return out
}

// member is the text of a member of a record, nil where it has none.
func member(raw []byte, name string) []byte {
	c, ok := capture(raw, name)
	if !ok {
		return nil
	}
	return raw[c.Off : c.Off+c.Len]
}

// span is where a member of a record stands, key included.
func span(raw []byte, name string) (from, to int, ok bool) {
	c, ok := capture(raw, name)
	if !ok {
		return 0, 0, false
	}
	from = int(c.Off)
	for from > 0 && raw[from-1] != ':' {
		from--
	}
	from--
	for from > 0 && isBlank(raw[from-1]) {
		from--
	}
	from -= len(name) + 2
	return from, int(c.Off + c.Len), from > 0 && string(raw[from+1:from+1+len(name)]) == name
}

func capture(raw []byte, name string) (session.Capture, bool) {
	_, caps, ok := scan.NewSingle([]string{name}).Take(raw)
	if !ok || len(caps) == 0 {
		return session.Capture{}, false
	}
	return caps[0], true
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }
