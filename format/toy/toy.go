package toy

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Format is the toy.
type Format struct{}

// Newest is the highest version.
const Newest = 2

// Suffix ends the names of its logs, LockName is the lock that its client holds.
const (
	Suffix   = ".toy.jsonl"
	LockName = "toy.lock"
)

//go:embed reactions.txt
var reactions string

// Name is "toy".
func (Format) Name() string { return "toy" }

// Reactions is the damage table.
func (Format) Reactions() string { return reactions }

// Homes is $TOY_HOME.
func (Format) Homes(env func(string) string) []string {
	if h := env("TOY_HOME"); h != "" {
		return []string{h}
	}
	return nil
}

type head struct {
	T   string          `json:"t"`
	V   json.RawMessage `json:"v"`
	ID  string          `json:"id"`
	CWD string          `json:"cwd"`
	N   *int64          `json:"n"`
}

func readHead(line []byte) (h head, ok bool) {
	return h, json.Unmarshal(line, &h) == nil && h.T == "head" && h.N == nil
}

// Detect knows the header, the way in which records begin, and the name.
func (Format) Detect(p format.Peek) format.Match {
	if _, ok := readHead(p.First); ok && p.FirstLine {
		return format.ByHeader
	}
	if bytes.HasPrefix(p.First, []byte(`{"t":"`)) {
		return format.ByShape
	}
	if named(p.Path) {
		return format.ByName
	}
	return format.No
}

func named(path string) bool {
	return strings.HasSuffix(strings.TrimSuffix(path, ".zst"), Suffix)
}

// Dialect is the version in the header, 1 where there is none.
func (Format) Dialect(p format.Peek, client string) (format.Dialect, error) {
	h, ok := readHead(p.First)
	if !ok || h.V == nil {
		return Dialect(1), nil
	}
	v, err := strconv.Atoi(string(h.V))
	if err != nil || v < 0 || v > Newest {
		return nil, &format.VersionError{Version: string(h.V), Newer: v > Newest}
	}
	return Dialect(v), nil
}

// Title reads id and working directory off the header.
func (Format) Title(p format.Peek) format.Header {
	h, _ := readHead(p.First)
	return format.Header{ID: h.ID, CWD: h.CWD}
}

// Guards are a lock beside the log and whoever has it open, for logs in a directory named toys.
func (Format) Guards(path string) []format.Guard {
	dir := filepath.Dir(path)
	if filepath.Base(dir) != "toys" {
		return nil
	}
	return []format.Guard{
		{Kind: format.FileLock, Path: filepath.Join(dir, LockName), Prefix: "toy-"},
		{Kind: format.OpenFile, Path: path},
	}
}

// Beside takes a file named like the log with ".next" behind it for a later generation.
func (Format) Beside(a format.Around) []finding.Finding {
	next := filepath.Base(a.Path) + ".next"
	if _, err := fs.Stat(a.Dir, next); err != nil {
		return nil
	}
	f := finding.New(finding.GenerationBeside)
	f.Message = next + " stands beside"
	return []finding.Finding{f}
}

// Root is the directory above the one named toys that a log lies in, "" for one elsewhere.
func (Format) Root(path string) string {
	abs, err := filepath.Abs(path)
	if dir := filepath.Dir(abs); err == nil && filepath.Base(dir) == "toys" {
		return filepath.Dir(dir)
	}
	return ""
}

// Survey finds two logs of one name in a root.
func (Format) Survey(s format.Survey) []finding.Finding {
	seen := map[string]string{}
	var out []finding.Finding
	fs.WalkDir(s.Root, ".", func(f string, d fs.DirEntry, err error) error {
		base := path.Base(f)
		if err != nil || d.IsDir() || !named(base) {
			return nil
		}
		if other, ok := seen[base]; ok {
			n := finding.New(finding.SessionIDDuplicate)
			n.Message = fmt.Sprintf("%s and %s", other, f)
			out = append(out, n)
		}
		seen[base] = f
		return nil
	})
	return out
}

