// Package finding holds the catalogue of finding codes and the Finding value.
//
// A finding is one fault of a session: its code, where it stands, what it means, what repair
// would do and what must never be done. Codes are stable for ever.
package finding

import "github.com/sessfix/sessfix/session"

// Severity grades a finding. Notes leave a session clean.
type Severity string

// The severities.
const (
	Note    Severity = "note"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Cure says whether a finding can be mended without loss or guess.
type Cure string

// The cures.
const (
	Leave  Cure = "leave"  // nothing to do
	Auto   Cure = "auto"   // one safe repair exists
	Refuse Cure = "refuse" // no safe automatic repair
)

// Patch changes bytes of a part's text: Del bytes at At make way for Blank spaces and Ins.
type Patch struct {
	At, Del, Blank int64
	Ins            []byte
	Line           bool // the last of the bytes is a newline
}

// Branch is one of two competing histories, by physical lines and numbers, both ends included.
type Branch struct {
	FirstLine, LastLine int64
	FirstSeq, LastSeq   int64
	Offset, Length      int64
}

// Finding is one fault.
type Finding struct {
	Code     Code
	Severity Severity
	Cure     Cure
	session.Span
	Where   string // narrows the code for the reaction table: tail, mid, header, ...
	CallID  string // the call concerned, as written
	Message string // what is wrong here, with numbers
	Repair  string // what repair does; empty = the catalogue's sentence
	Never   string // what must not be done; likewise
	Client  string // what the client that opens the session next does with it
	Because Code   // consequence of another finding: not counted by itself
	// Expected and Got are numbers of records, where the finding is about numbering.
	Expected, Got int64
	Numbered      bool
	Missing       string // which end of a torn record is gone: head, tail; or the parent that is lost
	Recoverable   int64  // whole lines still decodable in a torn frame
	Lines         []int64
	Branches      []Branch
	// Patches make the faulty bytes whole; all findings' patches together give the mended text.
	Patches []Patch
	// Reframe: the stored frame is replaced by fresh frames that hold its mended text.
	Reframe bool
	// Record is the record concerned, where a cure must read it again.
	Record session.Ref
}

// Damage tells findings that make a session other than clean.
func (f *Finding) Damage() bool { return f.Severity != Note }
