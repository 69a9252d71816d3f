package finding

import "github.com/sessfix/sessfix/session"

// Code names a kind of fault. Codes are never renamed.
type Code string

// Stage orders the checks: a fault inside a region that an earlier stage already faulted is a consequence.
type Stage uint8

// The stages.
const (
	StageBytes Stage = iota
	StageHeader
	StageNumbers
	StageTree
	StageCalls
	StageTurns
	StageHome
)

// Entry is what the catalogue says of a code. The sentences feed explain, the documentation and the reports.
type Entry struct {
	Code     Code     `json:"code"`
	Stage    Stage    `json:"-"`
	Severity Severity `json:"severity"` // where the format has no row for it
	Cure     Cure     `json:"cure"`     // likewise
	Title    string   `json:"title"`    // one line
	Means    string   `json:"means"`
	Repair   string   `json:"repair"` // what repair does, or what to do where it refuses
	Never    string   `json:"never,omitempty"`
}

// Lookup finds a code's entry; ok is false for an unknown code.
func Lookup(c Code) (Entry, bool) {
	e, ok := byCode[c]
	return e, ok
}

// All is the catalogue in its own order: by stage, then as written here.
func All() []Entry { return catalogue }

// Closers are what the synthetic records say that repair adds. They are no findings.
func Closers() []Entry { return closers }

// New makes a finding with the catalogue's severity and cure.
func New(c Code) Finding {
	e, ok := byCode[c]
	if !ok {
		panic("finding: code without catalogue entry: " + string(c))
	}
	return Finding{Code: c, Severity: e.Severity, Cure: e.Cure}
}

// About is a finding about a record: its code, where it stands, the place that narrows the code, and what is wrong.
func About(c Code, ref session.Ref, where, message string) Finding {
	f := New(c)
	f.Span, f.Record, f.Where, f.Message = ref.Span, ref, where, message
	return f
}

var byCode = func() map[Code]Entry {
	m := make(map[Code]Entry, len(catalogue))
	for _, e := range catalogue {
		m[e.Code] = e
	}
	return m
}()
