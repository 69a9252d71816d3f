package verify

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// judge makes the outcome of what was seen in the logs.
func (a *Commitment) judge(logs []*log) {
	s := a.question
	var whole, doubtful []hit
	var doubts [][]string
	for _, l := range logs {
		for _, h := range l.hits {
			why, notes := l.judge(&h, s)
			for _, n := range notes {
				a.note(n)
			}
			if len(why) == 0 {
				whole = append(whole, h)
			} else {
				doubtful, doubts = append(doubtful, h), append(doubts, why)
			}
		}
	}
	a.Outcome = Absent
	switch {
	case len(whole) > 0:
		a.Outcome = Stored
		for _, h := range whole {
			a.Where = append(a.Where, h.Sighting)
		}
		a.alike(whole)
		a.calls(whole)
		for i, h := range doubtful[:min(len(doubtful), 3)] {
			what := "a record of it"
			if h.What != "" {
				what = "the " + h.What
			}
			a.note(fmt.Sprintf("%s at %d of %s is not sure: %s", what, h.Off, filepath.Base(h.Path), doubts[i][0]))
		}
	case len(doubtful) > 0:
		for i, h := range doubtful {
			for _, w := range doubts[i] {
				h.Why = w
				a.doubt(w, h.Sighting)
			}
		}
	}
	if a.Outcome == Stored {
		return
	}
	a.rivals(logs)
	if len(doubtful) > 0 {
		return
	}
	for _, l := range logs {
		a.missing(l)
	}
}

// alike judges several records that are what was asked for.
func (a *Commitment) alike(whole []hit) {
	s := a.question
	for _, h := range whole[1:] {
		if s.by == "number" && h.hash != whole[0].hash {
			a.doubt(fmt.Sprintf("more than one record has number %d, and they differ", s.seq), whole[0].Sighting, h.Sighting)
		}
	}
	if a.Outcome != Stored {
		a.Where = nil
		return
	}
	switch {
	case s.by == "number":
		a.note("a number does not prove that it is the record that you mean, since after a crash the next one gets it; --record compares the bytes")
	case s.by == "bytes" && s.nameless() && !s.timed:
		a.note("the record carries no id, number or time: an earlier one of the same content would look the same")
	case s.by == "bytes" && whole[0].Match == "values":
		a.note("the bytes differ, the values are the same: the client, or somebody else, wrote it in another spelling")
	}
}

// calls says where a call has no result among what was found.
func (a *Commitment) calls(whole []hit) {
	call, result := false, false
	for _, h := range whole {
		call = call || strings.HasSuffix(h.What, " of the call")
		result = result || h.What == "result of the call"
	}
	if call && !result {
		a.note("no result of the call is there")
	}
}

// rivals are other records with the number or id of the one that was given.
func (a *Commitment) rivals(logs []*log) {
	s := a.question
	for _, l := range logs {
		for _, h := range l.rivals {
			name := fmt.Sprintf("number %d", s.seq)
			if s.own != "" {
				name = "its id"
			}
			h.Why = "compare it with the record that you have"
			a.doubt(fmt.Sprintf("another record has %s, with other content", name), h.Sighting)
		}
		for _, h := range l.named {
			if slices.ContainsFunc(logs, func(l *log) bool { return len(l.hits) > 0 }) {
				break // it is there, after a fashion
			}
			why := "the id is named there, and no record has it: it was written and lost, or never written"
			if h.Path != "" && h.What == "mention" {
				why = fmt.Sprintf("the logs do not have it, and %s names the id", filepath.Base(h.Path))
			}
			h.Why = "it names the id"
			a.doubt(why, h.Sighting)
		}
	}
}

// shut are reactions by which a session is not opened, or not as it is.
var shut = map[string]bool{"refuse": true, "fail": true, "hide": true, "block": true, "hang": true, "over": true, "delete": true}