// Dialect is one version of the format.
type Dialect int

// Version is the number in the header.
func (d Dialect) Version() string { return strconv.Itoa(int(d)) }

// Rules are stricter from version to version.
func (d Dialect) Rules() format.Rules {
	if d == 0 {
		return format.Rules{}
	}
	return format.Rules{Dense: true, Turns: true, Steps: true, Starts: true, Strict: d >= 2}
}

const (
	kT = iota
	kN
	kAt
	kTurn
	kStep
	kCall
	kTool
	kID
	kV
	kK
	kMade
	kSkip
	kGone
	kCalls
	kCallsID
	kCallsTool
	nKeys
)

var keys = [nKeys]string{"t", "n", "at", "turn", "step", "call", "tool", "id", "v", "k", "made", "skip",
	"gone[]", "calls[]", "calls[].id", "calls[].tool"}

// Framing tells how records begin and what they must hold.
func (Dialect) Framing() session.Framing {
	return session.Framing{
		Keys: keys[:], Starts: [][]byte{[]byte(`{"t":"`)},
		Needs: [][]string{{"t", "n"}, {"t", "v"}}, HeaderFrame: true,
	}
}

// NewDecoder begins a log.
func (d Dialect) NewDecoder(place format.Place) format.Decoder { return &decoder{dialect: d} }

var kinds = map[string]session.Kind{
	"turn+": session.TurnStart, "turn-": session.TurnEnd, "step+": session.StepStart, "step-": session.StepEnd,
	"user": session.UserMessage, "bit": session.Delta, "say": session.AssistantMessage, "quit": session.AttemptEnd,
	"run": session.CallStarted, "res": session.CallResult, "may?": session.ApprovalAsked, "may!": session.ApprovalDecided,
	"pack+": session.CompactionStart, "pack-": session.CompactionEnd, "sum": session.Summary, "seed": session.SeedEnd,
	"set": session.Setting, "note": session.Note,
}

type decoder struct {
	dialect Dialect
	cap     [nKeys]session.Capture
	foreign bool
}

// Decode tells what a record means.
func (d *decoder) Decode(r *session.Record, b *format.Batch) {
	d.cap = [nKeys]session.Capture{}
	var calls []session.Event
	for _, c := range r.Caps {
		d.cap[c.Key] = c
		switch c.Key {
		case kCalls:
			calls = append(calls, session.Event{Kind: session.CallAsked})
		case kCallsID:
			calls[len(calls)-1].Call = inside(c)
		case kCallsTool:
			calls[len(calls)-1].Name = inside(c)
		case kGone:
			v, _ := number(r, c)
			b.Replaced = append(b.Replaced, v)
		}
	}
	add := func(code finding.Code, message string) {
		f := finding.New(code)
		f.Span, f.Record, f.Message = r.Span, r.Ref(), message
		b.Findings = append(b.Findings, f)
	}
	typ := string(r.Str(d.cap[kT]))
	if r.N == 0 {
		if h, ok := readHead(r.Raw); ok {
			b.Unnumbered = true
			b.Header = &format.Header{ID: h.ID, CWD: h.CWD}
			b.Events = append(b.Events, session.Event{Kind: session.Header})
			d.foreign = h.ID == "foreign"
			return
		}
		add(finding.HeaderMissing, "the first record is no header")
	}
	if typ == "head" || typ == "second" {
		b.Unnumbered = true
		add(finding.HeaderMisplaced, "a header inside the log")
		return
	}
	if v, ok := number(r, d.cap[kN]); ok {
		b.Seq, b.Numbered = v, true
		if k, ok := number(r, d.cap[kK]); ok && k > 0 && typ == "bit" {
			b.Count = k
		}
	}
	b.Unnumbered = d.dialect == 0 && !b.Numbered
	b.Time, _ = number(r, d.cap[kAt])
	kind, ok := kinds[typ]
	if !ok {
		b.Events = append(b.Events, session.Event{Kind: session.Unknown, Flags: session.Ignorable})
		if d.cap[kSkip].Kind != 't' {
			add(finding.EventUnknown, "a type that is not known")
		}
		return
	}
	e := session.Event{Kind: kind, Call: inside(d.cap[kCall]), Name: inside(d.cap[kTool]), ID: inside(d.cap[kID])}
	turn, _ := number(r, d.cap[kTurn])
	step, _ := number(r, d.cap[kStep])
	e.Turn, e.Step = int32(turn), int32(step)
	if d.cap[kMade].Kind == 't' {
		e.Flags |= session.Synthetic
	}
	b.Events = append(b.Events, e)
	for _, c := range calls {
		c.Turn, c.Step = e.Turn, e.Step
		b.Events = append(b.Events, c)
	}
}

