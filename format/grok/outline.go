package grok

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strconv"
)

// turnAt is a counted turn's place in the log: a prompt that the model was sent, and what the user was shown of it. Words without a
// number, in a log that numbers its prompts, are commands that the model never sees.
type turnAt struct {
	from, to int64
	stop     string // how it ended, "" = it did not
}

// border is a compaction.
type border struct {
	file  string
	index int // the first turn that it left as it was
	goOn  string
}

// outline is what a log tells in which order, without what was taken back.
type outline struct {
	turns   []turnAt
	borders []border
	model   string
	marked  bool // prompts bear numbers
}

func readOutline(dir fs.FS) (o outline, ok bool) {
	var p prompts
	aside, last := false, int64(0)
	ends := func(at int64) {
		if n := len(o.turns); n > 0 && o.turns[n-1].to == 0 {
			o.turns[n-1].to = at
		}
	}
	ok = besideAt(dir, updatesName, func(f *fields, at, end int64) {
		last = end
		kind := f.Str(kUpdate)
		if len(kind) == 0 {
			kind = f.Str(kBareUpdate)
		}
		if m := f.Str(kChunkModel); len(m) > 0 {
			keep(&o.model, m)
		}
		switch s, to := p.take(kind, f); s {
		case begins:
			ends(at)
			o.turns, aside = append(o.turns, turnAt{from: at}), false
		case command:
			ends(at)
			aside = true
		case rewinds:
			if ends(at); to < len(o.turns) {
				o.turns = o.turns[:to]
				o.borders = slices.DeleteFunc(o.borders, func(b border) bool { return b.index > to })
			}
		}
		switch string(kind) {
		case "turn_completed":
			if n := len(o.turns); n > 0 && !aside && o.turns[n-1].stop == "" {
				o.turns[n-1].stop = string(f.Str(kStop))
			}
		case "compaction_checkpoint":
			n, err := strconv.Atoi(string(f.Value(kIndex)))
			if err == nil {
				o.borders = append(o.borders, border{unquote(string(f.Str(kFile))), n, unquote(string(f.Str(kGoOn)))})
			}
		}
	})
	ends(last)
	o.model, o.marked = unquote(o.model), p.marked
	return o, ok
}

// border is the last compaction that counts: one of which turns were taken back does not.
func (o *outline) border() (border, bool) {
	for _, b := range slices.Backward(o.borders) {
		if b.index >= 0 && b.index <= len(o.turns) {
			return b, true
		}
	}
	return border{}, false
}

// turn is what was said in one.
type turn struct {
	prompt  string
	rich    bool // more than text was said
	stop    string
	updates []update
}

// update is what an item takes of a record of the log.
type update struct {
	Kind    string          `json:"sessionUpdate"`
	Content json.RawMessage `json:"content"`
	Call    string          `json:"toolCallId"`
	Title   string          `json:"title"`
	Status  string          `json:"status"`
	Input   json.RawMessage `json:"rawInput"`
	Output  json.RawMessage `json:"rawOutput"`
	Meta    struct {
		Host bool `json:"hostTurn"`
		Tool struct {
			Name string `json:"name"`
		} `json:"x.ai/tool"`
	} `json:"_meta"`
}

// turn reads one.
func (o *outline) turn(dir fs.FS, n int) turn {
	at := o.turns[n]
	t := turn{stop: at.stop}
	recordsIn(dir, updatesName, at.from, at.to, func(raw []byte) {
		var r struct {
			Params struct {
				Update update `json:"update"`
			} `json:"params"`
			Update update `json:"update"` // as it was written first
		}
		if json.Unmarshal(raw, &r) != nil {
			return
		}
		u := r.Params.Update
		if u.Kind == "" {
			u = r.Update
		}
		if u.Kind != "user_message_chunk" {
			t.updates = append(t.updates, u)
		} else if !u.Meta.Host {
			said := textIn(u.Content)
			t.prompt += said
			t.rich = t.rich || said == ""
		}
	})
	return t
}

// textIn is the text of a block, or of each block of a list.
func textIn(content json.RawMessage) string {
	var one struct {
		Type, Text string
		Content    json.RawMessage
	}
	if json.Unmarshal(content, &one) == nil {
		if one.Content != nil {
			return textIn(one.Content)
		}
		return one.Text
	}
	var list []json.RawMessage
	json.Unmarshal(content, &list)
	out := ""
	for _, c := range list {
		out += textIn(c)
	}
	return out
}
