package harness

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/sessfix/sessfix/session"
)

// The name spaces that say what is open; applications have others.
const (
	tips         = "pi.branch.tip"
	laneConfigs  = "pi.lane.config"
	laneStates   = "pi.lane.state"
	results      = "pi.result"
	metas        = "pi.op.meta"
	states       = "pi.op.state"
	toolArgs     = "pi.op.tool_args"
	toolMemos    = "pi.op.tool_memo"
	preparations = "pi.op.preparation"
	toolOutputs  = "pi.pending.tool_output"
	frames       = "pi.pending.assistant_frame"
	pendings     = "pi.pending.entry"
)

// held tells which values are kept. Of those that are only deleted again it is enough to know that they are there.
var held = map[string]bool{
	tips: true, laneConfigs: true, laneStates: true, metas: true, states: true, toolArgs: false, toolMemos: false, preparations: false,
	toolOutputs: true, pendings: true,
}

// address is where a value stands; both parts are as written.
type address struct{ space, key string }

// cell is a value as it was set last.
type cell struct {
	value []byte
	ref   session.Ref // the transaction
}

// keep applies a write to what is kept.
func (d *decoder) keep(r *session.Record, w *write) {
	kind, space := string(w.str(wKind)), string(w.str(wSpace))
	deletes := string(w.str(wOp)) == "delete"
	switch {
	case kind == "value":
		whole, ok := held[space]
		if !ok {
			return
		}
		at := address{space, string(w.str(wKey))}
		if deletes {
			delete(d.values, at)
			return
		}
		c := d.values[at]
		if c == nil {
			c = &cell{}
			d.values[at] = c
		}
		c.ref = r.Ref()
		if whole {
			c.value = append(c.value[:0], w.value(wValue)...)
		}
	case kind == "list" && space == frames:
		at := address{space, string(w.str(wKey))}
		if deletes {
			delete(d.lists, at)
		} else {
			d.lists[at] = append(d.lists[at], bytes.Clone(w.value(wValue)))
		}
	}
}

// value is what is set at an address.
func (d *decoder) value(space, key string) (*cell, bool) {
	c, ok := d.values[address{space, key}]
	return c, ok
}

// owned are the addresses of one name space whose keys belong to an operation, in order.
func owned[V any](m map[address]V, space, operation string) []address {
	var out []address
	for at := range m {
		if at.space == space && strings.HasPrefix(at.key, operation+":") {
			out = append(out, at)
		}
	}
	slices.SortFunc(out, func(a, b address) int { return cmp.Compare(a.key, b.key) })
	return out
}

// inside is the inside of a string, as written.
func inside(raw json.RawMessage) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	return string(raw[1 : len(raw)-1]), true
}
