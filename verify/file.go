package verify

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/store"
)

// tries is how often a file that moves is looked at before verify gives up on it.
const tries = 3

// File verifies a session's file. A file that is written to while it is read is looked at
// again; one that keeps moving gets the finding that says so, and is refused.
func File(ctx context.Context, s store.Session, around ...finding.Finding) (*Result, error) {
	if s.Stored() {
		return stored(ctx, s, around)
	}
	if s.Missing {
		in := InputOf(s, bytes.NewReader(nil), 0)
		in.Around = append(in.Around, around...)
		return Session(ctx, in)
	}
	f, err := os.Open(s.Path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var res *Result
	for try := 1; ; try++ {
		before, err := f.Stat()
		if err != nil {
			return nil, err
		}
		in := InputOf(s, f, before.Size())
		in.Around = append(in.Around, around...)
		if res, err = Session(ctx, in); err != nil {
			return nil, err
		}
		after, err := os.Stat(s.Path)
		if err != nil {
			return nil, fmt.Errorf("the file vanished while it was read: %w", err)
		}
		if after.Size() == before.Size() && after.ModTime().Equal(before.ModTime()) {
			res.Findings = append(res.Findings, heritage(ctx, s)...)
			sortFindings(res.Findings)
			return res, nil
		}
		if try == tries {
			moved := finding.New(finding.ConcurrentWriters)
			moved.Off = before.Size()
			moved.Len = max(after.Size()-before.Size(), 0)
			moved.Message = fmt.Sprintf("the file went from %d to %d bytes while it was looked at", before.Size(), after.Size())
			in.Around = append(in.Around, moved)
			return Session(ctx, in)
		}
	}
}

// stored verifies a session that lies in a database.
func stored(ctx context.Context, s store.Session, around []finding.Finding) (*Result, error) {
	f, err := s.Log(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	in := InputOf(s, f, fi.Size())
	in.Around = append(in.Around, around...)
	return Session(ctx, in)
}
