package session

// The states of a call.
const (
	CallRequested = "requested" // asked for, not recorded as started
	CallRunning   = "started"   // started, without result
)

// Call is a call that has no result.
type Call struct {
	ID, Name string // as written, escapes left as they are
	Index    int    // place among the calls of its turn's open step
	Asked    Ref
	Started  Ref   // zero where no start is recorded
	Finished Ref   // the record that says that it ran to its end, zero where none does
	StartSeq int64 // number of the start, -1 = none
	AskSeq   int64
	Turn     int32
	Step     int32
	Class    uint8
	// Code and Text are what a result of it is to say, where another part of the session knows.
	Code, Text string
	Hidden     bool // the message that asks for it is no longer replayed
}

// State is CallRequested or CallRunning.
func (c Call) State() string {
	if c.Started.Len > 0 {
		return CallRunning
	}
	return CallRequested
}

// Tail is the state that a log ends in.
type Tail struct {
	Turn, Step     int32 // open ones, 0 = none
	Calls          []Call
	Deltas         int64 // pieces of an answer without the complete message
	OpenCompaction bool
	OpenApprovals  []string
	NextSeq        int64 // the number that the next record must carry
	LastTime       int64 // Unix ms of the last record, as written
}
