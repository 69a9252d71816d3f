package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/sessfix/sessfix/database"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/store"
)

// Question asks whether one record of a session was durably written: by exactly one of ID, Numbered and Record.
type Question struct {
	ID       string // of the record, or of the message, the call or the event in it
	Seq      int64
	Numbered bool   // Seq is asked for
	Record   []byte // the record as its client writes it, with or without the newline
	// Roots are those that the session was found in, with their faults.
	Roots []store.Root
	// Env and Owner look around. Owner says who may still write to the session, "" where nobody does; it is asked only where the
	// record is not there. Where one of them is nil nothing is known of it.
	Env   func(string) string
	Owner func(ctx context.Context, s store.Session) (who string, err error)
	// Repairs are those that a part went through and that were not undone, the oldest first.
	Repairs func(s store.Session) ([]Repaired, error)
}

// Repaired is what a repair did with a file.
type Repaired struct {
	Case          string // the folder that tells it
	Original      string // the file as it was; "" where nothing of it was changed, or there was none
	Made          bool   // there was no file
	Rows          bool   // it is no file: rows of a database were changed
	Pending       bool   // it was interrupted
	Before, After int64  // sizes
}

// Outcome is the answer in a word.
type Outcome uint8

// The outcomes. What is not sure is unknown.
const (
	Unsure Outcome = iota
	Absent
	Stored
)

// String is the outcome's word in reports.
func (o Outcome) String() string { return [...]string{"unknown", "not-committed", "committed"}[o] }

// Sighting is a place that the answer speaks of.
type Sighting struct {
	Path string
	session.Span
	Row      int64 // of a database
	Seq      int64
	Numbered bool
	ID, What string // what it is the id of
	// Match says by what it was found: bytes, values, id or number.
	Match  string
	SHA256 string // of the record
	Why    string // to look at it
}

// Commitment is what is known of the record.
type Commitment struct {
	Outcome  Outcome
	Agent    string
	ID       string     // of the session
	By       string     // bytes, id or number
	Where    []Sighting // where it stands
	Why      []string   // of an outcome that is unknown
	Look     []Sighting // what to look at then, and the torn end of a log
	Notes    []string
	Advice   string
	question *sought
	mend     bool // a log of the session is torn at its end
}

// ErrNoNumbers says that the records of a session have no numbers.
var ErrNoNumbers = errors.New("its records have no numbers: ask by id or by the record itself")

// Committed tells whether a record was durably written to the session whose parts these are.
//
//	stored   it stands there whole, and the client reads it the next time
//	absent   nothing of it is there, or no more than a beginning at the torn end of the log, which is whole where else it
//	         would have to stand, and nobody may still write it
//	unsure   anything else
func Committed(ctx context.Context, parts []store.Session, q Question) (*Commitment, error) {
	s, err := seek(q)
	if err != nil {
		return nil, err
	}
	defer s.close()
	a := &Commitment{Agent: parts[0].Format.Name(), ID: parts[0].ID, By: s.by, question: s}
	before := stamps(parts)
	var logs []*log
	for _, p := range parts {
		l, err := s.part(ctx, p)
		if err != nil {
			return nil, err
		}
		logs = append(logs, l...)
	}
	if q.Numbered && !slices.ContainsFunc(logs, (*log).numbers) {
		return nil, fmt.Errorf("%s: %w", parts[0].Path, ErrNoNumbers)
	}
	for _, l := range logs {
		if !l.base {
			for _, r := range q.Roots {
				list, _ := Root(r)
				l.findings = append(l.findings, list...)
			}
		}
		if l.res != nil && a.ID == "" {
			a.ID = l.res.ID
		}
		if q.Repairs != nil && !l.base {
			if l.repairs, err = q.Repairs(l.session); err != nil {
				return nil, err
			}
		}
		if err := s.repaired(ctx, l); err != nil {
			return nil, err
		}
	}
	a.judge(logs)
	for _, l := range logs {
		if n := len(l.repairs); n > 0 && l.repairs[n-1].Pending {
			a.doubt("a repair was interrupted: finish it with sessfix repair, and ask again", Sighting{Path: l.repairs[n-1].Case, Why: "the case of the repair"})
		}
	}
	if a.Outcome != Stored {
		for _, l := range logs {
			if err := a.aside(ctx, l); err != nil {
				return nil, err
			}
		}
	}
	if a.Outcome == Absent {
		if err := a.around(ctx, parts, q); err != nil {
			return nil, err
		}
	}
	if !slices.Equal(before, stamps(parts)) {
		a.doubt("a file of the session changed while it was read", Sighting{Path: parts[0].Path, Why: "ask again when nobody writes to it"})
	}
	a.advise()
	return a, nil
}

// numbers tells whether the records of a log have numbers, also of one without records.
func (l *log) numbers() bool {
	return l.counts || l.in.Dialect != nil && l.in.Dialect.Rules().Dense
}

// stamp tells whether a file changed.
type stamp struct {
	size, time int64
	gone       bool
}

func stamps(parts []store.Session) (out []stamp) {
	for _, p := range parts {
		path := p.Path
		if p.Stored() {
			path, _ = p.Database()
		}
		fi, err := os.Stat(path)
		if err != nil {
			out = append(out, stamp{gone: true})
			continue
		}
		out = append(out, stamp{size: fi.Size(), time: fi.ModTime().UnixNano()})
	}
	return out
}

