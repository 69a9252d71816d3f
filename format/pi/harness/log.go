package harness

import (
	"bytes"
	"fmt"
	"hash/maphash"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// log is what both generations know of the lines in front of the one at hand. It keeps 8 bytes a line, to tell copies.
type log struct {
	session string // its id
	broken  bool   // the client does not read on
	high    int64  // the highest number so far
	least   int64  // the lowest that the client would give next
	time    int64  // Unix ms, the newest that an entry has
	end     int64  // of the text, behind the last line
	dense   bool   // numbers have no holes
	lines   map[uint64]struct{}
	seed    maphash.Seed
}

func newLog(dense bool) log {
	return log{lines: map[uint64]struct{}{}, seed: maphash.MakeSeed(), dense: dense}
}

// take reads a record into the line, as it is once it is mended.
func (g *log) take(r *session.Record, l *line) bool {
	if r.Marks&session.Salvaged == 0 {
		l.set(r.Raw, r.Caps)
		return true
	}
	record, caps, ok := single.Take(scan.MendRecord(bytes.Clone(r.Raw)))
	if ok {
		l.set(record, caps)
	}
	return ok
}

// next judges the numbers of a transaction, first to last. It tells whether the line counts.
func (g *log) next(r *session.Record, b *format.Batch, first, last int64) bool {
	whole := r.Text == g.end // nothing stands in between
	g.end = r.TextEnd() + 1
	hash := maphash.Bytes(g.seed, r.Raw)
	_, known := g.lines[hash]
	g.lines[hash] = struct{}{}
	switch {
	case first <= g.high && known:
		f := finding.New(finding.SeqDup)
		f.Span, f.Record, f.Numbered, f.Got = r.Span, r.Ref(), true, first
		f.Message = fmt.Sprintf("the line with number %d stands here a second time", first)
		f.Patches = []finding.Patch{g.drop(r)}
		b.Findings = append(b.Findings, f)
		return false
	case first <= g.high:
		g.bad(r, b, finding.SeqFork, "", "number %d follows %d: another writer's line", first, g.high)
	case first > g.high+1 && g.dense:
		g.bad(r, b, finding.SeqGap, "", "number %d follows %d", first, g.high)
	case first > g.high+1 && !whole:
		g.bad(r, b, finding.SeqGap, "", "numbers %d to %d are missing, and damaged bytes stand where they were", g.high+1, first-1)
	}
	if g.broken {
		f := &b.Findings[len(b.Findings)-1]
		f.Numbered, f.Expected, f.Got = true, g.high+1, first
		return false
	}
	g.high = last
	return true
}

// drop is the patch that takes a record out of the log, with its newline where it has one to itself.
func (g *log) drop(r *session.Record) finding.Patch {
	p := finding.Patch{At: r.Text, Del: r.TextLen}
	if r.Marks&(session.Followed|session.Unterminated) == 0 {
		p.Del, p.Line = r.TextLen+1, true
	}
	return p
}

// short cuts a name for a message.
func short(b []byte) string {
	if len(b) > 80 {
		return string(b[:80]) + "…"
	}
	return string(b)
}
