package codex

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Format is the Codex CLI.
type Format struct{}

//go:embed reactions.txt
var reactions string

// Newest is the newest release that was measured.
const Newest = "0.171.0"

// Name is "codex".
func (Format) Name() string { return "codex" }

// Reactions is the damage table of the format.
func (Format) Reactions() string { return reactions }

// The generations of the format.
const (
	bare      = "bare"
	legacy    = "legacy"
	paginated = "paginated"
)

// Detect knows a rollout by its header, else by the envelope of its records, else by its name.
func (Format) Detect(p format.Peek) format.Match {
	_, named := nameOf(p.Path)
	if f, err := read(p.First); err == nil {
		switch {
		case f.enveloped() && string(f.Str(kType)) == "session_meta" && p.FirstLine:
			return format.ByHeader
		case f.enveloped() && topTypes[string(f.Str(kType))]:
			return format.ByShape
		case named && f.bareHeader() && p.FirstLine && begins(p):
			return format.ByHeader
		}
	}
	if named {
		return format.ByName
	}
	return format.No
}

// topTypes are the types of enveloped records.
var topTypes = map[string]bool{
	"session_meta": true, "response_item": true, "event_msg": true, "turn_context": true, "compacted": true, "world_state": true,
	"token_usage_record": true, "dynamic_tools_updated": true, "inter_agent_communication": true,
	"inter_agent_communication_metadata": true, "security_risk_score": true, "realtime_item": true, "id_allocation": true,
}

// Dialect is the generation of a rollout, as a release reads it, the newest one where none is named. A release that does
// not read it is named in a *format.VersionError, as is a history mode that nobody knows.
func (Format) Dialect(p format.Peek, client string) (format.Dialect, error) {
	if client == "" {
		client = Newest
	}
	rank, ok := format.RankOf(client)
	if !ok {
		return nil, fmt.Errorf("client version %q is not known", client)
	}
	d := dialect{rank: rank, generation: legacy}
	f, err := read(p.First)
	switch {
	case err != nil:
	case !f.enveloped() && !begins(p):
		// A piece of a torn record: what is left of its line tells.
		if bytes.Contains(p.Line, []byte(`"ordinal":`)) || bytes.Contains(p.Line, []byte(`"history_mode":"paginated"`)) {
			d.generation = paginated
		}
	case !f.enveloped():
		d.generation = bare
	case string(f.Str(kType)) == "session_meta":
		d.writer = string(f.Str(kWriter))
		switch mode := string(f.Str(kMode)); mode {
		case "", legacy:
		case paginated:
			d.generation = paginated
		default:
			return nil, &format.VersionError{Version: strconv.Quote(mode), Newer: true}
		}
		if f.Has(kOrdinal) {
			d.generation = paginated // whatever the mode says: legacy rollouts have no ordinals
		}
	case f.Has(kOrdinal):
		d.generation = paginated
	}
	return d, nil
}

// begins tells whether the first record begins its line, as one that is no piece of another does.
func begins(p format.Peek) bool {
	return !p.FirstLine || bytes.HasPrefix(bytes.TrimLeft(p.Line, " \t\r\ufeff"), p.First[:min(len(p.First), len(p.Line))])
}

// dialect is one generation as one release reads it.
type dialect struct {
	generation string
	rank       int
	writer     string // the release that the header names
}

func (d dialect) Version() string { return d.generation }

// Rank orders the releases.
func (d dialect) Rank() int { return d.rank }

func (d dialect) Rules() format.Rules {
	return format.Rules{
		List: true, Dense: d.generation == paginated, Stray: true, Pinned: d.generation == paginated, InsertMid: d.generation != paginated,
	}
}

func (d dialect) Framing() session.Framing {
	f := session.Framing{
		Keys:      keys[:],
		Starts:    [][]byte{[]byte(`{"timestamp":`), []byte(`{"ordinal":`), []byte(`{"type":"`)},
		Needs:     [][]string{{"type", "payload"}},
		Skippable: true,
	}
	if d.generation == bare {
		f.Starts = append(f.Starts, []byte(`{"id":`), []byte(`{"record_type":`))
		f.Needs = [][]string{{"type", "role"}, {"type", "call_id"}, {"record_type"}, {"id", "timestamp"}}
		f.Inside = []session.Inner{{Needs: []string{"type"}}, {Of: "action", Needs: []string{"type"}}} // what items consist of
	}
	return f
}

func (d dialect) NewDecoder(place format.Place) format.Decoder {
	return &decoder{dialect: d, place: place}
}

// Title reads id and working directory off the header.
func (Format) Title(p format.Peek) format.Header {
	f, err := read(p.First)
	if err != nil {
		return format.Header{}
	}
	if f.bareHeader() {
		return format.Header{ID: string(f.Str(kBareID))}
	}
	return format.Header{ID: string(f.Str(kID)), CWD: string(f.Str(kCWD))}
}
