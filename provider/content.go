// Package provider holds what the documented message APIs refuse, whatever agent sends it.
//
// A format tells the blocks of a message in the words of this package, and Check says which of them make the provider
// reject each request that holds them. What calls and results do to each other is judged by package verify, on what is
// sent.
//
// The rules are those of the Messages API as its documentation gives them.
package provider

import "fmt"

// Role is whose message it is.
type Role uint8

// The roles.
const (
	User Role = iota
	Assistant
)

// Kind is what a block is.
type Kind uint8

// The kinds. Other blocks are not judged.
const (
	Other Kind = iota
	Text
	Image
	Thinking
	Call
	Result
)

// Block is one block of a message. It refers to bytes of the record.
type Block struct {
	Kind   Kind
	Blank  bool   // a text of white space alone, or a result without content
	Failed bool   // a result that is marked as an error
	Object bool   // a call's input is an object
	Signed bool   // thinking has a signature
	ID     []byte // of a call, or of the call that a result answers
	Name   []byte // of a call
	Size   int64  // of an image, in bytes of base64
	Look   Picture
	Inner  bool // an image inside a result
}

// Rule is what a block breaks. The words are stable: formats know them as places of a finding.
type Rule string

// The rules.
const (
	EmptyText   Rule = "empty-text"   // a user's text must not be blank
	EmptyAnswer Rule = "empty-answer" // nor an assistant's; some clients leave it out by themselves
	Input       Rule = "input"        // a call's input must be an object
	Name        Rule = "name"         // ids and names hold letters, digits, _ and - only
	EmptyError  Rule = "empty-error"  // an error result must say something
	ResultLast  Rule = "result-last"  // results come first in their message
	ImageSize   Rule = "image"        // an image must not be too large
	ImagePixels Rule = "image-pixels" // nor have too many pixels
	ImageMany   Rule = "image-many"   // fewer in a request with many images
	ImageData   Rule = "image-data"   // it must be an image, and of the kind that it is called
	Unsigned    Rule = "unsigned"     // thinking must be signed
	Surrogate   Rule = "surrogate"    // half of a surrogate pair is no text
	NulChar     Rule = "nul-char"     // U+0000 is, but not to every client
)

// Problem is a broken rule.
type Problem struct {
	Rule    Rule
	Message string
}

// Check judges the blocks of one message and appends what is wrong to out. A message that is a plain string is one Text.
func Check(out []Problem, role Role, blocks []Block) []Problem {
	add := func(rule Rule, format string, args ...any) {
		out = append(out, Problem{rule, fmt.Sprintf(format, args...)})
	}
	spoken := false
	for i := range blocks {
		b := &blocks[i]
		switch b.Kind {
		case Text:
			spoken = true
			switch {
			case b.Blank && role == User:
				add(EmptyText, "block %d of the user's message is an empty text", i)
			case b.Blank:
				add(EmptyAnswer, "block %d of the answer is an empty text", i)
			}
		case Image:
			spoken = spoken || !b.Inner
			rules, n := b.Look.Breaks(b.Size)
			for _, rule := range rules[:n] {
				add(rule, "block %d %s", i, b.wrong(rule))
			}
		case Thinking:
			if !b.Signed {
				add(Unsigned, "block %d is thinking without signature", i)
			}
		case Call:
			if !b.Object {
				add(Input, "the input of call %s is no object", short(b.ID))
			}
			if !Plain(b.Name) || !Plain(b.ID) {
				add(Name, "the call's id or name holds characters that the provider does not take")
			}
		case Result:
			if role == User && spoken {
				add(ResultLast, "a result stands behind other content of its message")
				spoken = false // said once
			}
			if b.Failed && b.Blank {
				add(EmptyError, "the error result of call %s is empty", short(b.ID))
			}
		}
	}
	return out
}

// wrong says how an image breaks a rule.
func (b *Block) wrong(rule Rule) string {
	switch rule {
	case ImageSize:
		return fmt.Sprintf("is an image of %d bytes in base64, more than the provider takes", b.Size)
	case ImageData:
		return "is an image that the provider cannot read: " + b.Look.Fault
	case ImagePixels:
		return fmt.Sprintf("is an image of %d x %d pixels, more than the provider takes", b.Look.Width, b.Look.Height)
	}
	return fmt.Sprintf("is an image of %d x %d pixels, more than the provider takes where a request holds more than %d images", b.Look.Width, b.Look.Height, ManyImages)
}

// Plain tells whether an id or name holds only what the provider takes.
func Plain(s []byte) bool {
	for _, c := range s {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return len(s) > 0
}

func short(b []byte) string {
	if len(b) > 60 {
		return string(b[:60]) + "…"
	}
	return string(b)
}
