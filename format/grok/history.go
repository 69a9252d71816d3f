package grok

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// history decodes what the model is sent.
type history struct {
	dir    fs.FS
	f      fields
	last   session.ID
	asks   []string // the calls of the last answer that asks, as written
	shown  *shown   // of the updates, once it was asked for
	events events

	near     bool            // nothing but results stands behind the last answer that asks
	prompt   int             // the number of the last prompt that bears one, -1 = none
	spoke    bool            // the last item is an answer that asks for nothing
	line     int64           // of the last item
	end      int64           // where the next item would stand
	turns    int64           // prompts
	old      bool            // items are written as they were first
	claims   []claim         // of the client, that a call did not run
	real     map[string]bool // calls with another result behind such a claim
	glued    []int64         // where a record gets a newline in front of it
	sore     []int64         // those, and where bytes of an item are damaged
	wounds   []wound         // where something is missing
	recalled map[string]bool // calls whose answer, or result, is put back
}

// Decode tells what an item means.
func (d *history) Decode(r *session.Record, b *format.Batch) {
	f := &d.f
	f.set(r.Raw, r.Caps)
	b.Unnumbered, b.Linked = true, true
	halves(r, b)
	word := string(f.Str(kType))
	if role := string(f.Str(kRole)); word == "" || !items[word] && itemOf[role] != "" {
		word = role // as it was written first
		d.old = true
	}
	l := session.Link{ID: itemID(r.N), Parent: d.last, Named: d.last != (session.ID{})}
	d.last = l.ID
	d.spoke, d.end, d.line = word == "assistant" && len(f.calls) == 0, r.TextEnd()+1, r.Line
	if n, err := strconv.Atoi(string(f.Value(kItemPrompt))); err == nil {
		d.prompt = n
		d.turns++
	} else if word == "user" && bytes.Contains(f.Value(kContent), query) {
		d.turns++
	}
	if word != "tool_result" && word != "tool" {
		d.near = word == "assistant" && len(f.calls) > 0
	}
	switch word {
	case "system":
		l.Kind = session.SystemMessage
	case "user":
		l.Kind = session.UserMessage
		if f.Kind(kContent) == '"' && f.Has(kType) {
			b.Findings = append(b.Findings, wrap(r, f))
		}
	case "assistant":
		l.Kind = session.AssistantMessage
		if len(f.calls) > 0 {
			d.asks = d.asks[:0]
		}
		for _, c := range f.calls {
			d.asks = append(d.asks, string(f.Inside(c.id)))
			b.Events = append(b.Events, session.Event{Kind: session.CallAsked, Call: c.id.Sub(), Name: c.name.Sub()})
		}
	case "reasoning", "backend_tool_call":
		l.Kind = session.AssistantMessage
	case "tool_result", "tool":
		stray := false
		l.Kind = session.CallResult
		if (!d.near || !slices.Contains(d.asks, string(f.Str(kCall)))) && len(d.wounds) < maxWounds {
			d.wounds = append(d.wounds, wound{r.Text, r.Line, string(f.Str(kCall))})
			stray = true
		}
		e := session.Event{Kind: session.CallResult, Call: f.Sub(kCall)}
		text, id := f.Str(kContent), string(f.Str(kCall))
		switch {
		case cancelled(text) && stray:
			b.Husk = true // the call gets an answer in its place
		case cancelled(text) && len(d.claims) < maxWounds:
			d.claims = append(d.claims, claim{r.Ref(), id, r.Text + int64(f.At(kContent).Off), int64(f.At(kContent).Len)})
		case len(d.claims) > 0 && !invented(text):
			if d.real == nil {
				d.real = map[string]bool{}
			}
			d.real[id] = true
		}
		if invented(text) {
			e.Flags = session.Synthetic
		}
		b.Events = append(b.Events, e)
	default:
		l.Kind = session.Note
		if bytes.ContainsFunc(f.Str(kType), func(c rune) bool { return c >= utf8.RuneSelf }) {
			b.Husk = true // no release calls an item so: its bytes were damaged
			d.wounds = append(d.wounds, wound{at: r.Text, line: r.Line})
			break
		}
		b.Findings = append(b.Findings, finding.About(finding.EventUnknown, r.Ref(), "item", fmt.Sprintf("an item of type %q: the client takes it out when it opens the session", word)))
	}
	b.Link = l
}

// wrap makes a list of words that stand alone: the client reads no others of that version.
func wrap(r *session.Record, f *fields) finding.Finding {
	x := finding.About(finding.EventInvalid, r.Ref(), "content", "the words of a user stand alone, and not in a list: the client takes the item out when it opens the session")
	x.Repair = "a list of one text is made of them"
	at := r.Text + int64(f.At(kContent).Off)
	x.Patches = []finding.Patch{{At: at, Ins: []byte(`[{"type":"text","text":`)}, {At: at + int64(len(f.Value(kContent))), Ins: []byte("}]")}}
	return x
}

// query begins the words of the user in an item; what the client adds by itself stands in other items.
var query = []byte("<user_query>")

// Turns counts the prompts.
func (d *history) Turns() int64 { return d.turns }

// maxWounds bounds what is kept of a history in which next to nothing fits.
const maxWounds = 10000

// itemID is the id, here, of an item: its place.
func itemID(n int64) session.ID { return session.ID{Hi: 2, Lo: uint64(n) + 1} }

// End asks for a history where there is none, and the log tells what it was.
func (d *history) End(b *format.Batch) {
	if d.last != (session.ID{}) {
		d.restore(b)
		d.judgeClaims(b)
		return
	}
	text := rebuild(d.dir)
	if text == nil {
		return
	}
	f := finding.New(finding.EmptyHistory)
	f.Line, f.Logical = 1, 1
	f.Message = "the history is empty, and the log holds a talk: the model would know nothing of it, or what the client makes of the log, with turns that were taken back and without what was compacted"
	f.Repair = "it is written anew, of the log and the last compaction that counts; reminders and reasoning were in it alone"
	f.Patches = []finding.Patch{{Del: 1 << 62, Ins: text}}
	if len(d.wounds) > 0 {
		f.Patches[0].Del = 0 // what stands there goes anyway
	}
	b.Findings = append(b.Findings, f)
}

// Grade says what is known of a call without result from the other files: how it ended, or how far it came.
func (d *history) Grade(c session.Call) (code, text string) {
	if d.shown == nil {
		d.shown, d.events = readUpdates(d.dir), readEvents(d.dir)
	}
	if mark, text, ok := d.shown.end(c.ID); ok {
		if mark == finding.ToolOutcomeUnknown || mark == finding.ToolNotStarted {
			return mark, text
		}
		return finding.ResultRestored, text
	}
	if !slices.Contains(d.asks, c.ID) {
		return finding.ToolOutcomeUnknown, `"` + unknownText + `"`
	}
	code, text = d.events.grade(d.dir, c.ID, slices.Index(d.asks, c.ID))
	return code, `"` + text + `"`
}

// Close writes the results of calls that have none.
func (d dialect) Close(q format.CloseRequest) ([]format.Closing, error) {
	var out []format.Closing
	for _, c := range q.Calls {
		out = append(out, format.Closing{Line: resultLine(c.ID, c.Text), Code: c.Code, Kind: "tool_result", CallID: c.ID})
	}
	return out, nil
}

// resultLine is a result of a call, with its id as written and its text as JSON.
func resultLine(id, text string) []byte {
	return []byte(`{"type":"tool_result","tool_call_id":"` + id + `","content":` + text + "}\n")
}
