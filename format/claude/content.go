package claude

import (
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/provider"
	"github.com/sessfix/sessfix/session"
)

// timeless is the place of the finding that no record has a time.
const timeless = "timeless"

// refused reports content that the provider refuses in each request, whatever stands around it.
func (d *decoder) refused(r *session.Record, b *format.Batch) {
	f := &d.f
	role := provider.Assistant
	if b.Link.Kind == session.UserMessage || b.Link.Kind == session.Summary {
		role = provider.User
	}
	d.blocks = d.blocks[:0]
	if f.Kind(kContent) == '"' {
		d.blocks = append(d.blocks, provider.Block{Kind: provider.Text, Blank: provider.Blank(f.Str(kContent))})
	}
	for i := range f.blocks {
		told := f.told(&f.blocks[i])
		d.blocks = append(d.blocks, told)
		if told.Kind == provider.Image {
			b.Images++
		}
	}
	for i := range f.inner {
		if k := &f.inner[i]; k.image.Kind == '"' && d.blocks[k.of].Kind == provider.Result {
			told := f.shown(&k.picture)
			told.Inner = true
			d.blocks = append(d.blocks, told)
			b.Images++
		}
	}
	d.problems = provider.Check(d.problems[:0], role, d.blocks)
	lone, nul := provider.Escapes(r.Raw, 0)
	if lone >= 0 {
		d.problems = append(d.problems, provider.Problem{Rule: provider.Surrogate, Message: fmt.Sprintf("half a surrogate pair stands at byte %d of the record", lone)})
	}
	if nul >= 0 {
		if _, nul = provider.Escapes(f.Value(kContent), 0); nul >= 0 {
			d.problems = append(d.problems, provider.Problem{Rule: provider.NulChar, Message: "the character U+0000 stands in the content"})
		}
	}
	for _, p := range d.problems {
		n := finding.New(finding.ProviderRejects)
		n.Span, n.Record, n.Where, n.Message = r.Span, r.Ref(), string(p.Rule), p.Message
		if p.Rule == provider.Name {
			n.Repair = "none is safe here: the name says which tool ran, and the id ties the result to the call"
		}
		b.Findings = append(b.Findings, n)
	}
}

// contentless reports a message without content.
func (d *decoder) contentless(r *session.Record, b *format.Batch) {
	n := finding.New(finding.EventInvalid)
	n.Span, n.Record, n.Where, n.Message = r.Span, r.Ref(), format.NoContent, "the message has no content"
	n.Repair = "the record is told anew with a text that says so"
	n.Never = "drop the record: others hang under it"
	b.Findings = append(b.Findings, n)
}

// told tells a block in the provider's words.
func (f *fields) told(k *block) provider.Block {
	switch string(f.Inside(k.kind)) {
	case "text":
		return provider.Block{Kind: provider.Text, Blank: k.text.Kind == '"' && provider.Blank(f.Inside(k.text))}
	case "image":
		return f.shown(&k.picture)
	case "thinking":
		return provider.Block{Kind: provider.Thinking, Signed: k.signature.Kind == '"' && k.signature.Len > 2}
	case "tool_use":
		return provider.Block{Kind: provider.Call, ID: f.Inside(k.id), Name: f.Inside(k.name), Object: k.input.Kind == '{'}
	case "tool_result":
		return provider.Block{Kind: provider.Result, ID: f.Inside(k.call), Failed: k.isError.Kind == 't' && k.isError.Len == 4, Blank: k.empty()}
	}
	return provider.Block{}
}

// shown tells an image. One without bytes of its own lies elsewhere and is not judged.
func (f *fields) shown(p *picture) provider.Block {
	if p.image.Kind != '"' {
		return provider.Block{Kind: provider.Image}
	}
	return provider.Block{Kind: provider.Image, Size: int64(p.image.Len) - 2, Look: provider.Look(f.Inside(p.image), f.Inside(p.media))}
}

// breaks tells whether an image breaks a rule.
func (f *fields) breaks(p *picture, rule provider.Rule) bool {
	told := f.shown(p)
	rules, n := told.Look.Breaks(told.Size)
	return slices.Contains(rules[:n], rule)
}

// empty tells whether a result has nothing in it.
func (k *block) empty() bool {
	return k.content.Kind == 0 || k.content.Kind == '"' && k.content.Len == 2 || k.content.Kind == '[' && k.content.N == 0
}
