package verify

import (
	"bytes"
	"fmt"
	"path/filepath"
	"unicode/utf8"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/scan"
)

// tornEnd is the finding about a record that a plain log ends in the middle of, nil where it does not. Its write was begun and
// is not whole, nor is anything behind it: what is not in front of it is not in the log.
func (l *log) tornEnd(s *sought) *finding.Finding {
	for i := range l.findings {
		f := &l.findings[i]
		if f.Code != finding.TornTail || f.End() != l.in.Size {
			continue
		}
		if piece := l.damaged(f); len(piece) > 0 && int64(len(piece)) == f.Len && (s.record != nil && bytes.HasPrefix(s.record, piece) || begun(piece)) {
			return f
		}
	}
	return nil
}

// begun tells the beginning of a record, which goes on behind its last byte, from bytes that are damaged in another way.
func begun(piece []byte) bool {
	for n := 1; n < utf8.UTFMax && n <= len(piece); n++ {
		if c := piece[len(piece)-n]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRune(piece[len(piece)-n:]) {
				piece = piece[:len(piece)-n]
			}
			break
		}
	}
	_, cause := value(piece)
	return len(piece) > 0 && (piece[0] == '{' || piece[0] == '[') && cause == scan.Truncated
}

// tornAt says what the end is of a log that is torn, and that it must be mended before anything is written behind it.
func (a *Commitment) tornAt(l *log, f *finding.Finding) {
	s, piece, name := a.question, l.damaged(f), filepath.Base(l.path)
	if l.res == nil && !l.base {
		name = "the log as it was before its repair"
	}
	size := plural(len(piece), "byte")
	switch {
	case s.record != nil && bytes.HasPrefix(s.record, piece):
		a.note(fmt.Sprintf("it was partly written: its first %s of %d stand at the torn end of %s, at %d", size, len(s.record), name, f.Off))
	case s.id != "" && bytes.Contains(piece, []byte(s.id)):
		a.note(fmt.Sprintf("it was partly written: %s of a record with its id stand at the torn end of %s, at %d", size, name, f.Off))
	case s.record != nil:
		a.note(fmt.Sprintf("%s ends in %s of another record, or of this one in another spelling, at %d", name, size, f.Off))
	default:
		a.note(fmt.Sprintf("%s ends in %s of a record that was not written to its end, at %d", name, size, f.Off))
	}
	a.Look = append(a.Look, Sighting{Path: l.path, Span: f.Span, Why: string(f.Code) + ": " + f.Message})
	a.mend = a.mend || l.res != nil
}
