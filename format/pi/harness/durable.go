package harness

import (
	"path/filepath"
	"regexp"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

// durables are the names of the files in a directory of pi-durable, or of its prototype. What belongs to one commit stands
// in several of them: records of documents and tasks, and last the commit itself in main.jsonl, which names the files.
var durables = regexp.MustCompile(`^(?:main|(?:doc|task|sticky)-\d+)\.jsonl$`)

// What is captured of a record of pi-durable.
const (
	uSeq = iota
	uMax
	uWrites
	uType
)

var durable = scan.NewSingle([]string{uSeq: "seq", uMax: "maxId", uWrites: "writes", uType: "type"})

// Durable tells whether a file with this first record is one of a directory of pi-durable: it cannot be mended by itself.
func Durable(path string, first []byte) bool {
	if !durables.MatchString(filepath.Base(path)) {
		return false
	}
	record, caps, ok := durable.Take(first)
	if !ok {
		return false
	}
	var f format.Fields
	f.Reset(record)
	for _, c := range caps {
		f.Put(c)
	}
	if n, ok := safe(f.Value(uSeq)); !ok || n < 1 {
		return false
	}
	return f.Kind(uType) == '"' || f.Has(uMax) && f.Kind(uWrites) == '['
}
