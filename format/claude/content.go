package claude

import (
	"fmt"

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
	if f.kind(kContent) == '"' {
		d.blocks = append(d.blocks, provider.Block{Kind: provider.Text, Blank: provider.Blank(f.str(kContent))})
	}
	for i := range f.blocks {
		d.blocks = append(d.blocks, f.told(&f.blocks[i]))
	}
	d.problems = provider.Check(d.problems[:0], role, d.blocks)
	if at := provider.LoneSurrogate(r.Raw, 0); at >= 0 {
		d.problems = append(d.problems, provider.Problem{Rule: provider.Surrogate, Message: fmt.Sprintf("half a surrogate pair stands at byte %d of the record", at)})
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
	switch string(f.inside(k.kind)) {
	case "text":
		return provider.Block{Kind: provider.Text, Blank: k.text.Kind == '"' && provider.Blank(f.inside(k.text))}
	case "image":
		return provider.Block{Kind: provider.Image, Size: max(int64(k.image.Len)-2, 0)}
	case "thinking":
		return provider.Block{Kind: provider.Thinking, Signed: k.signature.Kind == '"' && k.signature.Len > 2}
	case "tool_use":
		return provider.Block{Kind: provider.Call, ID: f.inside(k.id), Name: f.inside(k.name), Object: k.input.Kind == '{'}
	case "tool_result":
		return provider.Block{Kind: provider.Result, ID: f.inside(k.call), Failed: k.isError.Kind == 't' && k.isError.Len == 4, Blank: k.empty()}
	}
	return provider.Block{}
}

// empty tells whether a result has nothing in it.
func (k *block) empty() bool {
	return k.content.Kind == 0 || k.content.Kind == '"' && k.content.Len == 2 || k.content.Kind == '[' && k.content.N == 0
}
