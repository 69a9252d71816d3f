package format

// Identified is a dialect of which records have ids, so that one of them can be asked for. Numbers, and the ids of calls,
// turns and approvals that events tell, are known without.
type Identified interface {
	// IDs are the members that hold an id of the record which they stand in, and not one that it refers to.
	IDs() []IDMember
}

// IDMember is a member that holds an id.
type IDMember struct {
	Path string // as in session.Framing
	Of   string // what it is the id of, in a word or two
	// Own: no other record of the session has it, unless it is told anew.
	Own bool
}

// Witness is a format that keeps, beside the parts of a session, what may know of a record that they lack.
type Witness interface {
	// Witnesses are the files beside the one at a path that may know of a record, by its id where one is known.
	Witnesses(path, id string) []Testimony
}

// Testimony is what a file says of a record, in words that go on behind its name.
type Testimony struct{ Path, Says string }
