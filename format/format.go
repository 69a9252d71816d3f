package format

import (
	"bytes"
	"fmt"
	"io/fs"
	"time"

	"github.com/sessfix/sessfix/database"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/session"
)

// Format is one agent.
type Format interface {
	// Name is the agent's name in reports.
	Name() string
	// Homes lists the directories in which its sessions lie on this machine, existing or not.
	Homes(env func(string) string) []string
	// Detect tells how sure it is that a file is one of its sessions. A lost header must still
	// be recognised, by name and shape.
	Detect(p Peek) Match
	// Dialect is the generation in which a session is written, as the client that opens it next
	// reads it. It returns a *VersionError for one that is not known.
	Dialect(p Peek, client string) (Dialect, error)
}

// Peek is what is known of a file before it is read.
type Peek struct {
	Path string
	// Line is the first line of its text, at most 64 KiB of it, whole or not.
	Line []byte
	// First is the first whole record, and tells whether it is the first line as well.
	First     []byte
	FirstLine bool
}

// Match is an answer of Detect.
type Match int

// How sure a format can be.
const (
	No Match = iota
	ByName
	ByShape
	ByHeader
)

// VersionError says that a log's version is not known here.
type VersionError struct {
	Version string
	Newer   bool
	Client  string // the client that does not read it, where one was named
	Why     string // instead of all that, in words
}

func (e *VersionError) Error() string {
	if e.Why != "" {
		return e.Why
	}
	if e.Client != "" {
		return fmt.Sprintf("format version %s is newer than client %s reads", e.Version, e.Client)
	}
	if e.Newer {
		return fmt.Sprintf("format version %s is newer than this sessfix knows", e.Version)
	}
	return fmt.Sprintf("format version %s is not known", e.Version)
}

// Dialect is one agent's format in one generation.
type Dialect interface {
	Version() string
	Framing() session.Framing
	Rules() Rules
	NewDecoder(place Place) Decoder
}

// Place is where a session's file lies and how it is stored, for formats in which the place
// must fit the content.
type Place struct {
	Path, Medium string
	// Stat looks at a file that a record names, by its full path; where it is nil none is looked at.
	Stat func(path string) (fs.FileInfo, error)
	// Dir is the folder in which it lies, with the other parts of the session; where it is nil nothing is known of them.
	Dir fs.FS
	// Missing: the file is not there, and should be.
	Missing bool
}

// Decoder decodes the records of one session in file order.
type Decoder interface {
	// Decode appends what the record means to the batch, which is empty.
	Decode(r *session.Record, b *Batch)
	// End adds what can be said only when the last record was seen.
	End(b *Batch)
}

// Batch is what one record means. It is used again for the next.
type Batch struct {
	Events   []session.Event
	Findings []finding.Finding // visible in this record alone
	// Seq is the record's number and Count how many it takes; Numbered is false for a record
	// that has none, and Unnumbered true for one that needs none.
	Seq, Count           int64
	Time                 int64
	Numbered, Unnumbered bool
	// Rebased: the log's numbers begin with this record's.
	Rebased bool
	// Link is the record's place in the tree, where Linked says that it has one. Keeps are the records that
	// a compaction's border keeps.
	Link   session.Link
	Linked bool
	Keeps  []session.ID
	// For logs whose Rules say Path. Stray: the record is no entry of the tree, and yet the client takes it for the place to
	// go on from where it is the last. Husk: it says nothing, and the client breaks on it. Bare: it lacks the member for its
	// parent, where one without parent says so.
	Stray, Husk, Bare bool
	// Body is what two copies of a record share, where their numbers and times differ; else all of the record is compared.
	Body session.Sub
	// Images counts those that the record's message holds.
	Images int
	// Leaf, where Points is true, is the record to go on from.
	Leaf   session.ID
	Points bool
	// Replaced are the numbers of earlier records that are no longer replayed from here on.
	Replaced []int64
	// Front: what it says is sent in front of all else.
	Front bool
	// Header is set by the record that says who the session is.
	Header *Header
	// Foreign, set by End: no known client wrote this log; what its end leaves open is not judged.
	Foreign bool
}

