package toy

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Tree is a second toy, whose records hang under each other.
//
//	{"t":T,"id":ID,"up":ID|null,"at":MS,…}     a node; the last record of an id counts
//	{"t":"tip","leaf":ID}                      the record to go on from; the last one counts
//
// The types of nodes, and their members:
//
//	user  "text"                                a message of the user
//	say   "text","g","calls":[{"id","tool"},…]  a piece of an answer; pieces of one answer share g
//	res   "res":[{"id","text","made"},…]        results; made: by a recovery
//	wall  "prior","keeps":[ID,…],"anchor"       a compaction: what is in front of it is sent no more
//	sum   "text"                                the summary, right under its wall
//	note  -                                     is not sent
//	odd   -                                     is not known: clients go up no further
//	tick  -                                     is not sent; client 3 takes it out
//
// Any of them may be "side", of a sub-agent's talk, "void", never sent, and "fresh", a new beginning. An empty
// text is refused by the provider. Client 2 runs tools before it writes the answer that asks for them.
// Client 3 hangs what is under an odd record under the newest node that is at most 50 ms older.
type Tree struct{}

// TreeSuffix ends the names of its logs.
const TreeSuffix = ".tree.jsonl"

//go:embed tree_reactions.txt
var treeReactions string

// Name is "toytree".
func (Tree) Name() string { return "toytree" }

// Reactions is the damage table.
func (Tree) Reactions() string { return treeReactions }

// Homes are none.
func (Tree) Homes(env func(string) string) []string { return nil }

// Detect knows a node, a tip, and the name.
func (Tree) Detect(p format.Peek) format.Match {
	var r treeRecord
	if json.Unmarshal(p.First, &r) == nil && (r.T == "tip" || r.ID != "" && bytes.Contains(p.First, []byte(`"up":`))) {
		return format.ByHeader
	}
	if strings.HasSuffix(p.Path, TreeSuffix) {
		return format.ByName
	}
	return format.No
}

// Dialect is the client's version, 1 where none is named.
func (Tree) Dialect(p format.Peek, client string) (format.Dialect, error) {
	switch client {
	case "2":
		return TreeDialect(2), nil
	case "3":
		return TreeDialect(3), nil
	}
	return TreeDialect(1), nil
}

// TreeDialect is the tree as one client reads it.
type TreeDialect int

// Version is the client's.
func (d TreeDialect) Version() string { return strconv.Itoa(int(d)) }

// Rules are those of a tree.
func (d TreeDialect) Rules() format.Rules { return format.Rules{Tree: true, RunsUnwritten: d == 2} }

const (
	tT = iota
	tID
	tUp
	tG
	tAt
	tSide
	tVoid
	tFresh
	tText
	tCallsID
	tCallsTool
	tRes
	tResID
	tResMade
	tPrior
	tKeeps
	tAnchor
	tLeaf
	tKeys
)

var treeKeys = [tKeys]string{"t", "id", "up", "g", "at", "side", "void", "fresh", "text", "calls[].id", "calls[].tool",
	"res[]", "res[].id", "res[].made", "prior", "keeps[]", "anchor", "leaf"}

// Framing tells how records begin and what they must hold.
func (TreeDialect) Framing() session.Framing {
	return session.Framing{Keys: treeKeys[:], Starts: [][]byte{[]byte(`{"t":"`)}, Needs: [][]string{{"t", "id"}, {"t", "leaf"}}}
}

// NewDecoder begins a log.
func (d TreeDialect) NewDecoder(place format.Place) format.Decoder { return treeDecoder{d} }

type treeDecoder struct{ client TreeDialect }

var treeKinds = map[string]session.Kind{
	"user": session.UserMessage, "say": session.AssistantMessage, "res": session.CallResult,
	"wall": session.CompactionEnd, "sum": session.Summary, "note": session.Note,
}

