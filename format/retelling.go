package format

// Retelling says how a record is to be told anew. All records are whole lines without their newline.
type Retelling struct {
	Record []byte
	Parent []byte   // the record to hang it under, nil = stays
	Mends  []string // what else is to be changed, in the words that the format gave as Where of a finding
	Root   bool     // it is to hang under none
	Truths []Truth  // true results for what a recovery made up
}

// Truth is the true result of a call, in its record.
type Truth struct {
	Record []byte
	Call   string
}

// What a Retelling's mends and the places of the findings that ask for them are called, where package verify asks. A
// format has words of its own beside these, for its own findings.
const (
	// BadWord: a word of the format has bytes in it that do not belong there.
	BadWord = "word"
	// NoContent: a message without content, which some clients do not survive.
	NoContent = "no-content"
	// SideMark: a record of the main talk bears the mark of a sub-agent's.
	SideMark = "side"
	// OpenBorder: a compaction's border without summary becomes a plain note.
	OpenBorder = "border"
	// OrphanPrefix, in front of a call's id: the result of that call becomes text.
	OrphanPrefix = "orphan "
	// RenamePrefix, in front of two ids: the call or result of the first gets the second.
	RenamePrefix = "rename "
)