// judge says why a record that was found may be lost all the same, and what else is to be known of it.
func (l *log) judge(h *hit, s *sought) (why, notes []string) {
	doubt := func(text string, args ...any) { why = append(why, fmt.Sprintf(text, args...)) }
	exact := h.Match == "bytes" || h.Match == "values"
	switch {
	case h.repair != "" && !exact:
		doubt("it was written by a repair, and is not what the agent wrote")
	case h.made && !exact && s.by == "number":
		doubt("number %d is taken by a record that a recovery made up", s.seq)
	case h.made && !exact:
		doubt("a recovery made this record up")
	case l.role == format.Evidence && !exact:
		doubt("it is known only in %s, which tells of what the logs should hold", filepath.Base(l.path))
	}
	if twin := l.twin(); twin != "" {
		doubt("%s", twin)
	}
	if h.marks&session.Salvaged != 0 {
		doubt("it stands whole in a damaged place: repair would bring it back, the client does not read it")
	}
	for i := range l.findings {
		f := &l.findings[i]
		r := l.in.reaction(f)
		e, _ := finding.Lookup(f.Code)
		over := f.TextLen > 0 && f.Text < h.TextEnd() && h.Text < f.TextEnd() || f.TextLen == 0 && f.Len > 0 && f.Frame > 0 && f.Frame == h.Frame
		then := ""
		if r.Does != "" {
			then = ": " + r.Sentence()
		}
		switch {
		case f.Code == finding.NoFinalNewline:
			if !over && h.marks&session.Unterminated == 0 {
				continue
			}
			if r.Does == "load" {
				notes = append(notes, "its newline is missing; the client reads it, and begins a new line behind it")
			} else {
				doubt("its newline is missing%s", then)
			}
		case f.Code == finding.FrameUnverifiable:
			if h.Frame >= f.Frame && f.Frame > 0 {
				notes = append(notes, "its frame has no checksum: damage inside it may go unnoticed")
			}
		case r.Does == "newer" && f.Code == finding.GenerationBeside:
			doubt("the session went on in a file of a later generation: %s", f.Message)
		case f.Code == finding.ConcurrentWriters:
			doubt("the file is being written to: %s", f.Message)
		case f.Code == finding.RepairPending:
			doubt("a repair was interrupted: finish it with sessfix repair, and ask again")
		case losing(f, h):
			doubt("it stands on one of two branches that have the same numbers (%s)", f.Code)
		case !f.Damage() || f.Code == finding.BlankLine:
		case over && (e.Stage == finding.StageBytes || r.Loses == "record" || r.Loses == "pair" || r.Loses == "fragment"):
			doubt("it stands in a damaged place, %s at %d%s", f.Code, f.Off, then)
		case shut[r.Does] && (r.Loses == "session" || r.Loses == "root"), r.Does == "empty", l.res != nil && l.res.Verdict == Refused && r.Does == "":
			doubt("it stands there whole, but the client does not open the session as it is, %s at %d%s", f.Code, f.Off, then)
		case (r.Does == "cut" || r.Does == "import" || r.Loses == "records") && h.Text >= f.Text:
			doubt("it stands behind damage at which the client stops, %s at %d%s", f.Code, f.Off, then)
		case r.Loses == "above" || r.Loses == "branch" || r.Loses == "tree" || r.Loses == "session":
			notes = append(notes, fmt.Sprintf("%s at %d%s", f.Code, f.Off, then))
		}
	}
	if l.res != nil {
		for _, d := range l.res.Drops {
			if e, _ := finding.Lookup(d.Code); e.Stage == finding.StageNumbers && d.Code != "" && d.Code != finding.SeqDup && h.Text >= d.Text && h.Text < d.TextEnd() {
				doubt("repair would take it out of the log (%s)", d.Code)
			}
		}
	}
	return why, notes
}

// twin says that a plain file lies beside a packed one of its name, "" where none does.
func (l *log) twin() string {
	if l.in.Medium != scan.Frames {
		return ""
	}
	name := strings.TrimSuffix(strings.TrimSuffix(l.path, ".zst"), ".zstd")
	if fi, err := os.Stat(name); name == l.path || err != nil || !fi.Mode().IsRegular() {
		return ""
	}
	return "a plain file lies beside the packed one, and clients open that, or neither: " + filepath.Base(name)
}

// losing tells a record on one of two competing branches.
func losing(f *finding.Finding, h *hit) bool {
	return f.Code == finding.SeqFork && slices.ContainsFunc(f.Branches, func(b finding.Branch) bool {
		return b.Length > 0 && h.Off >= b.Offset && h.Off < b.Offset+b.Length || h.Logical > 0 && h.Logical >= b.FirstLine && h.Logical <= b.LastLine
	})
}

// hides are the faults of bytes in which a record may be lost.
var hides = map[finding.Code]bool{
	finding.TornTail: true, finding.TornLine: true, finding.GluedTorn: true, finding.NulTail: true, finding.NulLine: true, finding.NulPad: true,
	finding.BadUTF8: true, finding.ControlChar: true, finding.NotObject: true, finding.TornFrame: true, finding.FrameChecksum: true,
	finding.FrameHeader: true, finding.FrameGarbage: true, finding.RawAfterFrame: true,
}

