package report

import (
	"path/filepath"

	"github.com/sessfix/sessfix/verify"
)

// Part is a file of a session that has several.
type Part struct {
	File     string  `json:"file"`
	Role     string  `json:"role"`
	Verdict  string  `json:"verdict"`
	Missing  bool    `json:"missing,omitempty"`
	Size     int64   `json:"size"`
	Records  int64   `json:"records"`
	Repaired bool    `json:"repaired,omitempty"`
	Edits    int     `json:"edits,omitempty"`
	Receipt  string  `json:"receipt,omitempty"`
	SHA256   *Hashes `json:"sha256,omitempty"`
}

// Join makes one session of its parts, which lie in a folder.
func Join(folder string, parts []Session, about []Part) Session {
	j := Session{Path: folder, Agent: parts[0].Agent, Medium: "folder", Verdict: verify.Clean.String(), Findings: []Finding{}}
	for i := range parts {
		s, p := &parts[i], about[i]
		p.File, p.Verdict, p.Size, p.Records = filepath.Base(s.Path), s.Verdict, s.Size, s.Records
		p.Repaired, p.Edits, p.Receipt, p.SHA256 = s.Repaired, s.Edits, s.Receipt, s.SHA256
		j.Parts = append(j.Parts, p)
		if s.ID != "" {
			j.ID = s.ID
		}
		if s.CWD != "" {
			j.CWD = s.CWD
		}
		if IsVersion(s.FormatVersion) {
			j.FormatVersion = s.FormatVersion // the others only say what they are
		}
		if worse(s.Verdict, j.Verdict) {
			j.Verdict = s.Verdict
		}
		j.Size, j.Records, j.Events, j.Edits = j.Size+s.Size, j.Records+s.Records, j.Events+s.Events, j.Edits+s.Edits
		j.Turns = max(j.Turns, s.Turns)
		if s.Tail != nil {
			j.Tail = s.Tail
		}
		j.Findings = append(j.Findings, s.Findings...)
		j.Branches, j.Offers = append(j.Branches, s.Branches...), append(j.Offers, s.Offers...)
		j.Closers, j.Quarantined = append(j.Closers, s.Closers...), append(j.Quarantined, s.Quarantined...)
		j.Repaired = j.Repaired || s.Repaired
		if s.Output != "" {
			j.Output = filepath.Dir(s.Output)
		}
		if s.Refusal != "" {
			j.Refusal = s.Refusal
		}
		j.diff += s.diff
	}
	return j
}

// IsVersion tells versions of a format from words that say what a part is.
func IsVersion(v string) bool { return v != "" && v[0] >= '0' && v[0] <= '9' }

// worse tells which of two verdicts outweighs the other.
func worse(a, b string) bool {
	rank := func(v string) verify.Verdict {
		for r := verify.Clean; r <= verify.Refused; r++ {
			if r.String() == v {
				return r
			}
		}
		return verify.Refused
	}
	return rank(a) > rank(b)
}
