package dsh

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Cuts lists the places behind every record. Between turns a session may be cut anywhere. A cut inside of a turn the client
// refuses up to version 3; from version 4 on it ends the turn in the branch. Here all of them can be ended on demand, in the
// earlier versions as after a crash. A compaction that is under way between turns is over for whoever reads the mark behind
// the inherited part.
func (Format) Cuts(q format.ForkRequest) ([]format.Cut, error) {
	version, err := strconv.Atoi(q.Dialect.Version())
	if err != nil {
		return nil, format.Refuse(-1, "sessions of version %s cannot be branched", q.Dialect.Version())
	}
	var out []format.Cut
	e := newBorder(dialect{version: version})
	err = q.Each(func(r *session.Record, _ bool) error {
		if r.N == 0 {
			out = append(out, format.Cut{Ref: r.Ref(), Seq: -1, Kind: "session", Open: "the child would be empty"})
			return nil
		}
		if err := e.add(r); err != nil {
			return err
		}
		c := format.Cut{Ref: r.Ref(), Seq: e.next - 1, ID: e.messageID(), Turn: e.turns, Kind: e.kind}
		c.Open, c.Calls = e.openWords()
		c.Closable = c.Open != ""
		if p := &out[len(out)-1]; slices.Equal(c.Calls, p.Calls) && c.Open == p.Open {
			c.Open, c.Calls = p.Open, p.Calls // held once
		}
		out = append(out, c)
		return nil
	})
	var refused *format.RefusedError
	if errors.As(err, &refused) { // what stands in front of it may still be cut
		return out, nil
	}
	if len(out) == 1 && err == nil {
		out[0].Open = "" // the branch of an empty session is an empty one
	}
	return out, err
}

// openWords says what is open, and which calls are.
func (e *border) openWords() (string, []string) {
	switch {
	case e.open && len(e.calls) > 0:
		ids := make([]string, len(e.calls))
		for i, c := range e.calls {
			ids[i] = c.ID
		}
		return fmt.Sprintf("%s unanswered in turn %d", namedCalls(ids), e.turn), ids
	case e.open:
		return fmt.Sprintf("turn %d is open there", e.turn), nil
	case e.compaction:
		return "a compaction is open there", nil
	}
	return "", nil
}

func namedCalls(ids []string) string {
	switch n := len(ids); {
	case n == 1:
		return "call " + ids[0] + " is"
	case n > 3:
		return fmt.Sprintf("calls %s and %d more are", strings.Join(ids[:3], ", "), n-3)
	}
	return "calls " + strings.Join(ids, ", ") + " are"
}
