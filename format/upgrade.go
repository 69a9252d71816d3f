package format

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"

	"github.com/sessfix/sessfix/finding"
)

// Upgrader is a format whose sessions can be brought from one generation to the next.
type Upgrader interface {
	// Upgrades are the steps that are known, oldest first.
	Upgrades() []Upgrade
}

// Upgrade is one step on the way from one generation to a newer one. Generations are named as Dialect.Version names them.
type Upgrade struct {
	From, To string
	// Part is the name of the file that the step is for, in a session of several; "" is the log.
	Part string
	// About says in a line what the step changes.
	About string
	// Unproved says what kept the step from being held against the real client's own, "" where nothing did.
	Unproved string
	// Optional steps are taken only where --to names their generation: the newest client reads the older one as well.
	Optional bool
	// Beside is the name of the new generation's file, which is written beside the old one. Where it is nil the old
	// one is replaced.
	Beside func(path string) string
	// Moves: the old file goes once the new one stands, as Beside names it. The original is kept.
	Moves bool
	// Also are files that the new generation has beside; nil where there are none.
	Also func(s Source) ([]NewFile, error)
	// Begin starts the step on one file. Stages keep bytes where nothing changes, and know no clock and no chance.
	Begin func(s Source) (Stage, error)
}

// Source is the file that a chain of steps begins with, as a repair would leave it.
type Source struct {
	Path, Medium string
	// ID is the session's, as its header or its place says it.
	ID string
	// Dir is the folder in which it lies.
	Dir fs.FS
	// Records are the records of the file, from its first one. It may be gone through more than once. A line is valid
	// until the next. Where the step is not the first of its chain the records are those of the chain's beginning.
	Records func() iter.Seq2[Line, error]
}

// Line is one record on its way.
type Line struct {
	// Raw is the record without its newline. It is valid until the stage that gets it returns.
	Raw []byte
	// N is the record of the source that it comes from, counted from 0; -1 for one that is new.
	N int64
	// Why says, of a line that is new or changed beyond what the step's About says, what it is for.
	Why string
}

// Stage rewrites records one by one. What it does not understand it keeps, or refuses with a *RefusedError.
type Stage interface {
	Record(l Line, out Out) error
	// End gives what only the whole log shows.
	End(out Out) error
}

// Out takes what a stage makes of the records.
type Out interface {
	// Put writes a record.
	Put(l Line) error
	// Drop says that record n of the source has no place in the new generation, and why. The original is kept.
	Drop(n int64, why string)
	// Note says what else the user should know about record n; -1 is the session.
	Note(n int64, text string)
}

// RefusedError says that a record cannot be brought over.
type RefusedError struct {
	N   int64 // of the source; -1 is the session as a whole
	Why string
}

func (e *RefusedError) Error() string { return e.Why }

// Refuse makes a RefusedError.
func Refuse(n int64, text string, args ...any) error {
	return &RefusedError{n, fmt.Sprintf(text, args...)}
}

// ErrNoWay is returned where no step leads to a generation.
var ErrNoWay = errors.New("no step leads there")

// Aged is an Upgrader of which a file's generation is not what its dialect is called.
type Aged interface {
	// Age is the generation of a file, as Upgrade.From names it.
	Age(s Source) (string, error)
}

// Preparer is an Upgrader that mends what a newer generation would refuse, before the first step.
type Preparer interface {
	// Prepare is the stage for a log that goes from one generation to another, nil where there is nothing to prepare. What it does to a
	// record it says with Note, Drop or the line's Why.
	Prepare(ctx context.Context, s Source, from, to string) (Stage, error)
	// Prepares tells whether that mends a fault for which repair knows no safe cure.
	Prepares(f *finding.Finding) bool
}

// The media that a session may be brought into, beside those of package scan.
const Database = "sqlite"

// Recoder is a format of which a session may lie in several media.
type Recoder interface {
	// Recoded is the name of a session's file in a medium, with slashes. It is below the folder in which the session lies, or below that of
	// its database. A *RefusedError says why it cannot lie in that medium.
	Recoded(s Source, medium string) (string, error)
}
