package report

import (
	"path/filepath"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/verify"
)

// told is a finding as reports for other programs tell it: with whose it is.
type told struct {
	s    *Session
	f    *Finding
	base string // the directory that paths are told from
}

// Bytes makes a session of what scan says of a file: it knows of no agent, and what is damaged is repairable.
func Bytes(path, medium string, size, records int64, findings []Finding) Session {
	s := Session{Path: path, Medium: medium, Verdict: verify.Clean.String(), Size: size, Records: records, Findings: findings}
	for i := range findings {
		if findings[i].Severity != string(finding.Note) {
			s.Verdict = verify.Repairable.String()
		}
	}
	return s
}

// subjects are the sessions, and behind them the homes in which something is wrong as a whole.
func (d *Document) subjects() []*Session {
	var out []*Session
	for i := range d.Sessions {
		out = append(out, &d.Sessions[i])
	}
	for i := range d.Homes {
		h := &d.Homes[i]
		out = append(out, &Session{Path: h.Path, Agent: h.Agent, Verdict: h.Verdict, Findings: h.Findings, root: true})
	}
	return out
}

// level is the finding's severity now: what this run mended is worth a note.
func (t told) level() string {
	if t.s.Repaired {
		return string(finding.Note)
	}
	return t.f.Severity
}

// told lists all findings, in order.
func (d *Document) told(base string) []told {
	var out []told
	for _, s := range d.subjects() {
		for i := range s.Findings {
			out = append(out, told{s, &s.Findings[i], base})
		}
	}
	return out
}

// file is the file that the finding is about, by its path. Rows tells that it is a database, and that offsets do not count
// its bytes.
func (t told) file() (name string, rows bool) {
	name = t.s.Path
	if t.f.path != "" && name != "-" {
		name = t.f.path
	}
	if t.s.ID != "" {
		if file, ok := strings.CutSuffix(name, "#"+t.s.ID); ok {
			return inside(t.base, file), true
		}
	}
	return inside(t.base, name), false
}

// advice is what is wrong and what follows from it, a sentence to a line.
func (t told) advice() string {
	f := t.f
	lines := []string{sentence(Safe(f.Message))}
	if t.s.Repaired {
		return lines[0] + "\nMended by this run."
	}
	for _, l := range []struct{ what, text string }{{"Next", f.Client}, {"Repair", f.Repair}, {"Never", f.Never}} {
		if l.text != "" {
			lines = append(lines, l.what+": "+Safe(l.text)+".")
		}
	}
	return strings.Join(lines, "\n")
}

// inside is a path as seen from a directory, where it lies in it.
func inside(base, name string) string {
	if base == "" || !filepath.IsAbs(name) {
		return name
	}
	if rest, err := filepath.Rel(base, name); err == nil && filepath.IsLocal(rest) {
		return rest
	}
	return name
}
