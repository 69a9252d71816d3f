package verify

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/store"
)

// maxAncestors bounds how far back the parents of a session are followed.
const maxAncestors = 100

// heritage holds a session that says whose child it is against its parent. No client does, so that all of it are notes.
func heritage(ctx context.Context, s store.Session) []finding.Finding {
	h, parent, ok := s.Heritage()
	if !ok {
		return nil
	}
	note := func(where, text string, args ...any) []finding.Finding {
		f := finding.New(finding.LineageBroken)
		f.Severity, f.Cure, f.Where, f.Message = finding.Note, finding.Leave, where, fmt.Sprintf(text, args...)
		f.Client = "the client loads the session"
		return []finding.Finding{f}
	}
	if parent == "" {
		if !s.Placed() {
			return nil // it may lie elsewhere
		}
		return note("parent-missing", "the session says that it is a child of %s, which is not here", h.Parent)
	}
	seen := map[string]bool{store.Real(s.Path): true}
	at := parent
	for n := 0; at != "" && n < maxAncestors; n++ {
		if seen[store.Real(at)] {
			return note("parent-cycle", "the session says that it is a child of %s, of which the parents lead back to it", h.Parent)
		}
		seen[store.Real(at)] = true
		up, err := s.Kin(ctx, at)
		if err != nil {
			break
		}
		_, at, _ = up.Heritage()
	}
	p, err := s.Kin(ctx, parent)
	if err != nil || p.Unknown != nil {
		return note("parent-missing", "its parent %s cannot be read", h.Parent)
	}
	c, err := compare(ctx, s, p, h.Records)
	switch {
	case err != nil:
		return nil
	case c.own < c.records:
		return note("seed-short", "the session says that it inherits %d records, and holds %d", c.records, c.own)
	case c.theirs < c.records:
		return note("parent-short", "the session says that it inherits %d records of %s, which holds %d", c.records, h.Parent, c.theirs)
	case c.differ > 0:
		f := note("parent-differs", "of the records that the session has of %s this one, and %d more, is not as it is there", h.Parent, c.differ-1)
		f[0].Span, f[0].Record = c.first.Span, c.first
		return f
	}
	return nil
}

// comparison is what came of holding a child against its parent.
type comparison struct {
	records     int64 // that the child inherits, as it says, where records are numbered
	own, theirs int64 // numbers that each has
	differ      int64
	first       session.Ref
}

// compare holds what a child has of its parent against it: the first records, by their numbers, or those of the same id.
func compare(ctx context.Context, child, parent store.Session, records int64) (comparison, error) {
	_, knows := child.Format.(format.Knowing)
	if rules := child.Dialect.Rules(); rules.Tree || rules.Path || knows {
		return compareIDs(ctx, child, parent)
	}
	if child.Dialect.Version() != parent.Dialect.Version() {
		return comparison{}, nil // they number their records each in its own way
	}
	if records < 0 {
		var err error
		if records, err = seeded(ctx, child); err != nil {
			return comparison{}, err
		}
		if records == 0 { // a copy of some of its records
			return compareIDs(ctx, child, parent)
		}
	}
	return compareNumbers(ctx, child, parent, records)
}

// seeded is how many numbers stand in front of the record that ends what a log has of its parent's.
func seeded(ctx context.Context, s store.Session) (n int64, err error) {
	r, err := openRecords(ctx, s)
	if err != nil {
		return 0, err
	}
	defer r.close()
	for r.next() {
		for i := range r.b.Events {
			if e := &r.b.Events[i]; e.Kind == session.SeedEnd && e.Flags&session.Inherited != 0 && r.b.Numbered {
				n = r.b.Seq
			}
		}
	}
	return n, r.Err()
}

