package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/store"
)

// log is what was seen of one part of a session, or of one that it begins in.
type log struct {
	session  store.Session
	path     string
	role     string
	base     bool
	in       Input
	res      *Result           // nil where only the bytes were looked at
	findings []finding.Finding // about the whole session, where res is there; else about bytes
	first    []byte            // the first record
	lost     string            // why a file cannot be had that it begins in
	repairs  []Repaired

	hits    []hit // the record
	rivals  []hit // others that have its number or its own id
	named   []hit // others that name the id
	counts  bool  // some records have numbers
	below   bool  // some have lower ones than was asked for, or higher
	above   bool
	high    int64
	highest session.Ref // the last record with the highest number
	unsure  int64       // the first frame without checksum, 0 = none
}

// maxHits is how many records are told of each kind, in each log.
const maxHits = 100

// note adds a record to a list that does not grow for ever.
func note(list *[]hit, h hit, most int) {
	if len(*list) < most {
		*list = append(*list, h)
	}
}

// hit is a record that was looked for.
type hit struct {
	Sighting
	marks  session.Marks
	made   bool // a recovery made it up
	hash   [32]byte
	repair string // the case of the repair that wrote it
}

// read goes over the first bytes of a log's text, over all of it where limit is negative.
func (s *sought) read(ctx context.Context, l *log, limit int64) error {
	in := &l.in
	framing := session.Framing{Skippable: true, Arrays: true}
	var dec format.Decoder
	var ids *identifier
	if in.Dialect != nil {
		if _, ok := in.Dialect.(format.Document); ok {
			return s.document(l)
		}
		framing = in.Dialect.Framing()
		dec = in.Dialect.NewDecoder(in.place())
		ids = identifierOf(in.Dialect)
	}
	if err := s.know(ctx, in, ids); err != nil {
		return err
	}
	sc, err := scan.New(ctx, in.R, in.Size, scan.Options{Medium: in.Medium, Framing: framing})
	if err != nil {
		return err
	}
	var b format.Batch
	for sc.Next() {
		r := sc.Record()
		if limit >= 0 && r.Text >= limit {
			break
		}
		if l.first == nil {
			l.first = bytes.Clone(r.Raw)
		}
		b.Reset()
		if dec != nil {
			dec.Decode(r, &b)
		}
		s.count(l, r, &b)
		s.match(l, r, &b, ids)
	}
	if sc.Err() != nil {
		return fmt.Errorf("%s: %w", l.path, sc.Err())
	}
	if l.res == nil {
		l.findings = sc.Findings()
	}
	for i := range l.findings {
		if f := &l.findings[i]; f.Code == finding.FrameUnverifiable && l.unsure == 0 {
			l.unsure = f.Frame
		}
	}
	return nil
}

// count notes where the number that is asked for would have to stand.
func (s *sought) count(l *log, r *session.Record, b *format.Batch) {
	if !b.Numbered {
		return
	}
	last := b.Seq + max(b.Count, 1) - 1
	if !l.counts || last >= l.high {
		l.high, l.highest = last, r.Ref()
	}
	l.counts = true
	l.below = l.below || b.Seq < s.seq
	l.above = l.above || last > s.seq
}

// match holds a record against what is asked for.
func (s *sought) match(l *log, r *session.Record, b *format.Batch, ids *identifier) {
	var what []string
	by := ""
	numbered := b.Numbered && s.numbered && s.seq >= b.Seq && s.seq < b.Seq+max(b.Count, 1)
	switch {
	case s.record != nil && bytes.Equal(trim(r.Raw), s.record):
		by = "bytes"
	case s.record != nil:
		if own := numbered || ids.own(r.Raw, s.own); own || s.nameless() && s.near(len(r.Raw)) {
			if s.same(r.Raw) {
				by = "values"
			} else if own {
				note(&l.rivals, s.sight(l, r, b, "number", nil), maxHits)
			}
		}
		if by == "" && len(s.own) > 0 && mentions(r.Raw, s.own) {
			note(&l.named, s.sight(l, r, b, "id", nil), 3)
		}
	case s.numbered && numbered:
		by = "number"
	case s.id != "" && s.may(r.Raw):
		what = append(calls(r, b, s.id), ids.of(r.Raw, s.id)...)
		if len(what) > 0 {
			by = "id"
		} else if mentions(r.Raw, s.id) {
			note(&l.named, s.sight(l, r, b, "id", nil), 3)
		}
	}
	if by != "" {
		note(&l.hits, s.sight(l, r, b, by, what), maxHits)
	}
}

// sight notes a record.
func (s *sought) sight(l *log, r *session.Record, b *format.Batch, by string, what []string) hit {
	h := hit{marks: r.Marks, hash: sha256.Sum256(r.Raw)}
	h.Sighting = Sighting{Path: l.path, Span: r.Span, Match: by, SHA256: hex.EncodeToString(h.hash[:])}
	if b.Numbered {
		h.Seq, h.Numbered = b.Seq, true
	}
	if l.session.Stored() {
		h.Row = r.Logical
	}
	if by == "id" {
		h.ID = s.id
	}
	if len(what) > 0 {
		h.What = what[0]
	}
	for i := range b.Events {
		h.made = h.made || b.Events[i].Flags&session.Synthetic != 0
	}
	return h
}

// calls says what events tell of an id: of a call which of its records this is, of anything else what it is.
func calls(r *session.Record, b *format.Batch, id string) (what []string) {
	for i := range b.Events {
		e := &b.Events[i]
		if e.Flags&session.Inherited != 0 {
			continue // the record repeats what stands elsewhere
		}
		if w, ok := callWords[e.Kind]; ok && text(e.Call.Of(r.Raw)) == id {
			what = append(what, w)
		}
		if w, ok := idWords[e.Kind]; ok && e.ID.Len > 0 && text(e.ID.Of(r.Raw)) == id {
			what = append(what, w)
		}
	}
	return what
}

var callWords = map[session.Kind]string{
	session.CallAsked: "request of the call", session.CallStarted: "start of the call", session.CallResult: "result of the call",
	session.CallFinished: "end of the call",
}

var idWords = map[session.Kind]string{
	session.TurnStart: "start of the turn", session.TurnEnd: "end of the turn", session.ApprovalAsked: "question for approval",
	session.ApprovalDecided: "approval", session.CompactionStart: "start of the compaction", session.Summary: "summary of the compaction",
	session.CompactionEnd: "end of the compaction",
}

// text is a string as it is meant, of its inside.
func text(inner []byte) string { return string(scan.Unescape(nil, inner)) }

// document looks for the id in a file that is no log: it may know of a record.
func (s *sought) document(l *log) error {
	data, err := io.ReadAll(io.NewSectionReader(l.in.R, 0, min(l.in.Size, maxDocument)))
	if err != nil {
		return fmt.Errorf("%s: %w", l.path, err)
	}
	if s.id != "" && mentions(data, s.id) {
		l.named = append(l.named, hit{Sighting: Sighting{Path: l.path, ID: s.id, Match: "id", What: "mention"}})
	}
	return nil
}