// Reset empties the batch.
func (b *Batch) Reset() {
	*b = Batch{Events: b.Events[:0], Findings: b.Findings[:0], Replaced: b.Replaced[:0], Keeps: b.Keeps[:0], Count: 1}
}

// Header is what a session says of itself.
type Header struct {
	ID, CWD, Parent string
	Version         string // of the client that wrote it, where the dialect does not know it from the first record
	Seed            int64  // number of inherited records, 0 = none
}

// Rules configure the shared checkers. The zero value is the lenient answer.
type Rules struct {
	// Dense: records are numbered First, First+1, … without hole.
	Dense bool
	First int64
	// Turns and Steps are recorded and counted 1, 2, 3, …
	Turns, Steps bool
	// Strict: the client refuses turns and steps that do not nest, and calls left open in a closed step.
	Strict bool
	// Tree: records hang under each other, and the last one of an id counts.
	Tree bool
	// Path: records hang under each other, the last of the file is where the talk goes on, and what is sent is the way from
	// there up. A call is answered by a result behind it and in front of the next message. Records are mended in place.
	Path bool
	// RunsUnwritten: the client runs the tools of an answer before it writes that answer.
	RunsUnwritten bool
	// Starts: the log records that a call began, so that an absent start proves that it did not.
	Starts bool
	// List: what is sent is the log's own order, and a call is answered by a result of its id anywhere behind it.
	List bool
	// Stray: where a bookkeeping record repeats a number, the log goes on behind the first of the two.
	Stray bool
	// InsertMid: the result of a call that other talk follows may be put in behind it. Without it only the calls at the
	// end are answered.
	InsertMid bool
	// LastResult: of two results of a call the client takes the last, where records hang under each other.
	LastResult bool
	// KeepTime: clients go on with the session whose file was written last, so that a repair must not make it newer.
	KeepTime bool
	// Pinned: other files may count this one's bytes, so that none may move.
	Pinned bool
}

// CloseRequest asks for the records that end what a crash left open.
type CloseRequest struct {
	Calls      []session.Call // unanswered, in call order
	Turn, Step int32          // to be ended behind them, 0 = leave
	// TurnID is the turn to be ended where turns have names, and RootTurn the one that it belongs to.
	TurnID, RootTurn string
	// TurnStart is where the turn begins, and Opened that record.
	TurnStart session.Ref
	Opened    []byte
	// Asked are the records that ask for the calls, and Found those that say how one of them ended, nil where none does.
	// Both are given to formats whose Rules say List.
	Asked, Found [][]byte
	NextSeq      int64
	Time         int64
	// For logs whose Rules say Path: the session's id; that of the record, as JSON, to hang the first closer under, nil where records
	// have none; records
	// that are to be sent no more; whether a record is wanted that says nothing and marks the place to go on from; and
	// which ids, as JSON, are in use.
	SessionID string
	Leaf      []byte
	Unsaid    [][]byte
	Mark      bool
	Taken     func(id []byte) bool
}

// Closing is one synthetic record.
type Closing struct {
	Line   []byte // with its newline
	Code   string // TOOL_NOT_STARTED or TOOL_OUTCOME_UNKNOWN, for a call
	Kind   string // the record's kind in the format's own word
	CallID string
	Place  string // in what is sent: "adjacent" to its call where more follows, else "end"
}

// OwnWords tells closers that hold nothing of the session but ids: results that say that one is missing, and ends of what is open.
func (c Closing) OwnWords() bool {
	if !bytes.HasPrefix(c.Line, []byte("{")) {
		return false
	}
	if c.CallID == "" {
		return c.Code == ""
	}
	return c.Code == finding.ToolNotStarted || c.Code == finding.ToolOutcomeUnknown
}

