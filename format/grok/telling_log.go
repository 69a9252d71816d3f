package grok

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io/fs"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// logTelling tells what the user was shown, none of which is sent from here, and what a compaction took away was once. Words come as they were written, mostly whole. A call
// comes with its title where its tool has no name, and its result with what was shown of it, changes of files as the words that went
// and came.
//
// What the history tells too is a copy. So is, for want of a better word, what was taken back: it stands here alone, and nobody is
// shown it any more. A command and what it said are notes. What is left was said in front of what the history holds.
type logTelling struct {
	dir fs.FS
	at  standings
}

// saidUpdate is what an update says.
type saidUpdate struct {
	update
	saidRemark
}

// saidAround is what stands around an update.
type saidAround struct {
	Update saidUpdate `json:"update"`
	Meta   struct {
		Event string `json:"eventId"`
		Stamp int64  `json:"agentTimestampMs"`
		Ours  struct {
			Mark string `json:"synthetic"`
		} `json:"sessfix"`
	} `json:"_meta"`
}

// Tell says what an update does.
func (t *logTelling) Tell(r *session.Record, out []format.Message) []format.Message {
	var s struct {
		Time   int64      `json:"timestamp"`
		Params saidAround `json:"params"`
		saidAround
	}
	if !decode(r.Raw, &s) {
		return out
	}
	a := &s.Params
	if a.Update.Kind == "" {
		a = &s.saidAround // as it was written first
	}
	from := len(out)
	out = a.Update.tell(out, a.Meta.Ours.Mark != "")
	if len(out) == from {
		return out
	}
	if !t.at.known {
		t.at = readStandings(t.dir)
	}
	is := t.at.of(r.Text)
	for i := from; i < len(out); i++ {
		m := &out[i]
		m.ID, m.Time = a.Meta.Event, cmp.Or(a.Meta.Stamp, s.Time*1000)
		if is != sentOnce || m.Role == format.Note {
			m.For = format.PeopleOnly
		}
		m.Copy = is == takenBack || is == inHistory && m.Role != format.Note
		if _, words := textOfBlocks(m.Blocks); is == aside && words && m.Role != format.Note {
			m.Role, m.Title = format.Note, "command"
		}
	}
	return out
}

// tell appends what an update says; madeUp that sessfix wrote it.
func (u *saidUpdate) tell(out []format.Message, madeUp bool) []format.Message {
	m := format.Message{Role: format.Assistant}
	switch u.Kind {
	case "user_message_chunk":
		m.Role, m.Blocks = format.User, blocksOf(u.Content)
		if u.Meta.Host {
			m.Title = "host"
		}
	case "agent_message_chunk":
		m.Blocks = blocksOf(u.Content)
	case "agent_thought_chunk":
		text, _ := textOfBlocks(blocksOf(u.Content))
		m.Blocks = thinking(text, "")
	case "tool_call":
		b := format.Block{Kind: format.Call, ID: u.Call, Name: cmp.Or(u.Meta.Tool.Name, u.Title), Input: []byte("{}")}
		if k := kindOf(u.Input); k != 0 && k != 'n' {
			b.Input = wellFormed(u.Input)
		}
		out = append(out, format.Message{Role: format.Assistant, Blocks: []format.Block{b}})
		fallthrough
	case "tool_call_update":
		if u.Status != "completed" && u.Status != "failed" {
			return out
		}
		m.Role, m.Blocks = format.Tool, []format.Block{u.result(madeUp)}
	default:
		title, text := u.remark()
		if text == "" {
			return out
		}
		m = remark(title, text)
	}
	if len(m.Blocks) == 0 {
		return out
	}
	return append(out, m)
}

// result is the end of a call: what was shown, else what the model got, else all that the tool gave.
func (u *saidUpdate) result(madeUp bool) format.Block {
	b := format.Block{Kind: format.Result, ID: u.Call}
	pieces := blocksOf(u.Content)
	if len(pieces) == 0 {
		var given struct {
			Text string `json:"output_for_prompt"`
		}
		var flat bytes.Buffer
		if decode(u.Output, &given); given.Text == "" && u.Output != nil && json.Compact(&flat, wellFormed(u.Output)) == nil {
			given.Text = flat.String()
		}
		pieces = textBlocks(given.Text)
	}
	if len(pieces) == 1 && pieces[0].Kind == format.Text {
		b.Text = pieces[0].Text
	} else {
		b.Content = pieces
	}
	b.MadeUp = madeUp && ownCode([]byte(b.Text)) != "" || invented([]byte(b.Text))
	b.Failed = b.MadeUp || u.Status == "failed"
	return b
}
