package session

// Capture is one value that a dialect asked for, noted while its record was validated.
// Captures stand in document order: an array's element comes before the members inside it.
type Capture struct {
	Off, Len uint32 // the whole value in Record.Raw, quotes and brackets included
	N        uint32 // number of elements of an array, of members of an object
	Key      uint16 // index into Framing.Keys
	Kind     byte   // the first byte, one of { [ " t f n, and '0' for any number
	Esc      bool   // a string that holds a backslash
}

// Sub is where the inside of a captured string stands, the zero one for anything else.
func (c Capture) Sub() Sub {
	if c.Kind != '"' {
		return Sub{}
	}
	return Sub{c.Off + 1, c.Len - 2}
}

// Framing is all that scan knows of an agent.
type Framing struct {
	// Keys are the paths to capture, for example "type", "data.turn", "data.message.content[].id".
	// "[]" means each element of an array; a last part "*" means each member not named otherwise.
	Keys []string
	// Starts are the ways in which a record may begin; they tell a record from an object inside one.
	Starts [][]byte
	// Needs are the keys that make an object a record, as alternatives of sets: one whole set must be there. All stand in Keys.
	Needs [][]string
	// Inside are further ones, which objects inside of records have too: what has no other is no record where it stands in a
	// torn one as those do.
	Inside []Inner
	// HeaderFrame: the first frame of a compressed part holds exactly the first line.
	HeaderFrame bool
	// Arrays: a line may be an array of objects, which is one record. No object inside of a torn one is a record.
	Arrays bool
	// Skippable: skippable frames are harmless to the client.
	Skippable bool
}

// Inner is a kind of object that may be a record or stand inside of one.
type Inner struct {
	Of    string   // the member that holds it, "" = it is an element of an array
	Needs []string // the keys that make it a record
}

// Marks say how a record was found.
type Marks uint8

const (
	// Salvaged records were cut out of a faulty line or frame.
	Salvaged Marks = 1 << iota
	// Unterminated records are whole but lack their newline.
	Unterminated
	// Followed records share their line: something other than the newline stands behind them.
	Followed
	// DupKeys records name a captured key twice; the last one counts.
	DupKeys
)

// Record is one complete stored unit. It is reused by its scanner: Raw and Caps are valid
// until the next record.
type Record struct {
	Span
	N     int64  // ordinal in the part, from 0
	Raw   []byte // without the newline
	Caps  []Capture
	Marks Marks
}

// Value is the raw text of a captured value.
func (r *Record) Value(c Capture) []byte { return r.Raw[c.Off : c.Off+c.Len] }

// Str is the inside of a captured string, escapes left as they are.
func (r *Record) Str(c Capture) []byte {
	if c.Kind != '"' {
		return nil
	}
	return r.Raw[c.Off+1 : c.Off+c.Len-1]
}