// End says of a log whose id is "foreign" that no client of this format wrote it.
func (d *decoder) End(b *format.Batch) { b.Foreign = d.foreign }

func inside(c session.Capture) session.Sub {
	if c.Kind != '"' {
		return session.Sub{}
	}
	return session.Sub{Off: c.Off + 1, Len: c.Len - 2}
}

func number(r *session.Record, c session.Capture) (int64, bool) {
	if c.Kind != '0' {
		return 0, false
	}
	v, err := strconv.ParseInt(string(r.Value(c)), 10, 32)
	return v, err == nil && v >= 0
}

// Close ends what is open: results, then the step, then the turn.
func (Dialect) Close(q format.CloseRequest) ([]format.Closing, error) {
	var out []format.Closing
	line := func(kind, code, call, more string) {
		n := q.NextSeq + int64(len(out))
		text := fmt.Sprintf(`{"t":"%s","n":%d,"at":%d,"turn":%d%s}`+"\n", kind, n, q.Time, q.Turn, more)
		out = append(out, format.Closing{Line: []byte(text), Kind: kind, Code: code, CallID: call})
	}
	for _, c := range q.Calls {
		code := finding.ToolNotStarted
		if c.State() == session.CallRunning {
			code = finding.ToolOutcomeUnknown
		}
		line("res", code, c.ID, fmt.Sprintf(`,"step":%d,"call":"%s","made":true,"code":"%s"`, c.Step, c.ID, code))
	}
	if q.Step > 0 {
		line("step-", "", "", fmt.Sprintf(`,"step":%d`, q.Step))
	}
	if q.Turn > 0 {
		line("turn-", "", "", `,"cut":true`)
	}
	return out, nil
}

// Mend writes the number that a record's neighbours leave, or one same id into empty ones.
func (Dialect) Mend(sessionID string, r *session.Record, f *finding.Finding) []finding.Patch {
	var out []finding.Patch
	for _, c := range r.Caps {
		switch {
		case f.Code == finding.SeqMissing && c.Key == kT:
			out = append(out, finding.Patch{At: int64(c.Off + c.Len), Ins: fmt.Appendf(nil, `,"n":%d`, f.Expected)})
		case f.Code == finding.EmptyCallID && (c.Key == kCall || c.Key == kCallsID) && c.Kind == '"' && c.Len == 2:
			out = append(out, finding.Patch{At: int64(c.Off) + 1, Ins: fmt.Appendf(nil, "mended-%s-%d", sessionID, f.Expected)})
		}
	}
	return out
}

// Target knows one release, "9", whose rules are those of version 2.
func (d Dialect) Target(version string) (format.Dialect, error) {
	if version != "9" {
		return nil, fmt.Errorf("no release %s is known", version)
	}
	return Dialect(2), nil
}

var (
	_ format.Format    = Format{}
	_ format.Reactor   = Format{}
	_ format.Titler    = Format{}
	_ format.Guarder   = Format{}
	_ format.Neighbour = Format{}
	_ format.Surveyor  = Format{}
	_ format.Dialect   = Dialect(0)
	_ format.Closer    = Dialect(0)
	_ format.Mender    = Dialect(0)
	_ format.Targeter  = Dialect(0)
)
