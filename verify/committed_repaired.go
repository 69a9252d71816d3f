package verify

import (
	"context"
	"fmt"
	"os"
)

// repaired finds records that a repair wrote, among those that were found: they are not what the agent wrote.
func (s *sought) repaired(ctx context.Context, l *log) error {
	for i := range l.hits {
		h := &l.hits[i]
		off, hash := h.Off, h.hash
		for n := len(l.repairs) - 1; n >= 0 && h.repair == ""; n-- {
			r := &l.repairs[n]
			if r.Rows || off >= r.After {
				break // it was written behind it, or nothing can be said
			}
			if r.Made || r.Original == "" && off >= r.Before {
				h.repair = r.Case
				break
			}
			if r.Original == "" {
				continue
			}
			o, err := s.original(ctx, l, r)
			if err != nil {
				return err
			}
			at := -1
			for k := range o.hits {
				if at < 0 || o.hits[k].hash == hash {
					at = k
				}
			}
			if at < 0 {
				h.repair = r.Case
				break
			}
			off, hash = o.hits[at].Off, o.hits[at].hash
		}
	}
	return nil
}

// aside looks for what repairs took out of a log that does not have the record.
func (a *Commitment) aside(ctx context.Context, l *log) error {
	s := a.question
	for n := range l.repairs {
		r := &l.repairs[n]
		at := Sighting{Path: r.Case, Why: "the case of a repair: it keeps the original and what was taken out"}
		switch {
		case r.Rows:
			a.doubt("a repair changed rows of the session since it was written", at)
		case r.Original == "":
		default:
			o, err := s.original(ctx, l, r)
			if err != nil {
				return err
			}
			if len(o.hits)+len(o.rivals) > 0 {
				a.doubt("a repair took it out of the log; the original is kept", at)
				continue
			}
			was := len(a.Why)
			a.missing(o)
			if len(a.Why) > was {
				a.doubt("a repair took out what may be left of it; the original is kept", at)
			}
		}
	}
	return nil
}

// original reads what a repair kept of a file. Only its bytes are judged.
func (s *sought) original(ctx context.Context, l *log, r *Repaired) (*log, error) {
	f, err := os.Open(r.Original)
	if err != nil {
		return nil, fmt.Errorf("look into the case of a repair: %w", err)
	}
	s.files = append(s.files, f)
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	o := &log{session: l.session, path: r.Original, role: l.role, in: l.in}
	o.session.Missing = false
	o.in.R, o.in.Size, o.in.Missing = f, fi.Size(), false
	return o, s.read(ctx, o, -1)
}
