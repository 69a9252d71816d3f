package session

// Kind is what a record means in terms that all agents share.
type Kind uint8

// The kinds. An AssistantMessage is followed, in its batch, by one CallAsked for each of its calls.
const (
	Unknown Kind = iota
	Header
	SeedEnd // the border behind inherited or restored history
	TurnStart
	TurnEnd
	StepStart
	StepEnd
	SystemMessage
	UserMessage
	Delta // a piece of an answer that is still being streamed
	AssistantMessage
	AttemptEnd // an attempt that gave no message
	CallAsked
	CallStarted
	CallResult
	CallFinished // the call ran to its end; what it gave may stand here and nowhere else
	ApprovalAsked
	ApprovalDecided
	CompactionStart
	Summary
	CompactionEnd
	Prompt   // a user's turn begins, for the count of turns that are taken back
	Rollback // the last Turn prompts, and all behind them, are sent no more
	Goto     // the talk goes on from another record
	Edit     // an earlier record is sent no more, or with other words
	Setting
	Note
)

// Talk tells the kinds that say something, from bookkeeping. A branch without talk may lose
// against another; one with talk never does so silently.
func (k Kind) Talk() bool {
	switch k {
	case SystemMessage, UserMessage, Delta, AssistantMessage, AttemptEnd, CallAsked, CallStarted, CallResult, Summary:
		return true
	}
	return false
}

// Flags refine a kind.
type Flags uint8

const (
	// Synthetic events were made by some recovery, ours or the client's.
	Synthetic Flags = 1 << iota
	// Ignorable events may be of an unknown type.
	Ignorable
	// Inherited events stand in a record that repeats history, or end what a session has of its parent.
	Inherited
)

// Sub is a piece of a record: Raw[Off:Off+Len]. The zero Sub means that there is none.
type Sub struct{ Off, Len uint32 }

// Of cuts the piece out of a record's bytes.
func (s Sub) Of(raw []byte) []byte { return raw[s.Off : s.Off+s.Len] }

// Event has no pointers: decoders append it to a slice that is used again for the next record.
type Event struct {
	Kind       Kind
	Flags      Flags
	Class      uint8 // of a call: results of another class do not answer it
	Turn, Step int32 // as numbered by the log; 0 = not numbered
	ID         Sub   // of an approval, a compaction or a turn
	Root       Sub   // of a turn: the one that it belongs to
	Call       Sub   // call id, escapes left as they are; Off > 0 with Len 0 is an empty id
	Name       Sub   // tool name
}

// Ref finds a record again.
type Ref struct {
	Span
	N     int64 // ordinal in the part, from 0
	Marks Marks
}

// Ref is the record's own.
func (r *Record) Ref() Ref { return Ref{Span: r.Span, N: r.N, Marks: r.Marks} }
