package verify

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"sort"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// numbers checks that records are numbered densely. On healthy logs it keeps two integers.
type numbers struct {
	next   int64
	faulty bool
	low    int64 // the lowest number that came again
}

func (n *numbers) record(b *format.Batch) {
	if b.Rebased && b.Numbered {
		n.next = b.Seq
	}
	switch {
	case b.Unnumbered:
	case !b.Numbered:
		n.faulty = true
	case b.Seq == n.next:
		n.next += b.Count
	default:
		n.faulty = true
		if b.Seq < n.next {
			n.low = min(n.low, b.Seq)
		}
		n.next = b.Seq + b.Count
	}
}

// item is a numbered record as the second look keeps it.
type item struct {
	ref        session.Ref
	seq, count int64
	hash       uint64
	talk       bool
	numbered   bool
}

// maxItems bounds the second look: some 100 MB.
const maxItems = 1 << 20

// chain puts the records of a log with faulty numbers into one line, as far as that is safe.
type chain struct {
	next     int64
	low      int64
	items    []item // kept ones from number low on
	missing  []item // without number, since the last numbered one
	findings []finding.Finding
	drops    []Drop
	branch   []item // the run that fell back, still growing
	seed     maphash.Seed
	stray    bool // a bookkeeping record that repeats a number does not begin a branch
	over     bool
}

func newChain(first, low int64) *chain {
	return &chain{next: first, low: low, seed: maphash.MakeSeed()}
}

// add takes the next record of the file.
func (c *chain) add(r *session.Record, b *format.Batch) {
	if b.Unnumbered {
		return
	}
	it := item{ref: r.Ref(), seq: b.Seq, count: b.Count, numbered: b.Numbered}
	for _, e := range b.Events {
		it.talk = it.talk || e.Kind.Talk() && e.Flags&session.Synthetic == 0
	}
	if !b.Numbered {
		if len(c.branch) > 0 {
			c.settle()
		}
		c.missing = append(c.missing, it)
		return
	}
	if b.Rebased {
		c.next = b.Seq
	}
	it.hash = maphash.Bytes(c.seed, bytes.TrimRight(r.Raw, "\r \t"))
	switch {
	case len(c.branch) == 0 || !c.stray:
	case it.seq == c.next && !talk(c.branch):
		c.strays()
	case it.seq == c.next+int64(len(c.branch)) && !c.copied():
		c.misnumbered()
	}
	if len(c.branch) > 0 {
		last := c.branch[len(c.branch)-1]
		if it.seq == last.seq+last.count {
			c.branch = append(c.branch, it)
			c.bound()
			return
		}
		c.settle()
	}
	c.stamp(it)
	switch {
	case it.seq == c.next:
		c.keep(it)
	case it.seq > c.next:
		c.lost(it)
		c.keep(it)
	default:
		c.branch = append(c.branch, it)
	}
}

func (c *chain) keep(it item) {
	if it.seq >= c.low {
		c.items = append(c.items, it)
		c.bound()
	}
	c.next = it.seq + it.count
}

func (c *chain) bound() {
	if len(c.items)+len(c.branch) > maxItems {
		c.over = true
	}
}

// stamp gives records without number the one that their neighbours leave.
func (c *chain) stamp(it item) {
	if len(c.missing) == 0 {
		return
	}
	exact := it.numbered && it.seq == c.next+int64(len(c.missing))
	for k, m := range c.missing {
		f := finding.New(finding.SeqMissing)
		f.Span, f.Record, f.Numbered = m.ref.Span, m.ref, true
		f.Expected, f.Got = c.next+int64(k), -1
		if !it.numbered {
			f.Where = "tail"
			f.Message = fmt.Sprintf("the record has no number, nor has any behind it; %d is expected", f.Expected)
		} else if exact {
			f.Where = "exact"
			f.Message = fmt.Sprintf("the record has no number; its neighbours leave %d", f.Expected)
		} else {
			f.Message = fmt.Sprintf("the record has no number where %d is expected, and its neighbours leave more than one", f.Expected)
		}
		c.findings = append(c.findings, f)
	}
	if exact || !it.numbered {
		c.next += int64(len(c.missing))
	}
	c.missing = nil
}