// missing says why a record that is not there may have been written all the same.
func (a *Commitment) missing(l *log) {
	s := a.question
	here := Sighting{Path: l.path}
	if l.lost != "" {
		a.doubt(l.lost, here)
	}
	if l.session.Missing && l.in.Dialect != nil {
		if _, ok := l.in.Dialect.(format.Document); !ok {
			here.Why = "it is not there"
			a.doubt(filepath.Base(l.path)+" is missing: what stood in it is not known", here)
		}
	}
	if twin := l.twin(); twin != "" {
		a.doubt(twin, here)
	}
	if l.in.Unknown != nil {
		a.doubt("the version of the format is not known: "+l.in.Unknown.Error(), here)
	}
	numbered := s.numbered && l.counts
	if numbered && l.above && len(l.rivals) == 0 {
		where := l.highest
		why := fmt.Sprintf("number %d is missing between others", s.seq)
		if !l.below {
			why = fmt.Sprintf("the log begins behind number %d", s.seq)
		}
		a.doubt(why, Sighting{Path: l.path, Span: where.Span, Seq: l.high, Numbered: true, Why: "the numbers go on to here"})
	}
	if l.unsure > 0 {
		a.doubt("frames without checksum: that nothing was changed in them cannot be proved", here)
	}
	ordered := !slices.ContainsFunc(l.findings, func(f finding.Finding) bool {
		return f.Damage() && (f.Code == finding.SeqFork || f.Code == finding.SeqDup || f.Code == finding.SeqMissing)
	})
	torn := l.tornEnd(s)
	if torn != nil {
		a.tornAt(l, torn)
	}
	for i := range l.findings {
		f := &l.findings[i]
		if torn != nil && hides[f.Code] && f.Off >= torn.Off {
			continue
		}
		// What is in front of a record with a lower number cannot be one with a higher.
		if numbered && ordered && !l.above && f.TextEnd() <= l.highest.Text && hides[f.Code] {
			continue
		}
		if why := l.conceals(f, s); why != "" {
			a.doubt(why, Sighting{Path: l.path, Span: f.Span, Why: string(f.Code) + ": " + f.Message})
		}
	}
}

// conceals says why a fault may be what is left of the record, "" where it cannot.
func (l *log) conceals(f *finding.Finding, s *sought) string {
	r := l.in.reaction(f)
	switch {
	case l.role == format.Evidence && s.record == nil:
		return ""
	case hides[f.Code] && f.Damage():
		return l.remains(f, s)
	case f.Code == finding.SeqGap, f.Code == finding.SeqFork && f.Damage(), f.Code == finding.SeqMissing && s.numbered && f.Damage():
		if s.numbered && f.Code == finding.SeqGap && l.counts && !l.above {
			return "" // it is behind the highest number
		}
		return fmt.Sprintf("the numbers do not stand in one line (%s)", f.Code)
	case r.Does == "newer" && f.Code == finding.GenerationBeside:
		return "the session went on in a file of a later generation: " + f.Message
	case f.Code == finding.ClientBackup, f.Code == finding.LeftoverTemp:
		return "a file beside it may hold the record: " + f.Message
	case f.Code == finding.ConcurrentWriters:
		return "the file is being written to: " + f.Message
	case !f.Damage():
		return ""
	}
	switch f.Code {
	case finding.HeaderMissing, finding.HeaderCorrupt, finding.VersionUnknown:
		return "the beginning of the log is lost or not known, and more may be"
	case finding.LineageBroken:
		return "the session begins in another file that does not fit: " + f.Message
	case finding.RepairPending:
		return "a repair was interrupted: finish it with sessfix repair, and ask again"
	case finding.DualEncoding, finding.FlatLayout, finding.SessionIDDuplicate:
		return fmt.Sprintf("the session, or its root, lies in more than one file (%s): %s", f.Code, f.Message)
	case finding.EmptyHistory, finding.DerivedMismatch, finding.SidecarEmpty, finding.SidecarMissing, finding.SidecarCorrupt:
		return fmt.Sprintf("the parts of the session do not say the same (%s): %s", f.Code, f.Message)
	}
	return ""
}

// remains compares damaged bytes with the record.
func (l *log) remains(f *finding.Finding, s *sought) string {
	why := fmt.Sprintf("damage that may be what is left of it, %s at %d", f.Code, f.Off)
	piece := l.damaged(f)
	switch {
	case len(piece) == 0:
	case s.record != nil && bytes.HasPrefix(s.record, piece):
		why = fmt.Sprintf("it was partly written: its first %s of %d stand at %d", plural(len(piece), "byte"), len(s.record), f.Off)
	case s.record != nil && bytes.HasSuffix(s.record, piece):
		why = fmt.Sprintf("it was partly written: its last %s of %d stand at %d", plural(len(piece), "byte"), len(s.record), f.Off)
	case s.record != nil && bytes.Contains(s.record, piece):
		why = fmt.Sprintf("it was partly written: %s of it stand at %d", plural(len(piece), "byte"), f.Off)
	case s.record != nil:
		why = fmt.Sprintf("damage that is no piece of the record as you have it, but may be one in another spelling, %s at %d", f.Code, f.Off)
	case s.id != "" && bytes.Contains(piece, []byte(s.id)):
		why = fmt.Sprintf("it was partly written: a torn piece with its id stands at %d", f.Off)
	}
	return why
}

// maxPiece bounds how much of a damaged place is compared.
const maxPiece = 64 << 20

// damaged are the stored bytes of a fault, without what no record holds at its ends.
func (l *log) damaged(f *finding.Finding) []byte {
	if l.in.Medium != scan.Lines || l.in.R == nil || f.Len <= 0 {
		return nil
	}
	b := make([]byte, min(f.Len, maxPiece))
	n, _ := l.in.R.ReadAt(b, f.Off)
	return bytes.Trim(b[:n], "\x00\r\n")
}