// Powers.
type (
	// Closer ends what is open.
	Closer interface {
		Close(q CloseRequest) ([]Closing, error)
	}
	// Mender cures what only this agent can have. It returns the patches of the record that the
	// finding is about, offsets in the record; nil = not mine.
	Mender interface {
		Mend(sessionID string, r *session.Record, f *finding.Finding) []finding.Patch
	}
	// Ranked dialects are told apart, in the table of reactions, by the client that opens the session next.
	Ranked interface {
		Rank() int
	}
	// Replayer tells what a client makes of a tree.
	Replayer interface {
		// Leaf is the node that the client goes on from, -1 where it finds none.
		Leaf(t *session.Tree) int32
		// Replay lists the nodes whose content the next request holds, in order. The path leads from the leaf up. Edits are in the
		// list as any other node, and what they edit is too.
		Replay(t *session.Tree, path []int32) []int32
	}
	// Healer is a Replayer whose client, on its way up, hangs a record whose parent it does not see under another one by itself.
	Healer interface {
		// Heals gives what such a client does with a node: the one that it hangs it under, -1 where it goes up no further. Of the nodes
		// that it has come by onWay tells, which may be short. It gives nil where this client does no such thing.
		Heals(t *session.Tree) func(n int32, onWay []bool) int32
	}
	// Document is the dialect of a file that is one JSON document and no log. It says what is wrong with it; the patches
	// of the findings make it right.
	Document interface {
		Judge(data []byte, a Around) []finding.Finding
	}
	// Documented are formats that keep such files, by these names.
	Documented interface {
		Documents() []string
	}
	// Chained are the dialects whose Rules say Path.
	Chained interface {
		Replayer
		// Names are the members that hold a record's id and its parent's.
		Names() (id, parent string)
		// NewID is an id for a record, as JSON: for one seed always the same, and none that is taken.
		NewID(seed string, taken func(id []byte) bool) []byte
		// StandIn is the line of a record that says nothing, with an id and a parent as JSON; time is in Unix ms.
		StandIn(id, parent []byte, time int64) []byte
	}
	// Linker writes the records that mend a tree. Each is one line, with its newline.
	Linker interface {
		// Retell tells a record anew under its own id.
		Retell(q Retelling) ([]byte, error)
		// Bridge stands in for the summary of the border parent, with the id that child names as its parent.
		Bridge(child, parent []byte) ([]byte, error)
		// Answer is a synthetic result of the call that the record asked holds. Where child is not nil, the
		// result takes the id that child names as its parent.
		Answer(asked, child []byte, call session.Call) (Closing, error)
		// Point names the record to go on from.
		// last is the newest record that did so, nil where there is none.
		Point(leaf, last []byte) ([]byte, error)
	}
	// Reheader is a decoder that can write anew a header that is lost. Remains are the bytes in front of the first record.
	// The line has no newline; it is nil where too little is known. It is asked when End was.
	Reheader interface {
		Reheader(remains []byte) []byte
	}
	// Parted are formats of which a session is several files of one folder, its parts.
	Parted interface {
		// Part tells what a file is in its session, and its place in the order in which a repair takes them; ok is false
		// for a file that is no part.
		Part(path string) (p Part, ok bool)
		// Parts are the names of all, in that order.
		Parts() []string
		// Lost are the names of those that are not there, and without which the client does not know, or spoils, the
		// session in a folder.
		Lost(path string, dir fs.FS) []string
	}
	// Hurt is a decoder that wants to know, before End, which faults the bytes of the log have.
	Hurt interface {
		Hurt(faults []finding.Finding)
	}
	// Counter is a decoder that counts turns in its own way. It is asked when End was.
	Counter interface {
		Turns() int64
	}
	// Recaller is a decoder that brings back, by patches of its findings, answers that are lost, of which other parts of the
	// session know: whether it does so with the one that asks for a call. It is asked when End was.
	Recaller interface {
		Recalls(call string) bool
	}
	// Grader is a decoder that knows more of a call without result than its log says, from other parts of the session. It is
	// asked when End was.
	Grader interface {
		Grade(call session.Call) (code, text string)
	}
	// Settler is a decoder of a format of which the log itself says what is left open and how each of it stands. It writes
	// the records that end that, to be added behind the last one. It is asked when End was.
	Settler interface {
		Settle() ([]Closing, error)
	}
	// Guarder says how to exclude or find a live owner of the session at a path.
	Guarder interface {
		Guards(path string) []Guard
	}
	// Reactor gives the table of what clients do with each fault.
	Reactor interface {
		Reactions() string
	}
	// Neighbour judges what lies around a session's file.
	Neighbour interface {
		Beside(a Around) []finding.Finding
	}
	// Surveyor judges a whole root of sessions.
	Surveyor interface {
		// Root is the root that a path lies in or stands for, "" where it is in none.
		Root(path string) string
		Survey(s Survey) []finding.Finding
	}
	// Citer is a format of which one file may begin in another.
	Citer interface {
		// Named is what other files call the one at a path, "" where none can.
		Named(path string) string
		// Cites tells where the file with this first record begins; ok is false where it begins in itself.
		Cites(first []byte) (c Citation, ok bool)
		// Kin are the folders in which files may cite the one at a path, or be cited by it. Home tells that there are no
		// others.
		Kin(path string) (dirs []string, home bool)
	}
	// Projector is a format of which databases repeat what a file says, with places in it.
	Projector interface {
		// Projections are the rows about the file at a path.
		Projections(path string, env func(string) string) []database.Rows
	}
	// Titler reads what the header says of the session, for lists.
	Titler interface {
		Title(p Peek) Header
	}
	// Replayable is a format whose clients may ask for what came behind an event; ok is false where the log cannot be read.
	Replayable interface {
		Replay(dir fs.FS, cursor string) (r Replay, ok bool)
	}
	// Targeter tells what another release's migration would refuse.
	Targeter interface {
		Target(version string) (Dialect, error)
	}
)

