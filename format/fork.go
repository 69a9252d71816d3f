package format

import (
	"io"
	"io/fs"
	"time"

	"github.com/sessfix/sessfix/session"
)

// Forker is a format of whose sessions a branch can be made: a session of its own that begins with records of another one.
type Forker interface {
	// NewID is the identity of a new session.
	NewID(now time.Time, random io.Reader) (string, error)
	// Fork tells which files the child has, and what is in them. The cut is a legal one, or one that will be closed.
	Fork(q ForkRequest) (Child, error)
}

// Selective is a Forker that does not fork all of its sessions.
type Selective interface {
	// Forks says why it does not fork those of a dialect, with a *RefusedError; nil where it does.
	Forks(d Dialect) error
}

// Cutter is a Forker that finds the places where a session may be cut itself. Others are cut where no turn, call or compaction
// is open.
type Cutter interface {
	Forker
	// Cuts lists the places of a session in their order. The request has no cut, and Each goes over all of the log.
	Cuts(q ForkRequest) ([]Cut, error)
}

// Cut is a place where a session may be cut, or may not. It stands behind its record.
type Cut struct {
	session.Ref
	// Seq is the record's number where records have one, else -1; ID its id; Turn how many turns the child has.
	Seq  int64
	ID   string
	Turn int64
	// Kind is what the record is, in a word.
	Kind string
	// Open says what is open here, "" where the cut is legal; Calls are the unanswered ones. Closable tells that records that
	// end what is open make it legal.
	Open     string
	Calls    []string
	Closable bool
}

// ForkRequest asks for the child of a session.
type ForkRequest struct {
	// Path is the session's log, or its folder where it is several files, and Dir the folder that it lies in.
	Path    string
	Dir     fs.FS
	Medium  string
	Dialect Dialect
	Cut     Cut
	// Whole: the cut stands at the end, so that nothing that follows need be left out.
	Whole bool
	// ID is the child's, Now the time at which it is made, and CWD its working directory, "" for that of its parent.
	ID  string
	Now time.Time
	CWD string
	// Each goes over the records of the log in their order, and tells of each whether it stands in front of the cut: where records
	// hang under each other, on the way up from it, with all that belongs to an answer on that way. The record is valid until
	// the next.
	Each func(yield func(r *session.Record, taken bool) error) error
}

// Child is a session to be made.
type Child struct {
	// Root is the directory of the agent's sessions that the parent lies in; a parent elsewhere gets its child beside it.
	Root string
	// Files are in the order in which they are to be published: only the last makes the session known.
	Files []NewFile
	// Notes say what the child lacks.
	Notes []string
}

// NewFile is a file to be made.
type NewFile struct {
	// Name is its path, with slashes, below the child's Root, or below the folder of the file that is upgraded.
	Name  string
	Write func(w io.Writer) error
}

// Heir is a format whose sessions say whose children they are.
type Heir interface {
	// Inherits reads that off a session's first record; ok is false where the session is nobody's child.
	Inherits(p Peek) (h Heritage, ok bool)
	// Ancestor is the path of the log of a session's parent, "" where it cannot be found.
	Ancestor(path string, h Heritage) string
	// Alike tells whether a record of a child is the copy of one of its parent's.
	Alike(child, parent []byte) bool
}

// Knowing is an Heir of which records hang under nothing and have no numbers that a copy keeps, and that knows copies by other things.
type Knowing interface {
	// Known is what a record and its copies have in common, the zero ID for one that is not looked for.
	Known(record []byte) session.ID
}

// Heritage is what a session says of where it comes from.
type Heritage struct {
	Parent string // id or path
	// Records is how many records behind the header are the parent's; -1 where the session does not say.
	Records int64
}
