package format

import "github.com/sessfix/sessfix/session"

// Teller is a dialect that gives what its records say, for exports. Events hold no text; this is the other half of them, and
// stands on no hot path.
type Teller interface {
	// NewTelling begins with the records of one file.
	NewTelling(place Place) Telling
}

// Telling tells the records of one file, in their order; where the dialect's Rules say Tree or Path in any order, and some
// more than once, so that it must remember nothing there.
type Telling interface {
	// Tell appends what a record says: nothing for bookkeeping, mostly one message. Whether the record stands on the way to
	// where the talk goes on, and is still sent, is found out elsewhere. A record that cannot be read says nothing.
	// What is appended refers to no memory of the record.
	Tell(r *session.Record, out []Message) []Message
}

// Message is what somebody says.
type Message struct {
	Role Role
	For  Audience
	// Stands: for the model it stands in the place of all that was said in front of it: the first message of a record that
	// compacts the talk. The messages of that record that follow are part of it.
	Stands bool
	// Copy: it repeats what stands elsewhere in the log, and transcripts leave it out.
	Copy bool
	// Fixed: an edit takes it out, or leaves its words as they are.
	Fixed bool
	// Title names what a note is about, in a word or two.
	Title  string
	ID     string // the record's, or the message's, as its client calls it
	Model  string // that gave the answer
	Time   int64  // Unix ms, 0 = not said
	Blocks []Block
}

// Role is who speaks.
type Role uint8

// The roles. A Note is the client's: an error, a mark, a question to the user.
const (
	Note Role = iota
	System
	User
	Assistant
	Tool // results
)

// String is the role's word in exports.
func (r Role) String() string { return [...]string{"note", "system", "user", "assistant", "tool"}[r] }

// Audience is who gets a message.
type Audience uint8

// The audiences.
const (
	Everyone   Audience = iota
	ModelOnly           // sent, and not shown: instructions, reminders
	PeopleOnly          // shown or noted, and not sent
)

// Block is a piece of a message.
type Block struct {
	Kind BlockKind
	// Text is the block's text, decoded: of thinking what may be read of it, of a call without JSON its input, of a result that
	// is one text that text, of anything else a word for it.
	Text string
	// ID and Name are those of a call; of a result the call's, where the record says them.
	ID, Name string
	// Input is a call's, as it is written: one JSON value.
	Input []byte
	// Content are the pieces of a result that is more than one text.
	Content []Block
	Failed  bool // of a result
	MadeUp  bool // of a result: some recovery wrote it, the client's or ours
	// Media and Data are an image's or file's type and its base64; URL is where it lies instead.
	Media, Data, URL string
	// Signature is what must go back with thinking that was signed; Sealed that Data is thinking that nobody else can read.
	Signature string
	Sealed    bool
}

// BlockKind is what a block is.
type BlockKind uint8

// The kinds.
const (
	Text BlockKind = iota
	Thinking
	Call
	Result
	Image
	File
	Other
)

// String is the kind's word in exports.
func (k BlockKind) String() string {
	return [...]string{"text", "thinking", "call", "result", "image", "file", "other"}[k]
}

// Based is a format of which a file may begin in others.
type Based interface {
	// Bases are the pieces of other files that the one at a path begins with, in the order in which they are read; none where it
	// begins in itself. A *RefusedError says why they cannot be had.
	Bases(path string, d Dialect, first []byte) ([]Base, error)
}

// Base is the beginning of a file: the first Bytes of its text.
type Base struct {
	Path  string
	Bytes int64
}
