package pi

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/pi/harness"
	"github.com/sessfix/sessfix/session"
)

// Format is the pi coding agent.
type Format struct{}

//go:embed reactions.txt
var reactions string

// Newest is the newest release that was measured.
const Newest = "1.6.0"

// Name is "pi".
func (Format) Name() string { return "pi" }

// Reactions is the damage table of the format: the rows of AgentHarness hold for its generations alone.
func (Format) Reactions() string { return harness.Reactions + reactions }

// The generations of the format, by the version in the header.
const (
	linear = 1 // entries without ids
	hooked = 2 // messages of hooks have a role of their own
	newest = 3
)

// Detect knows a session by its header, else by an entry, else by its name.
func (Format) Detect(p format.Peek) format.Match {
	if m := Shape(p); m != format.No {
		return m
	}
	switch {
	case harness.Own(p.First) && p.FirstLine:
		return format.ByHeader
	case harness.Own(p.First), harness.Shaped(p.First), harness.Durable(p.Path, p.First):
		return format.ByShape
	}
	if placed(p.Path) {
		return format.ByName
	}
	return format.No
}

// Shape tells a session of this format by its first record.
func Shape(p format.Peek) format.Match {
	f, err := read(p.First)
	switch {
	case err != nil:
	case f.header() && p.FirstLine:
		return format.ByHeader
	case f.header() || f.entry():
		return format.ByShape
	}
	return format.No
}

// header tells a header. The client asks for type and id alone; dsh writes those too, and a time of another name.
func (f *fields) header() bool {
	return string(f.Str(kType)) == "session" && (f.Has(kTime) || f.Has(kID) && !bytes.Contains(f.Raw[:min(len(f.Raw), 400)], []byte(`"createdAt":`)))
}

// entryTypes are the types of entries (read in the packages of 0.73.1 and 1.6.0).
var entryTypes = map[string]bool{
	"message": true, "thinking_level_change": true, "model_change": true, "compaction": true, "branch_summary": true, "custom": true,
	"custom_message": true, "label": true, "session_info": true, "active_tools_change": true, "usage": true, "context_edit": true,
}

// entry tells an entry of a tree, or a message of the generation without ids, from records of other agents.
func (f *fields) entry() bool {
	if !entryTypes[string(f.Str(kType))] || f.Kind(kTime) != '"' {
		return false
	}
	return f.Has(kParent) && f.Has(kID) || f.Kind(kMessage) == '{' && f.Kind(kRole) == '"'
}

// Dialect is the generation of a session, as a release reads it, the newest one where none is named.
func (Format) Dialect(p format.Peek, client string) (format.Dialect, error) {
	if client == "" {
		client = Newest
	}
	rank, ok := format.RankOf(client)
	if !ok {
		return nil, fmt.Errorf("client version %q is not known", client)
	}
	switch {
	case harness.Own(p.First), harness.Shaped(p.First):
		return harness.Dialect(p.First)
	case harness.Durable(p.Path, p.First):
		return nil, &format.VersionError{Why: "a part of a pi-durable session: its files are one log together, and cutting one of them tears the others; open it with its own library"}
	}
	return Open(p, Client{Rank: rank, Edits: rank >= firstEdits})
}

// Client is one that reads this format, pi itself or one that was built on it.
type Client struct {
	// Rank orders its releases.
	Rank int
	// Edits: context_edit entries change what is sent.
	Edits bool
	// Entry, where it is set, says what entries of types of its own are for: it may change the link, whose Prior is what the
	// entry names as its target or as the first that it keeps. Aside tells that the entry says it stands beside the way.
	Entry func(typ string, aside bool, l *session.Link)
	// Tell, where it is set, has the last word on what an entry says: it gets its type, the entry, and what pi has it say.
	Tell func(typ string, raw []byte, told []format.Message) []format.Message
}

// Open is the generation of a session as a client reads it.
func Open(p format.Peek, c Client) (format.Dialect, error) {
	d := dialect{client: c, generation: newest}
	f, err := read(p.First)
	if err != nil {
		return d, nil
	}
	if !f.header() {
		if f.entry() && !f.Has(kID) {
			d.generation = linear
		}
		return d, nil
	}
	if d.generation = generationOf(f); d.generation > newest {
		return nil, &format.VersionError{Version: string(f.Value(kVersion)), Newer: true}
	}
	return d, nil
}

// generationOf is the generation that a header names. The client takes a missing or null version for 1, and any text for
// the newest.
func generationOf(f *fields) int {
	switch f.Kind(kVersion) {
	case ' ', 'n':
		return linear
	case '0':
		v, err := strconv.ParseFloat(string(f.Value(kVersion)), 64)
		switch {
		case err != nil || v < hooked:
			return linear
		case v < newest:
			return hooked
		case v > newest:
			return newest + 1
		}
	}
	return newest
}

// dialect is one generation as one release reads it.
type dialect struct {
	generation int
	client     Client
}

func (d dialect) Version() string { return strconv.Itoa(d.generation) }

// Rank orders the releases.
func (d dialect) Rank() int { return d.client.Rank }

func (d dialect) Rules() format.Rules { return format.Rules{Path: true, KeepTime: true} }

func (d dialect) Framing() session.Framing {
	return session.Framing{
		Keys:   keys[:],
		Starts: [][]byte{[]byte(`{"type":"`)},
		Needs:  [][]string{{"type", "timestamp"}, {"type", "id", "parentId"}},
	}
}

func (d dialect) NewDecoder(place format.Place) format.Decoder {
	return &decoder{dialect: d, place: place}
}

// Title reads id and working directory off the header.
func (Format) Title(p format.Peek) format.Header {
	if harness.Own(p.First) {
		return harness.Title(p.First)
	}
	return Title(p)
}

// Title is what the header says of the session.
func Title(p format.Peek) format.Header {
	f, err := read(p.First)
	if err != nil || !f.header() {
		return format.Header{}
	}
	return format.Header{ID: string(f.Str(kID)), CWD: string(f.Str(kCWD)), Parent: string(f.Str(kParentSession))}
}