// compareNumbers goes over both logs side by side.
func compareNumbers(ctx context.Context, child, parent store.Session, records int64) (c comparison, err error) {
	c.records = records
	theirs, err := openRecords(ctx, parent)
	if err != nil {
		return c, err
	}
	defer theirs.close()
	ours, err := openRecords(ctx, child)
	if err != nil {
		return c, err
	}
	defer ours.close()
	alike := child.Format.(format.Heir).Alike
	for more := theirs.numbered(records, &c.theirs); ours.numbered(records, &c.own); {
		for more && theirs.b.Seq < ours.b.Seq {
			more = theirs.numbered(records, &c.theirs)
		}
		// One that takes more or fewer numbers is packed in another way.
		if more && theirs.b.Seq == ours.b.Seq && theirs.b.Count == ours.b.Count && !alike(ours.Record().Raw, theirs.Record().Raw) {
			c.unlike(ours.Record().Ref())
		}
	}
	for theirs.numbered(records, &c.theirs) {
	}
	if err := ours.Err(); err != nil {
		return c, err
	}
	return c, theirs.Err()
}

func (c *comparison) unlike(at session.Ref) {
	if c.differ++; c.differ == 1 {
		c.first = at
	}
}

// compareIDs looks for each record of the child whether the parent has one of that id. It keeps some 100 bytes of each record of the
// parent, which must be plain.
func compareIDs(ctx context.Context, child, parent store.Session) (c comparison, err error) {
	if parent.Medium != scan.Lines {
		return c, nil
	}
	theirs, err := openRecords(ctx, parent)
	if err != nil {
		return c, err
	}
	defer theirs.close()
	ids := map[session.ID]session.Place{}
	for theirs.next() {
		if id := theirs.known(child.Format); id != (session.ID{}) {
			ids[id] = session.PlaceOf(theirs.Record().Ref())
		}
	}
	if err := theirs.Err(); err != nil {
		return c, err
	}
	ours, err := openRecords(ctx, child)
	if err != nil {
		return c, err
	}
	defer ours.close()
	alike := child.Format.(format.Heir).Alike
	var buf []byte
	unlike := map[session.ID]session.Ref{} // of records with one id the last counts
	for ours.next() {
		id := ours.known(child.Format)
		at, ok := ids[id]
		if !ok {
			continue
		}
		buf = slices.Grow(buf[:0], int(at.Len))[:at.Len]
		if _, err := theirs.f.ReadAt(buf, at.Text); err != nil {
			return c, err
		}
		if alike(ours.Record().Raw, buf) {
			delete(unlike, id)
		} else {
			unlike[id] = ours.Record().Ref()
		}
	}
	for _, ref := range unlike {
		if c.differ++; c.differ == 1 || ref.N < c.first.N {
			c.first = ref
		}
	}
	return c, ours.Err()
}

// reading is a log that is read for its records' meaning.
type reading struct {
	*scan.Scanner
	f   *os.File
	dec format.Decoder
	b   format.Batch
}

func openRecords(ctx context.Context, s store.Session) (*reading, error) {
	f, err := os.Open(s.Path)
	if err != nil {
		return nil, err
	}
	r := &reading{f: f, dec: s.Dialect.NewDecoder(format.Place{Path: s.Path, Medium: s.Medium, Dir: os.DirFS(filepath.Dir(s.Path))})}
	fi, err := f.Stat()
	if err == nil {
		r.Scanner, err = scan.New(ctx, f, fi.Size(), scan.Options{Medium: s.Medium, Framing: s.Dialect.Framing()})
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return r, nil
}

func (r *reading) close() { r.f.Close() }

// next decodes the next record.
func (r *reading) next() bool {
	if !r.Next() {
		return false
	}
	r.b.Reset()
	r.dec.Decode(r.Record(), &r.b)
	return true
}

// known is what the record at hand is compared by, the zero ID where it is not.
func (r *reading) known(f format.Format) session.ID {
	if k, ok := f.(format.Knowing); ok {
		return k.Known(r.Record().Raw)
	}
	if !r.b.Linked {
		return session.ID{}
	}
	return r.b.Link.ID
}

// numbered is next among the records with numbers below a limit. It tells how many numbers there are in all so far.
func (r *reading) numbered(limit int64, count *int64) bool {
	for r.next() {
		if !r.b.Numbered {
			continue
		}
		*count = r.b.Seq + r.b.Count
		return r.b.Seq < limit
	}
	return false
}
