package claude

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf16"

	"github.com/sessfix/sessfix/scan"
)

// The places of a record that are looked at when it is copied into a child.
const (
	cType = iota
	cUUID
	cParent
	cLogical
	cSide
	cSession
	cCWD
	cRequest
	cForked
	cForkedSession
	cLeaf
	cPrompt
	cSpill
)

var peeler = scan.NewSingle([]string{
	cType: "type", cUUID: "uuid", cParent: "parentUuid", cLogical: "logicalParentUuid", cSide: "isSidechain", cSession: "sessionId", cCWD: "cwd", cRequest: "requestSessionId",
	cForked: "forkedFrom", cForkedSession: "forkedFrom.sessionId", cLeaf: "leafUuid", cPrompt: "lastPrompt",
	cSpill: "toolUseResult.persistedOutputPath",
})

// peel takes a record apart that is to be copied.
func peel(raw []byte) (*fields, error) {
	record, caps, ok := peeler.Take(raw)
	if !ok {
		return nil, scan.ErrNoRecord
	}
	f := &fields{}
	f.Reset(record)
	for _, c := range caps {
		f.Put(c)
	}
	return f, nil
}

func isNode(f *fields) bool { return f.Kind(cUUID) == '"' && len(f.Str(cUUID)) > 0 }

// text is a string with its quotes, nil for anything else.
func text(f *fields, key int) []byte {
	if f.Kind(key) != '"' {
		return nil
	}
	return f.Value(key)
}

// copied is a node as the child has it. All bytes stay but those that say whose it is and whose it was: its session, and
// its working directory where the child has another; then, behind its own members, which session asked for an answer, and
// the record that it is the copy of.
func (k *fork) copied(f *fields) []byte {
	r := &retelling{f: f}
	r.put(f.At(cSession), `"`+k.q.ID+`"`)
	if k.q.CWD != "" {
		r.put(f.At(cCWD), quoted(k.q.CWD))
	}
	var more []string
	if string(f.Str(cType)) == "assistant" && !f.Has(cRequest) {
		for _, of := range [][]byte{text(f, cForkedSession), text(f, cSession), k.parent} {
			if of != nil {
				more = append(more, `"requestSessionId":`+string(of))
				break
			}
		}
	}
	if k.parent != nil {
		from := `{"sessionId":` + string(k.parent) + `,"messageUuid":` + string(f.Value(cUUID)) + `}`
		if f.Has(cForked) {
			r.put(f.At(cForked), from)
		} else {
			more = append(more, `"forkedFrom":`+from)
		}
	}
	if len(more) > 0 {
		end := bytes.LastIndexByte(f.Raw, '}')
		r.patches = append(r.patches, patch{end, end, "," + strings.Join(more, ",")})
	}
	return append(r.apply(), '\n')
}

// carry is a side record as the child has it.
func (k *fork) carry(f *fields) []byte {
	r := &retelling{f: f}
	r.put(f.At(cSession), `"`+k.q.ID+`"`)
	return append(r.apply(), '\n')
}

// quoted is a text as JSON, with no more escapes than it needs.
func quoted(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(text)
	return strings.TrimSuffix(b.String(), "\n")
}

// maxSlug is the longest name of a directory of transcripts that is made of the path alone.
const maxSlug = 200

// slugOf is the name of the directory of a working directory's transcripts: each UTF-16 unit that is no letter and no digit
// becomes "-".
func slugOf(dir string) string {
	units := utf16.Encode([]rune(dir))
	b := make([]byte, len(units))
	for i, u := range units {
		b[i] = '-'
		if u < 0x80 && ('a' <= u|0x20 && u|0x20 <= 'z' || '0' <= u && u <= '9') {
			b[i] = byte(u)
		}
	}
	return string(b)
}