// doubt makes the outcome unknown.
func (a *Commitment) doubt(why string, look ...Sighting) {
	a.Outcome = Unsure
	if !slices.Contains(a.Why, why) {
		a.Why = append(a.Why, why)
	}
	for _, l := range look {
		if !slices.ContainsFunc(a.Look, func(x Sighting) bool { return x.Path == l.Path && x.Span == l.Span }) {
			a.Look = append(a.Look, l)
		}
	}
}

func (a *Commitment) note(text string) {
	if !slices.Contains(a.Notes, text) {
		a.Notes = append(a.Notes, text)
	}
}

// around looks for what may still write the record, or knows of it, where the logs do not have it.
func (a *Commitment) around(ctx context.Context, parts []store.Session, q Question) error {
	if q.Owner != nil {
		who, err := q.Owner(ctx, parts[0])
		if err != nil {
			return err
		}
		if who != "" {
			a.doubt("somebody is at work on the session and may still write it: "+who, Sighting{Path: parts[0].Path, Why: "ask again when the agent has ended"})
		}
	}
	for _, p := range parts {
		if w, ok := p.Format.(format.Witness); ok && !p.Stored() {
			for _, x := range w.Witnesses(p.Path, a.question.id) {
				a.doubt(fmt.Sprintf("%s %s", filepath.Base(x.Path), x.Says), Sighting{Path: x.Path, Why: "it may know of the record"})
			}
		}
		if p.Stored() {
			db, _ := p.Database()
			if fi, err := os.Stat(db + "-wal"); err == nil && fi.Size() > 0 {
				a.doubt("the database has a write-ahead log that no client has taken in yet", Sighting{Path: db + "-wal", Why: "open the session with its agent, and ask again"})
			}
		}
		if pr, ok := p.Format.(format.Projector); ok && !p.Stored() && !p.Missing {
			for _, rows := range pr.Projections(p.Path, q.Env) {
				n, err := database.Counted(ctx, rows)
				if err != nil {
					return err
				}
				if fi, err := os.Stat(p.Path); err == nil && n > fi.Size() {
					a.doubt(fmt.Sprintf("%s counts %d bytes of the log, which holds %d: something was there", filepath.Base(rows.Path), n, fi.Size()), Sighting{Path: rows.Path, Why: "its rows say what was shown"})
				}
			}
		}
	}
	return nil
}

// advise says what to do.
func (a *Commitment) advise() {
	switch a.Outcome {
	case Stored:
		a.Advice = "do not write it again"
	case Absent:
		a.Advice = "it is safe to write it again; whether what it tells of was done is another question"
		if a.mend {
			a.Advice = "mend the log with sessfix repair, since what is written behind its torn end is lost with it; then " + a.Advice
		}
	default:
		a.Advice = "do not write it again before you have looked"
	}
}

// part reads a part of the session, and the files that it begins in.
func (s *sought) part(ctx context.Context, p store.Session) ([]*log, error) {
	l := &log{session: p, path: p.Path, role: p.Part().Role}
	var err error
	if l.res, err = File(ctx, p); err != nil {
		return nil, err
	}
	l.findings = l.res.Findings
	if p.Missing {
		l.in = Input{Format: p.Format, Dialect: p.Dialect}
		return []*log{l}, nil
	}
	f, err := logOf(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := s.open(ctx, l, f, -1); err != nil {
		return nil, err
	}
	bases, err := s.bases(ctx, l)
	return append(bases, l), err
}

// open reads a log up to a place in its text; -1 = all of it. The file stays open.
func (s *sought) open(ctx context.Context, l *log, f *os.File, until int64) error {
	s.files = append(s.files, f)
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	l.in = InputOf(l.session, f, fi.Size())
	return s.read(ctx, l, until)
}

// logOf opens the file of a session, or the log of one that lies in a database.
func logOf(ctx context.Context, p store.Session) (*os.File, error) {
	if p.Stored() {
		return p.Log(ctx)
	}
	return os.Open(p.Path)
}

// bases are the beginnings of other files that a log begins with.
func (s *sought) bases(ctx context.Context, l *log) ([]*log, error) {
	b, ok := l.session.Format.(format.Based)
	if !ok || l.first == nil || l.in.Dialect == nil {
		return nil, nil
	}
	list, err := b.Bases(l.path, l.in.Dialect, l.first)
	if err != nil {
		l.lost = fmt.Sprintf("the session begins in another file: %v", err)
		return nil, nil
	}
	var out []*log
	for _, base := range list {
		kin, err := l.session.Kin(ctx, base.Path)
		if err != nil {
			l.lost = fmt.Sprintf("the session begins in %s, which cannot be read", filepath.Base(base.Path))
			continue
		}
		m := &log{session: kin, path: base.Path, role: format.Primary, base: true}
		f, err := os.Open(base.Path)
		if err != nil {
			return nil, err
		}
		if err := s.open(ctx, m, f, base.Bytes); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// reaction is what the next client does with a fault.
func (in *Input) reaction(f *finding.Finding) format.Reaction {
	version, generation := -1, ""
	if in.Dialect != nil {
		generation = in.Dialect.Version()
		version = atoi(generation)
		if r, ok := in.Dialect.(format.Ranked); ok {
			version = r.Rank()
		}
	}
	r, _ := reactionsOf(in.Format).Find(f.Code, f.Where, generation, version)
	return r
}