// Decode tells what a record means.
func (d treeDecoder) Decode(r *session.Record, b *format.Batch) {
	b.Unnumbered = true
	var cap [tKeys]session.Capture
	var legs []session.Event
	for _, c := range r.Caps {
		cap[c.Key] = c
		switch c.Key {
		case tCallsID:
			legs = append(legs, session.Event{Kind: session.CallAsked, Call: inside(c)})
		case tCallsTool:
			if len(legs) > 0 {
				legs[len(legs)-1].Name = inside(c)
			}
		case tRes:
			legs = append(legs, session.Event{Kind: session.CallResult})
		case tResID:
			legs[len(legs)-1].Call = inside(c)
		case tResMade:
			if c.Kind == 't' {
				legs[len(legs)-1].Flags = session.Synthetic
			}
		case tKeeps:
			b.Keeps = append(b.Keeps, session.MakeID(r.Str(c)))
		}
	}
	id := func(key int) session.ID { return session.MakeID(r.Str(cap[key])) }
	if string(r.Str(cap[tT])) == "tip" {
		b.Leaf, b.Points = id(tLeaf), true
		return
	}
	if len(r.Str(cap[tID])) == 0 {
		return
	}
	l := session.Link{
		ID: id(tID), Parent: id(tUp), Named: len(r.Str(cap[tUp])) > 0, Group: id(tG), Kind: session.Note,
		Side: cap[tSide].Kind == 't', Void: cap[tVoid].Kind == 't', Fresh: cap[tFresh].Kind == 't',
		Prior: id(tPrior), Anchor: id(tAnchor),
	}
	l.Time, _ = number(r, cap[tAt])
	if k, ok := treeKinds[string(r.Str(cap[tT]))]; ok {
		l.Kind = k
	}
	l.Opaque, l.Passed = string(r.Str(cap[tT])) == "odd", string(r.Str(cap[tT])) == "tick" && d.client == 3
	b.Link, b.Linked = l, true
	if l.Kind != session.CallResult { // each of its results is an event of that kind
		b.Events = append(b.Events, session.Event{Kind: l.Kind})
	}
	b.Events = append(b.Events, legs...)
	if c := cap[tText]; c.Kind == '"' && c.Len == 2 && l.Kind.Talk() && !l.Void {
		f := finding.New(finding.ProviderRejects)
		f.Span, f.Record, f.Where, f.Message = r.Span, r.Ref(), "empty", "the text is empty"
		b.Findings = append(b.Findings, f)
	}
}

// End has nothing to say.
func (treeDecoder) End(b *format.Batch) {}

// Leaf is the newest message under the last tip that names a node; without one, the last message of the file.
func (TreeDialect) Leaf(t *session.Tree) int32 {
	tip, under := t.Pointed(), []bool(nil)
	if tip >= 0 {
		under = t.Under(tip)
	}
	for n := len(t.Nodes) - 1; n >= 0; n-- {
		if x := &t.Nodes[n]; (under == nil || under[n]) && x.Kind.Talk() && !x.Side {
			return int32(n)
		}
	}
	return tip
}

// Heals is what client 3 does with a record under one that it does not see.
func (d TreeDialect) Heals(t *session.Tree) func(n int32, onWay []bool) int32 {
	if d != 3 {
		return nil
	}
	return func(n int32, onWay []bool) int32 {
		best := int32(-1)
		for i := range t.Nodes {
			x, on := &t.Nodes[i], i < len(onWay) && onWay[i]
			if int32(i) != n && !on && !x.Opaque && !x.Passed && x.Time <= t.Nodes[n].Time && x.Time >= t.Nodes[n].Time-50 && (best < 0 || x.Time > t.Nodes[best].Time) {
				best = int32(i)
			}
		}
		return best
	}
}