// lost reports a gap in front of a record.
func (c *chain) lost(it item) {
	f := finding.New(finding.SeqGap)
	f.Span, f.Record, f.Numbered = it.ref.Span, it.ref, true
	f.Expected, f.Got = c.next, it.seq
	what := fmt.Sprintf("record %d is lost", c.next)
	if it.seq-c.next > 1 {
		what = fmt.Sprintf("records %d to %d are lost", c.next, it.seq-1)
	}
	f.Message = what + fmt.Sprintf(" in front of record %d", it.seq)
	f.Repair = fmt.Sprintf("none is safe: bring record %d back from a backup, or fork in front of it: repair --accept %s --output DIR keeps the records up to %d", c.next, finding.SeqGap, max(c.next-1, 0))
	c.findings = append(c.findings, f)
}

// settle compares the run that fell back with what it overlaps.
func (c *chain) settle() {
	b := c.branch
	c.branch = nil
	at := sort.Search(len(c.items), func(i int) bool { return c.items[i].seq >= b[0].seq })
	same := 0
	for same < len(b) && at+same < len(c.items) && c.items[at+same].hash == b[same].hash && c.items[at+same].seq == b[same].seq {
		same++
	}
	rest, other := b[same:], c.items[at+same:]
	fork := len(rest) > 0 && len(other) > 0
	c.copies(b[:same], fork)
	if len(rest) == 0 {
		return
	}
	if !fork {
		for _, it := range rest {
			if it.seq > c.next {
				c.lost(it)
			}
			c.keep(it)
		}
		return
	}
	f := finding.New(finding.SeqFork)
	f.Span, f.Record, f.Numbered = b[0].ref.Span, b[0].ref, true
	f.Expected, f.Got = c.next, b[0].seq
	f.Branches = []finding.Branch{branchOf(other), branchOf(rest)}
	f.Message = fmt.Sprintf("the numbering falls back from %d to %d: two writers", c.next, b[0].seq)
	switch {
	case !talk(other) && talk(rest):
		f.Where = "bookkeeping"
		f.Message += "; the first branch holds only synthetic or bookkeeping records"
		f.Repair = fmt.Sprintf("%s, the first branch, goes to quarantine; the second goes on", describe(f.Branches[0]))
		c.drop(other, finding.SeqFork)
		c.items = c.items[:at+same]
		for _, it := range rest {
			c.keep(it)
		}
	case !talk(rest):
		f.Where = "bookkeeping"
		f.Message += "; the second branch holds only synthetic or bookkeeping records"
		f.Repair = fmt.Sprintf("%s, the second branch, goes to quarantine", describe(f.Branches[1]))
		c.drop(rest, finding.SeqFork)
	default:
		f.Where = "talk"
		f.Message += fmt.Sprintf("; both branches hold talk: %s, and %s", describe(f.Branches[0]), describe(f.Branches[1]))
		f.Repair = fmt.Sprintf("none is safe: nothing says which branch is right. Fork: repair --accept %s --output DIR keeps the first branch, and the second stays in the original", finding.SeqFork)
		// The structure is judged on the first branch alone.
		c.drops = append(c.drops, dropOf(rest, ""))
	}
	c.findings = append(c.findings, f)
}

