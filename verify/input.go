package verify

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/store"
)

// Input is one session's log.
type Input struct {
	Path    string // as it is named in reports
	Rel     string // below the directory that was asked for, "" = not known
	Place   string // where it lies or will lie, for formats whose place must fit the header
	R       io.ReaderAt
	Size    int64
	Medium  string
	Format  format.Format
	Dialect format.Dialect
	// ReadOnly says what is to be done instead of a repair, where the log may not be written.
	ReadOnly string
	// Unknown is set instead of Dialect where the version is not known: only bytes are judged.
	Unknown *format.VersionError
	// Around are findings about the neighbourhood of the file.
	Around []finding.Finding
	// Stat looks at a file that the log names, by its full path; where it is nil none is looked at.
	Stat func(path string) (fs.FileInfo, error)
	// Dir is the folder in which it lies, with the other parts of the session; where it is nil none is looked at.
	Dir fs.FS
	// Missing: the file is a part of a session, and it is not there.
	Missing bool
	// Accept names faults whose offer the user takes: the log is cut in front of them.
	Accept map[finding.Code]bool
	// Pin tells how far other files count the bytes of a log whose Rules say Pinned: what stands in front of that place must
	// not move. Where it is nil, or says 0, nothing is known of them, and all of the log counts as pinned; -1 = none do.
	Pin func() int64
	// Places are where they count to, of those that are known.
	Places func() []int64
}

// Offer is a cure that loses something: it is shown, and done only when it is accepted.
type Offer struct {
	Code        finding.Code
	At          session.Ref // the record in front of which the log would be cut
	Keeps, Sets int64       // records that stay, records that go to quarantine
	// Restores is how many lines of a frame would be taken for true instead; nothing is cut then.
	Restores int64
	// Rebuilds: nothing is cut; a header is written that says what is known.
	Rebuilds bool
	// Moves: nothing is cut; bytes behind the fault move, which other files may count.
	Moves bool
}

// InputOf makes of a recognised session, whose first size bytes r reads, what Session takes.
func InputOf(s store.Session, r io.ReaderAt, size int64) Input {
	return Input{
		Path: s.Path, Rel: s.Rel, Place: s.Path, R: r, Size: size, Medium: s.Medium,
		ReadOnly: s.ReadOnly(), Format: s.Format, Dialect: s.Dialect, Unknown: s.Unknown, Around: s.Beside(), Stat: s.Stat, Pin: s.Pin, Places: s.Places,
		Dir: os.DirFS(filepath.Dir(s.Path)), Missing: s.Missing,
	}
}

// place is what decoders are told of the file.
func (in Input) place() format.Place {
	return format.Place{Path: in.Place, Medium: in.Medium, Stat: in.Stat, Dir: in.Dir, Missing: in.Missing}
}

// Verdict sums up a session. A higher one outweighs a lower one.
type Verdict uint8

// The verdicts.
const (
	Clean      Verdict = iota
	Repairable         // one safe repair exists
	Refused            // none does
)

// String is the verdict's word in reports.
func (v Verdict) String() string { return [...]string{"clean", "repairable", "refuse"}[v] }

// Drop is a range of text that leaves the log, with its reason.
type Drop struct {
	session.Span
	Code    finding.Code
	Records int64
	// Followed: the last record shares its line with something behind it.
	Followed bool
	// Pinned: what stands behind it must not move.
	Pinned bool
}

// dropRecord takes one record out of the log.
func dropRecord(r session.Ref, code finding.Code) Drop {
	return Drop{Span: r.Span, Code: code, Records: 1, Followed: r.Marks&session.Followed != 0}
}

// Move takes a record from its place and puts it behind another, for the reason of a finding.
type Move struct {
	From, Behind session.Ref
	Code         finding.Code
}

// Result is what verify says of a session.
type Result struct {
	Path, Rel, Agent, Medium string
	ID, CWD, Parent          string
	Version                  string
	Size                     int64
	Text                     int64
	Records                  int64
	Events                   int64
	Turns                    int64
	Open                     bool // a turn is open: Tail says what in it
	Tail                     session.Tail
	Findings                 []finding.Finding
	Verdict                  Verdict
	// Drops are records that leave the log: identical copies and losing branches.
	Drops []Drop
	// Offers are cures that lose something, one for each fault without a safe one.
	Offers []Offer
	// Changes are the records that mend a tree, in the order in which they are added.
	Changes []Change
	// Moves are results that stand in front of their calls.
	Moves []Move
	// Inserts are calls whose result is put in right behind them.
	Inserts []session.Call
	// Settled are the records that end what the log itself says is open.
	Settled []format.Closing
	// Close asks the format for what is missing at the end; nil where nothing is.
	Close *format.CloseRequest
}

// Damaged tells whether any finding is more than a note.
func (r *Result) Damaged() bool {
	for i := range r.Findings {
		if r.Findings[i].Damage() {
			return true
		}
	}
	return false
}