// Replay is the way down from the last wall, with what that one keeps behind its summary, each answer with all
// its pieces, and each call with its results wherever they hang.
func (TreeDialect) Replay(t *session.Tree, path []int32) []int32 {
	if wall := slices.IndexFunc(path, func(n int32) bool { return t.Nodes[n].Kind == session.CompactionEnd }); wall >= 0 {
		path = path[:wall+1]
	}
	way := slices.Clone(path)
	slices.Reverse(way)
	if len(way) > 0 && t.Nodes[way[0]].Kind == session.CompactionEnd {
		at := 1
		if len(way) > 1 && t.Nodes[way[1]].Kind == session.Summary {
			at = 2
		}
		var kept []int32
		for _, id := range t.Borders[way[0]].Keeps {
			if n := t.Find(id); n >= 0 {
				kept = append(kept, n)
			}
		}
		way = slices.Insert(way, at, kept...)
	}
	var said, out []int32
	done := make([]bool, len(t.Nodes))
	add := func(list *[]int32, n int32) {
		if !done[n] {
			done[n] = true
			*list = append(*list, n)
		}
	}
	for _, n := range way {
		for k := range t.Group(t.Nodes[n].Group) {
			if !t.Nodes[k].Side {
				add(&said, k)
			}
		}
		add(&said, n)
	}
	for _, n := range said {
		out = append(out, n)
		for _, g := range t.LegsOf(n) {
			if g.Kind != session.CallAsked {
				continue
			}
			for r := range t.Results(g.Call) {
				if !t.Nodes[r.Node].Side {
					add(&out, r.Node)
				}
			}
		}
	}
	return out
}

type treeRecord struct {
	T      string       `json:"t"`
	ID     string       `json:"id,omitempty"`
	Up     *string      `json:"up"`
	G      string       `json:"g,omitempty"`
	At     int64        `json:"at,omitempty"`
	Side   bool         `json:"side,omitempty"`
	Void   bool         `json:"void,omitempty"`
	Fresh  bool         `json:"fresh,omitempty"`
	Text   *string      `json:"text,omitempty"`
	Calls  []treeCall   `json:"calls,omitempty"`
	Res    []treeResult `json:"res,omitempty"`
	Prior  string       `json:"prior,omitempty"`
	Keeps  []string     `json:"keeps,omitempty"`
	Anchor string       `json:"anchor,omitempty"`
	Leaf   string       `json:"leaf,omitempty"`
}

type treeCall struct {
	ID   string `json:"id"`
	Tool string `json:"tool"`
}

type treeResult struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	Made bool   `json:"made,omitempty"`
}

// readNodes reads records; a nil one gives the zero record.
func readNodes(lines ...[]byte) ([]treeRecord, error) {
	out := make([]treeRecord, len(lines))
	for i, l := range lines {
		if l == nil {
			continue
		}
		err := json.Unmarshal(l, &out[i])
		if wrong := (*json.UnmarshalTypeError)(nil); err != nil && !errors.As(err, &wrong) {
			return nil, err
		}
	}
	return out, nil
}

func (r treeRecord) line() ([]byte, error) {
	raw, err := json.Marshal(r)
	return append(raw, '\n'), err
}

func tipLine(leaf string) ([]byte, error) {
	id, err := json.Marshal(leaf)
	return fmt.Appendf(nil, `{"t":"tip","leaf":%s}`+"\n", id), err
}

// Retell writes a record again with its changes.
func (TreeDialect) Retell(q format.Retelling) ([]byte, error) {
	all, err := readNodes(q.Record, q.Parent)
	if err != nil {
		return nil, err
	}
	r := all[0]
	if q.Parent != nil {
		r.Up = &all[1].ID
	}
	if q.Root {
		r.Up = nil
	}
	for _, t := range q.Truths {
		truth, err := readNodes(t.Record)
		if err != nil {
			return nil, err
		}
		for i := range r.Res {
			for _, real := range truth[0].Res {
				if r.Res[i].ID == t.Call && real.ID == t.Call {
					r.Res[i] = real
				}
			}
		}
	}
	for _, m := range q.Mends {
		word, id, _ := strings.Cut(m, " ")
		switch word {
		case "border":
			r.T, r.Prior, r.Keeps, r.Anchor = "note", "", nil, ""
		case "side":
			r.Side = false
		case "empty":
			text := "(empty)"
			r.Text = &text
		case "orphan":
			text := ""
			if r.Text != nil {
				text = *r.Text + "; "
			}
			r.Res = slices.DeleteFunc(r.Res, func(x treeResult) bool {
				if x.ID == id {
					text += "result of a lost call: " + x.Text
				}
				return x.ID == id
			})
			r.Text = &text
			if r.T == "res" && len(r.Res) == 0 {
				r.T = "user"
			}
		case "rename":
			old, id, _ := strings.Cut(id, " ")
			for i := range r.Calls {
				if r.Calls[i].ID == old {
					r.Calls[i].ID = id
				}
			}
			for i := range r.Res {
				if r.Res[i].ID == old {
					r.Res[i].ID = id
				}
			}
		default:
			return nil, fmt.Errorf("no way to mend %q", m)
		}
	}
	return r.line()
}