// copies reports records that repeat earlier ones byte for byte.
func (c *chain) copies(b []item, fork bool) {
	if len(b) == 0 {
		return
	}
	const single = 16
	groups := [][]item{b}
	if len(b) <= single {
		groups = groups[:0]
		for i := range b {
			groups = append(groups, b[i:i+1])
		}
	}
	for _, g := range groups {
		f := finding.New(finding.SeqDup)
		d := dropOf(g, finding.SeqDup)
		f.Span, f.Record, f.Numbered = d.Span, g[0].ref, true
		f.Expected, f.Got = c.next, g[0].seq
		f.Message = fmt.Sprintf("record %d stands twice, byte for byte", g[0].seq)
		if len(g) > 1 {
			f.Message = fmt.Sprintf("%d records from %d on stand twice, byte for byte", len(g), g[0].seq)
		}
		if fork {
			f.Because = finding.SeqFork
		}
		c.findings = append(c.findings, f)
	}
	c.drop(b, finding.SeqDup)
}

// drop takes records out of the log, neighbours in one range.
func (c *chain) drop(list []item, code finding.Code) {
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].ref.N == list[n-1].ref.N+1 {
			n++
		}
		c.drops = append(c.drops, dropOf(list[:n], code))
		list = list[n:]
	}
}

func dropOf(list []item, code finding.Code) Drop {
	first, last := list[0].ref.Span, list[len(list)-1].ref.Span
	first.Len = last.End() - first.Off
	first.TextLen = last.TextEnd() - first.Text
	return Drop{Span: first, Code: code, Records: int64(len(list)), Followed: list[len(list)-1].ref.Marks&session.Followed != 0}
}

// copied tells whether one of the records that fell back is the copy of another.
func (c *chain) copied() bool {
	for _, b := range c.branch {
		at := sort.Search(len(c.items), func(i int) bool { return c.items[i].seq >= b.seq })
		if at < len(c.items) && c.items[at].seq == b.seq && c.items[at].hash == b.hash {
			return true
		}
	}
	return false
}

// misnumbered reports records that bear earlier numbers than the ones that their neighbours leave.
func (c *chain) misnumbered() {
	for _, it := range c.branch {
		f := finding.New(finding.SeqMissing)
		f.Span, f.Record, f.Numbered, f.Where = it.ref.Span, it.ref, true, "exact"
		f.Expected, f.Got = c.next, it.seq
		f.Message = fmt.Sprintf("the record bears number %d, its neighbours leave %d", it.seq, c.next)
		f.Repair = "it gets the number that they leave"
		c.findings = append(c.findings, f)
		it.seq = c.next
		c.keep(it)
	}
	c.branch = nil
}

// strays reports bookkeeping records that repeat numbers, where the log goes on behind the first of them.
func (c *chain) strays() {
	for _, it := range c.branch {
		f := finding.New(finding.SeqDup)
		f.Span, f.Record, f.Numbered = it.ref.Span, it.ref, true
		f.Expected, f.Got = c.next, it.seq
		f.Message = fmt.Sprintf("number %d stands twice; this record holds only settings or bookkeeping", it.seq)
		f.Repair = "the record goes to quarantine"
		c.findings = append(c.findings, f)
	}
	c.drop(c.branch, finding.SeqDup)
	c.branch = nil
}

// finish settles what is still open at the end of the log.
func (c *chain) finish() {
	if len(c.branch) > 0 {
		c.settle()
	}
	c.stamp(item{})
}

func talk(list []item) bool {
	for _, it := range list {
		if it.talk {
			return true
		}
	}
	return false
}

func branchOf(list []item) finding.Branch {
	first, last := list[0], list[len(list)-1]
	d := dropOf(list, "")
	return finding.Branch{
		FirstLine: first.ref.Logical, LastLine: last.ref.Logical,
		FirstSeq: first.seq, LastSeq: last.seq + last.count - 1,
		Offset: d.Off, Length: d.Len,
	}
}

func describe(b finding.Branch) string {
	if b.FirstLine == b.LastLine && b.FirstSeq == b.LastSeq {
		return fmt.Sprintf("line %d (number %d)", b.FirstLine, b.FirstSeq)
	}
	return fmt.Sprintf("lines %d to %d (numbers %d to %d)", b.FirstLine, b.LastLine, b.FirstSeq, b.LastSeq)
}
