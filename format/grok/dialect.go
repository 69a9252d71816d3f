package grok

import (
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// dialect is one file of a session as a release reads it.
type dialect struct {
	file    string
	version string
	rank    int
}

// Version is, of a history, the version of its items; of the other files what they are.
func (d dialect) Version() string {
	switch d.file {
	case updatesName:
		return "log"
	case eventsName:
		return "events"
	case pointsName:
		return "points"
	}
	return d.version
}

// Rank orders the releases.
func (d dialect) Rank() int { return d.rank }

// Rules: in a history each item stands behind the one in front of it, and a call is answered right behind its answer.
func (d dialect) Rules() format.Rules {
	return format.Rules{Path: d.file == historyName, LastResult: true, KeepTime: true}
}

func (d dialect) Framing() session.Framing {
	f := session.Framing{Keys: keys[:]}
	switch d.file {
	case historyName:
		f.Starts, f.Needs = [][]byte{[]byte(`{"type":"`), []byte(`{"role":"`)}, [][]string{{"type", "content"}, {"type", "summary"}, {"type", "kind"}, {"role", "content"}}
	case pointsName:
		f.Starts, f.Needs = [][]byte{[]byte(`{"prompt_index":`)}, [][]string{{"prompt_index"}}
	case eventsName:
		f.Starts, f.Needs = [][]byte{[]byte(`{"ts":`)}, [][]string{{"ts", "type"}}
	default:
		f.Starts, f.Needs = [][]byte{[]byte(`{"timestamp":`), []byte(`{"sessionId":`)}, [][]string{{"params"}}
		f.Inside = []session.Inner{{Of: "params", Needs: []string{"update.sessionUpdate"}}} // as records were first
	}
	return f
}

// own tells a record of the file.
func (d dialect) own(f *fields) bool {
	switch d.file {
	case historyName:
		return f.Kind(kType) == '"' || f.Kind(kRole) == '"'
	case eventsName:
		return f.Kind(kType) == '"' && f.Kind(kStampText) == '"'
	case pointsName:
		return f.Kind(kItemPrompt) == '0'
	}
	return f.Kind(kParams) == '{'
}

func (d dialect) NewDecoder(place format.Place) format.Decoder {
	switch d.file {
	case historyName:
		return &history{dir: place.Dir, prompt: -1}
	case eventsName:
		return &log{}
	case pointsName:
		return points{}
	}
	return &updates{dir: place.Dir, calls: map[string]*shownCall{}}
}