// Bridge is a summary that says that the true one is lost.
func (TreeDialect) Bridge(child, parent []byte) ([]byte, error) {
	all, err := readNodes(child, parent)
	if err != nil {
		return nil, err
	}
	text := "(the summary is lost)"
	return treeRecord{T: "sum", ID: *all[0].Up, Up: &all[1].ID, At: all[1].At, Side: all[1].Side, Text: &text}.line()
}

// Answer is a result right under the record that asks.
func (TreeDialect) Answer(asked, child []byte, call session.Call) (format.Closing, error) {
	all, err := readNodes(asked, child)
	if err != nil {
		return format.Closing{}, err
	}
	r := treeRecord{T: "res", ID: "end-" + call.ID, Up: &all[0].ID, At: all[0].At, Side: all[0].Side}
	if child != nil {
		r.ID = *all[1].Up
	}
	r.Res = []treeResult{{call.ID, finding.ToolOutcomeUnknown, true}}
	line, err := r.line()
	return format.Closing{Line: line, Code: finding.ToolOutcomeUnknown, Kind: "res", CallID: call.ID}, err
}

// Point writes a tip.
func (TreeDialect) Point(leaf, last []byte) ([]byte, error) {
	all, err := readNodes(leaf)
	if err != nil {
		return nil, err
	}
	return tipLine(all[0].ID)
}

// TreeLog writes a log from a shorthand: records with "|" between them, each a type, an id, a parent ("-" for none)
// and what else it says.
//
//	user u - | say a u +c1 +c2 g:m | res r a =c1 | res s a ~c2 | wall w - prior:a keeps:a,r anchor:m | tip a
//
// "+" is a call, "=" a result, "~" one that was made up. "side", "void", "fresh" and "empty" are what they say; "at:"
// is the time, which else grows from record to record.
func TreeLog(short string) string {
	var out strings.Builder
	for n, rec := range strings.Split(short, "|") {
		w := strings.Fields(rec)
		if w[0] == "tip" {
			line, _ := tipLine(w[1])
			out.Write(line)
			continue
		}
		r := treeRecord{T: w[0], ID: w[1], At: int64(10 * (n + 1))}
		if w[2] != "-" {
			r.Up = &w[2]
		}
		if r.T == "user" || r.T == "say" || r.T == "sum" {
			r.Text = &w[1]
		}
		for _, m := range w[3:] {
			key, value, _ := strings.Cut(m, ":")
			switch {
			case m[0] == '+':
				r.Calls = append(r.Calls, treeCall{m[1:], "sh"})
			case m[0] == '=' || m[0] == '~':
				r.Res = append(r.Res, treeResult{m[1:], "of " + m[1:] + " in " + r.ID, m[0] == '~'})
			case key == "at":
				r.At, _ = strconv.ParseInt(value, 10, 64)
			case key == "g":
				r.G = value
			case key == "prior":
				r.Prior = value
			case key == "anchor":
				r.Anchor = value
			case key == "keeps":
				r.Keeps = strings.Split(value, ",")
			case key == "side":
				r.Side = true
			case key == "void":
				r.Void = true
			case key == "fresh":
				r.Fresh = true
			case key == "empty":
				r.Text = new(string)
			default:
				panic("shorthand: " + m)
			}
		}
		line, _ := r.line()
		out.Write(line)
	}
	return out.String()
}

var (
	_ format.Format   = Tree{}
	_ format.Reactor  = Tree{}
	_ format.Dialect  = TreeDialect(0)
	_ format.Replayer = TreeDialect(0)
	_ format.Linker   = TreeDialect(0)
	_ format.Healer   = TreeDialect(0)
)
