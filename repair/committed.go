package repair

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// Committed tells whether a record was durably written, as verify.Committed does, and also knows of live owners and of
// what earlier repairs took out or wrote.
func Committed(ctx context.Context, parts []store.Session, q verify.Question, caseDir string) (*verify.Commitment, error) {
	if q.Owner == nil {
		q.Owner = owner
	}
	if q.Repairs == nil && caseDir != "" {
		q.Repairs = func(s store.Session) ([]verify.Repaired, error) { return repaired(caseDir, s.Path) }
	}
	c, err := verify.Committed(ctx, parts, q)
	if err == nil && c.Outcome == verify.Absent {
		switch {
		case !watched(parts[0]):
			c.Notes = append(c.Notes, "it lies where its agent does not work: of one that still runs nothing is known here")
		case runtime.GOOS != "linux":
			c.Notes = append(c.Notes, "on this system processes cannot be looked for: locks and the time of the last write tell whether somebody is at work")
		}
	}
	return c, err
}

// watched tells whether more than the time of the last write shows an agent that is at work on a session.
func watched(s store.Session) bool {
	g, ok := s.Format.(format.Guarder)
	if !ok {
		return false
	}
	path := s.Path
	if s.Stored() {
		path, _ = s.Database()
	}
	return slices.ContainsFunc(g.Guards(path), func(g format.Guard) bool { return g.Kind != format.Quiet })
}

// owner says who is at work on a session, "" where nobody is. It waits until the file was quiet for a moment, so that a
// client is noticed that has no lock and opens the file anew for each record.
func owner(ctx context.Context, s store.Session) (string, error) {
	g, ok := s.Format.(format.Guarder)
	if !ok {
		return "", nil
	}
	path := s.Path
	if s.Stored() {
		path, _ = s.Database()
	}
	for _, g := range g.Guards(path) {
		err := look(ctx, durable.Disk, path, g)
		var live *LiveError
		if errors.As(err, &live) {
			return live.Who, nil
		}
		if err != nil {
			return "", fmt.Errorf("%s: look for a live owner: %w", path, err)
		}
	}
	return "", nil
}

// repaired are the repairs of a file that were not undone, the oldest first.
func repaired(caseDir, path string) (out []verify.Repaired, err error) {
	at, err := casePath(path)
	if err != nil {
		return nil, err
	}
	list, err := cases(durable.Disk, caseHome(caseDir, at))
	if err != nil {
		return nil, fmt.Errorf("look for earlier repairs of %s: %w", path, err)
	}
	for _, c := range list {
		if c.settled {
			continue
		}
		r := verify.Repaired{Case: c.dir, Made: c.Mode == ModeCreate, Rows: c.Row != "", Pending: !c.done, Before: c.Size[0], After: c.Size[1]}
		if original := filepath.Join(c.dir, "original"); c.Row == "" {
			if _, err := os.Stat(original); err == nil {
				r.Original = original
			}
		}
		out = append(out, r)
	}
	return out, nil
}
