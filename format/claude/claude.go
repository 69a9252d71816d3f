package claude

import (
	"bytes"
	_ "embed"
	"fmt"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Format is Claude Code.
type Format struct{}

//go:embed reactions.txt
var reactions string

// Newest is the newest release that was measured.
const Newest = "2.1.328"

// Name is "claude-code".
func (Format) Name() string { return "claude-code" }

// Reactions is the damage table of the format.
func (Format) Reactions() string { return reactions }

// Detect knows a transcript by a record that is a node or a side record of this client, or by its place.
func (Format) Detect(p format.Peek) format.Match {
	if p.First != nil && own(p.First) {
		if p.FirstLine {
			return format.ByHeader
		}
		return format.ByShape
	}
	if placed(p.Path) {
		return format.ByName
	}
	return format.No
}

// sideTypes are the types of records without a uuid that this client alone writes.
var sideTypes = map[string]bool{
	"summary": true, "custom-title": true, "ai-title": true, "agent-name": true, "agent-setting": true, "last-prompt": true,
	"mode": true, "permission-mode": true, "queue-operation": true, "file-history-snapshot": true, "file-history-delta": true,
	"tools-used": true, "atis-latch": true, "cost-state": true, "api-request": true, "api-request-shape": true, "api-request-blob": true,
}

var nodeTypes = map[string]bool{"user": true, "assistant": true, "system": true, "attachment": true, "progress": true}

// own tells a record of this client: a node has type, uuid and parentUuid.
func own(raw []byte) bool {
	f, err := read(raw)
	if err != nil {
		return false
	}
	typ := f.Str(kType)
	if nodeTypes[string(typ)] {
		return f.Kind(kUUID) == '"' && f.Has(kParent)
	}
	return sideTypes[string(typ)] && (f.Kind(kSession) == '"' || f.Kind(kLeaf) == '"' || bytes.Contains(raw, []byte(`"messageId":`)))
}

// Dialect is the transcript as a release reads it, the newest one where none is named.
func (Format) Dialect(p format.Peek, client string) (format.Dialect, error) {
	if client == "" {
		client = Newest
	}
	rank, ok := format.RankOf(client)
	if !ok {
		return nil, fmt.Errorf("client version %q is not known", client)
	}
	d := dialect{rank: rank}
	if f, err := read(p.First); err == nil {
		d.writer = string(f.Str(kVersion))
	}
	return d, nil
}

// dialect is the format as one release reads it.
type dialect struct {
	rank   int
	writer string // the release that wrote the first record
}

func (d dialect) Version() string { return d.writer }

// Rank orders the releases.
func (d dialect) Rank() int { return d.rank }

// firstUnwritten is the first release known to run tools before it writes the answer that asks for them.
const firstUnwritten = 2_001_328

func (d dialect) Rules() format.Rules {
	return format.Rules{Tree: true, RunsUnwritten: d.rank >= firstUnwritten}
}

func (d dialect) Framing() session.Framing {
	return session.Framing{
		Keys:   keys[:],
		Starts: [][]byte{[]byte(`{"parentUuid":`), []byte(`{"type":"`), []byte(`{"isSidechain":`), []byte(`{"logicalParentUuid":`)},
		Needs:  [][]string{{"type", "uuid"}, {"type", "sessionId"}, {"type", "leafUuid"}, {"type", "messageId"}},
	}
}

func (d dialect) NewDecoder(place format.Place) format.Decoder {
	return &decoder{dialect: d, place: place}
}

// Title reads id and working directory off the first record that tells them.
func (Format) Title(p format.Peek) format.Header {
	f, err := read(p.First)
	if err != nil {
		return format.Header{}
	}
	return format.Header{ID: string(f.Str(kSession)), CWD: string(f.Str(kCWD))}
}
