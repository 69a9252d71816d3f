package dsh

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// payload changes what the upgrade refuses inside of a record, where that says nothing that it understands.
func (p *prepare) payload(r *logRecord) {
	if p.source > 2 {
		return
	}
	if r.typ == "subagent/descriptor" {
		version := r.get(r.data, "version")
		if n, ok := r.whole(version); ok && n == 2 { // as 0.1.1 writes it
			r.set(version, "3")
			r.why = "the descriptor is of version 3, the only one that the upgrade takes; version 2 says the same"
		}
	}
	if op := r.get(r.root(), "surfaceOp"); p.source == 2 && r.kind(op) == '{' && r.size(op) > 3 {
		r.reshape(op, func(key span) bool {
			name, _ := r.text(key)
			if name == "op" || name == "start" || name == "end" {
				return false
			}
			p.out.Note(r.n, fmt.Sprintf("the member %q of surfaceOp is left out: the upgrade refuses it", short([]byte(name))))
			return true
		})
	}
	for _, x := range p.unlisted[r.n] {
		r.reform(r.at(x.where), x.names)
		for _, name := range x.names {
			where := ""
			if x.where != "" {
				where = " in " + x.where
			}
			p.out.Note(r.n, fmt.Sprintf("the member %q%s of %s is left out: the upgrade refuses it", short([]byte(name)), where, r.typ))
		}
	}
}

// extra are members that no release has written.
type extra struct {
	where string // path inside of the payload
	names []string
}

// at is the value at a path as the judge of payloads writes it: message.content[0].source.
func (r *logRecord) at(path string) span {
	v := r.data
	for _, part := range strings.FieldsFunc(path, func(c rune) bool { return c == '.' || c == '[' }) {
		number, isIndex := strings.CutSuffix(part, "]")
		if !isIndex {
			v = r.get(v, part)
			continue
		}
		i, _ := strconv.Atoi(number)
		var at span
		r.each(v, func(_, e span) bool {
			if i == 0 {
				at = e
			}
			i--
			return i >= 0
		})
		v = at
	}
	return v
}

// maxExtra bounds how often a payload is looked at again.
const maxExtra = 64

// extras are the members of a payload that the edges up to a target refuse.
func extras(source, target int, typ string, seq int64, parse func() any) []extra {
	rec := frozenTable()[typ]
	if rec == nil || typ[0] == '@' || !rec.versions.hold(source) || typ == "assistant/chunk" || strings.HasSuffix(typ, "-chunks") {
		return nil
	}
	data, _ := parse().(object)
	if data == nil {
		return nil
	}
	if v, ok := whole(data["version"]); typ == "subagent/descriptor" && ok && v == 2 {
		data["version"] = json.Number("3")
	}
	var out []extra
	for range maxExtra {
		x, any := oneExtra(source, target, typ, seq, data)
		if !any {
			break
		}
		i := 0
		for i < len(out) && out[i].where != x.where {
			i++
		}
		if i == len(out) {
			out = append(out, extra{where: x.where})
		}
		out[i].names = append(out[i].names, x.name)
		owner, _ := inner(data, x.where).(object)
		if owner == nil {
			break
		}
		delete(owner, x.name)
	}
	if len(out) > 0 && source == 0 {
		// Paths in a record of an early build do not lead where the judge of payloads looks.
		old := parse()
		typ2, renewed, _ := (&legacy{}).normalise(typ, parse(), seq)
		if typ2 != typ || !reflect.DeepEqual(old, renewed) {
			return nil
		}
	}
	return out
}

func oneExtra(source, target int, typ string, seq int64, data object) (unlistedAt, bool) {
	for to := source + 1; to <= min(target, 3); to++ {
		if to == 2 && source == 0 {
			continue
		}
		var x unlistedAt
		if (payload{source: source, edge: to, seq: seq, found: &x}).problem(typ, data); x.name != "" {
			return x, true
		}
	}
	return unlistedAt{}, false
}

// inner is the value at a path.
func inner(v any, path string) any {
	for _, part := range strings.FieldsFunc(path, func(c rune) bool { return c == '.' || c == '[' }) {
		if number, isIndex := strings.CutSuffix(part, "]"); isIndex {
			list, _ := v.([]any)
			i, err := strconv.Atoi(number)
			if err != nil || i >= len(list) {
				return nil
			}
			v = list[i]
			continue
		}
		o, _ := v.(object)
		v = o[part]
	}
	return v
}
