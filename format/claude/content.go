package claude

import (
	"bytes"
	"fmt"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// maxImage is the largest image, in base64, that the provider's documentation allows.
const maxImage = 5 << 20

// What is wrong with content, as Where of a finding and as the word for its mending.
const (
	emptyText    = "empty-text"
	emptyAnswer  = "empty-answer"
	noInput      = "input"
	badName      = "name"
	emptyError   = "empty-error"
	resultLast   = "result-last"
	surrogate    = "surrogate"
	largeImage   = "image"
	unsigned     = "unsigned"
	sideMark     = "side"
	openBorder   = "border"
	orphanPrefix = "orphan "
	renamePrefix = "rename "
	timeless     = "timeless"
)

// refused reports content that the provider refuses in each request, whatever stands around it.
func (d *decoder) refused(r *session.Record, b *format.Batch) {
	f := &d.f
	add := func(where, format string, args ...any) {
		n := finding.New(finding.ProviderRejects)
		n.Span, n.Record, n.Where, n.Message = r.Span, r.Ref(), where, fmt.Sprintf(format, args...)
		b.Findings = append(b.Findings, n)
	}
	user := b.Link.Kind == session.UserMessage || b.Link.Kind == session.Summary
	if user && f.kind(kContent) == '"' && blank(f.str(kContent)) {
		add(emptyText, "the user's message is empty")
	}
	spoken := false
	for i := range f.blocks {
		k := &f.blocks[i]
		switch string(f.inside(k.kind)) {
		case "text":
			spoken = true
			if k.text.Kind == '"' && blank(f.inside(k.text)) {
				if user {
					add(emptyText, "block %d of the user's message is an empty text", i)
				} else {
					add(emptyAnswer, "block %d of the answer is an empty text", i)
				}
			}
		case "image":
			spoken = true
			if k.image.Len > maxImage {
				add(largeImage, "block %d is an image of %d bytes in base64, more than the provider takes", i, k.image.Len-2)
			}
		case "thinking":
			if k.signature.Kind != '"' || k.signature.Len == 2 {
				add(unsigned, "block %d is thinking without signature", i)
			}
		case "tool_use":
			if k.input.Kind != '{' {
				add(noInput, "the input of call %s is no object", short(f.inside(k.id)))
			}
			if !plain(f.inside(k.name)) || !plain(f.inside(k.id)) {
				add(badName, "the call's id or name holds characters that the provider does not take")
				b.Findings[len(b.Findings)-1].Repair = "none is safe here: the name says which tool ran, and the id ties the result to the call"
			}
		case "tool_result":
			if user && spoken {
				add(resultLast, "a result stands behind other content of its message")
				spoken = false
			}
			if k.isError.Kind == 't' && k.isError.Len == 4 && (k.content.Kind == 0 || k.content.Kind == '"' && k.content.Len == 2 || k.content.Kind == '[' && k.content.N == 0) {
				add(emptyError, "the error result of call %s is empty", short(f.inside(k.call)))
			}
		}
	}
	if at := loneSurrogate(r.Raw, 0); at >= 0 {
		add(surrogate, "half a surrogate pair stands at byte %d of the record", at)
	}
}

// plain tells whether an id or name holds only what the provider takes.
func plain(s []byte) bool {
	for _, c := range s {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return len(s) > 0
}

// blank tells whether a string, escapes as they are, holds nothing but white space.
func blank(s []byte) bool {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ' ':
		case '\\':
			i++
			if i == len(s) || s[i] != 'n' && s[i] != 't' && s[i] != 'r' {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// loneSurrogate finds, from at on, an escape that is one half of a surrogate pair without the other; -1 if there
// is none.
func loneSurrogate(raw []byte, at int) int {
	for at < len(raw) {
		i := bytes.Index(raw[at:], []byte(`\u`))
		if i < 0 {
			return -1
		}
		i += at
		// An even number of backslashes in front of it: this one escapes.
		n := 0
		for i-n-1 >= 0 && raw[i-n-1] == '\\' {
			n++
		}
		if n%2 == 1 {
			at = i + 2
			continue
		}
		switch half(raw[i:]) {
		case 0:
			at = i + 6
		case 1:
			if half(raw[i+6:]) != 2 {
				return i
			}
			at = i + 12
		case 2:
			return i
		}
	}
	return -1
}

// half tells whether an escape is the first or the second half of a pair, 0 for neither.
func half(s []byte) int {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' || s[2] != 'd' && s[2] != 'D' {
		return 0
	}
	switch s[3] {
	case '8', '9', 'a', 'b', 'A', 'B':
		return 1
	case 'c', 'd', 'e', 'f', 'C', 'D', 'E', 'F':
		return 2
	}
	return 0
}

func short(b []byte) string {
	if len(b) > 60 {
		return string(b[:60]) + "…"
	}
	return string(b)
}