// Part is a file in its session.
type Part struct {
	Order int
	Role  string
}

// Roles of parts.
const (
	Primary  = "primary"  // says what happened
	Derived  = "derived"  // can be made anew of the others
	Evidence = "evidence" // says more about what others say
)

// Replay is what a client gets that names the last event it saw.
type Replay struct {
	Cursor  string `json:"cursor"`
	Full    bool   `json:"full"`    // all, not only what came behind
	Records int    `json:"records"` // that are looked through for it
	Why     string `json:"why,omitempty"`
}

// Citation is the beginning of a file that stands in another.
type Citation struct {
	Named          string // the other file
	Bytes, Records int64  // of that one's text, from its start
}

// Guard kinds.
const (
	// FileLock: the kernel lock on Path is taken and kept until the work is done.
	FileLock = "flock"
	// OpenFile: no other process may have Path open for writing.
	OpenFile = "open-file"
	// Running: no process named one of Names may run with Env resolving to Path.
	Running = "process"
	// Registry: no process that the agent's registry in Path names for Session may live.
	Registry = "registry"
	// Claim: whoever makes the file Path has the lock until it takes it away; what stands in it names the process, as Owner
	// reads it. Repair makes it with what Say gives.
	Claim = "claim"
	// Quiet: Path must not have changed for two seconds.
	Quiet = "quiet"
)

// Guard is one way to exclude or find a live owner.
type Guard struct {
	Kind, Path string
	Names      []string
	Prefix     string // of the lock's name on systems that have named locks
	// Wait: all share the lock and hold it for moments only: it is worth a second try, and given back once the locks
	// behind it are taken. Sweep: the agent takes the lock's file away behind it, under the shared ones. Make: its folder
	// is made where it is missing.
	Wait, Sweep, Make bool
	// Home gives, from a process's environment, the home it works in.
	Home func(env func(string) string) string
	// Dir, where it is set, tells whether a process that works in a directory may have the session.
	Dir func(dir string) bool
	// Session is the id that a registry's entries are about; Entry tells them by name, and Owner reads one.
	Session string
	Entry   func(name string) bool
	Owner   func(name string, data []byte) (Owner, bool)
	// Say is the content of a claim: the process, when it started as the system counts it, and the time.
	Say func(pid int, start string, now time.Time) []byte
}

// Owner is what an entry of a registry says of a process.
type Owner struct {
	PID                    int
	Session, Start, Domain string
}
