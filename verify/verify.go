package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
	"github.com/sessfix/sessfix/store"
)

// ErrTooMany is returned when a log has so many faulty numbers that comparing its branches
// would not fit into memory.
var ErrTooMany = errors.New("too many records have faulty numbers")

// Session verifies one session. It returns an error only when it could not look.
func Session(ctx context.Context, in Input) (*Result, error) {
	res := &Result{Path: in.Path, Rel: in.Rel, Agent: in.Format.Name(), Medium: in.Medium, Size: in.Size}
	if in.Unknown != nil {
		return res, unknown(ctx, in, res)
	}
	res.Version = in.Dialect.Version()
	if d, ok := in.Dialect.(format.Document); ok {
		return res, document(in, res, d)
	}
	if err := judge(ctx, in, res, nil); err != nil {
		return nil, err
	}
	var taken []finding.Finding
	for {
		f, ok := accepted(in, res)
		if !ok {
			break
		}
		cut := &Drop{Span: f.Record.Span, Code: f.Code, Records: res.Records - f.Record.N}
		cut.TextLen, cut.Len = res.Text-cut.Text, in.Size-cut.Off
		f.Cure = finding.Auto
		f.Repair = fmt.Sprintf("accepted: the log is cut in front of this record; %d records go to quarantine", cut.Records)
		taken = append(taken, f)
		if err := judge(ctx, in, res, cut); err != nil {
			return nil, err
		}
	}
	if len(taken) > 0 {
		res.Findings = append(res.Findings, taken...)
		sortFindings(res.Findings)
		res.Verdict = max(res.Verdict, Repairable)
	}
	return res, nil
}

// accepted is the first fault without safe repair whose offer is taken.
func accepted(in Input, res *Result) (finding.Finding, bool) {
	for _, o := range res.Offers {
		if !in.Accept[o.Code] || o.Restores > 0 || o.Moves || o.Rebuilds {
			continue
		}
		for _, f := range res.Findings {
			if f.Code == o.Code && f.Record.N == o.At.N && f.Damage() {
				return f, true
			}
		}
	}
	return finding.Finding{}, false
}

// judge reads the log, as often as its numbers demand, without what stands behind cut.
func judge(ctx context.Context, in Input, res *Result, cut *Drop) error {
	p, err := run(ctx, in, res, nil, cut)
	if err != nil {
		return err
	}
	if p.numbers.faulty && in.Dialect.Rules().Dense {
		c, err := untangle(ctx, in, p.numbers.low, cut)
		if err != nil {
			return err
		}
		if p, err = run(ctx, in, res, c, cut); err != nil {
			return err
		}
	}
	res.Findings = append(res.Findings, in.Around...)
	if p.foreign {
		res.Close, res.Open = nil, false
	}
	settle(in, res)
	return nil
}

// pass is one reading of the log.
type pass struct {
	numbers   numbers
	structure structure
	tree      *tree // of formats whose records hang under each other
	list      *list // of formats whose order is what is sent
	path      *path // of formats whose way from the last record up is sent
	foreign   bool
}

// run reads the log once, without the records that c drops and those behind cut.
func run(ctx context.Context, in Input, res *Result, c *chain, cut *Drop) (*pass, error) {
	*res = Result{Path: res.Path, Rel: res.Rel, Agent: res.Agent, Medium: res.Medium, Size: res.Size, Version: res.Version}
	rules := in.Dialect.Rules()
	p := &pass{numbers: numbers{next: rules.First, low: 1 << 62}, structure: structure{rules: rules}}
	if rules.Tree {
		p.tree = newTree(rules, in.Medium == scan.Frames)
	}
	if rules.List {
		p.list = newList(rules)
	}
	if rules.Path {
		p.path = newPath(in)
	}
	s, err := scan.New(ctx, in.R, in.Size, scan.Options{Medium: in.Medium, Framing: in.Dialect.Framing()})
	if err != nil {
		return nil, err
	}
	var drops []Drop
	if cut != nil {
		drops = append(drops, *cut)
		res.Drops = append(res.Drops, *cut)
	}
	if c != nil {
		res.Findings = append(res.Findings, c.findings...)
		for _, d := range c.drops {
			drops = append(drops, d)
			if d.Code != "" {
				res.Drops = append(res.Drops, d)
			}
		}
		sort.Slice(drops, func(i, j int) bool { return drops[i].Text < drops[j].Text })
	}
	dec := in.Dialect.NewDecoder(in.place())
	if n, ok := dec.(format.Counter); ok {
		defer func() { res.Turns = n.Turns() }()
	}
	var b format.Batch
	for s.Next() {
		r := s.Record()
		for len(drops) > 0 && r.Text >= drops[0].TextEnd() {
			drops = drops[1:]
		}
		if len(drops) > 0 && r.Text >= drops[0].Text {
			continue
		}
		b.Reset()
		dec.Decode(r, &b)
		if b.Numbered {
			res.Events += b.Count
		} else if p.tree != nil || p.list != nil || p.path != nil || !b.Unnumbered {
			res.Events += int64(len(b.Events))
		}
		if p.tree != nil {
			p.tree.record(r, &b)
			b.Findings = slices.DeleteFunc(b.Findings, func(f finding.Finding) bool { return waits(&f) })
		}
		if len(b.Findings) > 0 {
			res.Findings = append(res.Findings, b.Findings...)
			res.misplaced(r, b.Findings)
		}
		if b.Header != nil {
			res.header(b.Header)
		}
		if p.path != nil {
			p.path.record(r, &b)
			continue
		}
		if p.tree != nil {
			continue
		}
		p.numbers.record(&b)
		if b.Numbered || p.list != nil && b.Time != 0 {
			res.Tail.LastTime = b.Time
		}
		if p.list != nil {
			p.list.record(r, &b)
			continue
		}
		p.structure.record(r, &b)
	}
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", in.Path, err)
	}
	res.Findings = append(res.Findings, s.Findings()...)
	res.Records, res.Text = s.Count(), s.Text()
	if h, ok := dec.(format.Hurt); ok {
		h.Hurt(res.Findings)
	}
	b.Reset()
	dec.End(&b)
	res.Findings = append(res.Findings, b.Findings...)
	if _, parted := in.Format.(format.Parted); s.Count() == 0 && !parted {
		res.Findings = append(res.Findings, headerless(in))
	}
	if err := reheader(in, res, dec); err != nil {
		return nil, err
	}
	if d, ok := dec.(format.Settler); ok {
		if res.Settled, err = d.Settle(); err != nil {
			return nil, fmt.Errorf("%s: %w", in.Path, err)
		}
	}
	replaced(res.Findings)
	p.foreign = b.Foreign
	if p.path != nil {
		p.path.grader, _ = dec.(format.Grader)
		p.path.recaller, _ = dec.(format.Recaller)
		p.path.end(res)
		return p, nil
	}
	if c != nil {
		p.numbers.next = c.next
	}
	if p.tree != nil {
		p.tree.end(res, in)
		res.Findings = append(res.Findings, p.tree.findings...)
		return p, nil
	}
	if p.list != nil {
		p.list.end(res)
		res.Findings = append(res.Findings, p.list.findings...)
	} else {
		unfinished(res.Findings, p.structure.ended)
		doubtful(res.Findings, p.structure.replacing)
		p.structure.end(res)
	}
	res.Tail.NextSeq = p.numbers.next
	if res.Close != nil {
		res.Close.NextSeq, res.Close.Time = p.numbers.next, res.Tail.LastTime
	}
	if !p.foreign {
		res.Findings = append(res.Findings, p.structure.findings...)
	}
	return p, nil
}

// header takes what the session says of itself.
func (r *Result) header(h *format.Header) {
	if h.ID != "" {
		r.ID = h.ID
	}
	if h.CWD != "" {
		r.CWD = h.CWD
	}
	r.Parent = h.Parent
	if r.Version == "" {
		r.Version = h.Version
	}
}

// misplaced drops a header that stands inside the log.
func (r *Result) misplaced(rec *session.Record, list []finding.Finding) {
	for _, f := range list {
		if f.Code == finding.HeaderMisplaced && f.Where == "" {
			r.Drops = append(r.Drops, dropRecord(rec.Ref(), f.Code))
		}
	}
}

// unfinished marks faults of bytes and numbers that lie behind the last end of a turn: some
// clients take those for the traces of a crash, and cut the log there.
func unfinished(list []finding.Finding, ended session.Ref) {
	for i := range list {
		f := &list[i]
		e, _ := finding.Lookup(f.Code)
		if (f.Where == "" || f.Where == "mid" || f.Code == finding.SeqMissing && f.Where == "tail") && (e.Stage == finding.StageBytes || e.Stage == finding.StageNumbers) && f.Text >= ended.TextEnd() {
			f.Where = "unfinished"
		}
	}
}

// hidesOthers is the place of a restored frame that takes intact records out of the replay.
const hidesOthers = "turned, hides others"

// doubtful finds frames that are sound only once a bit is turned back, and that hold a record
// which replaces earlier ones: what failed its check may add to the history, but it does not hide
// intact parts of it on its own word.
func doubtful(list []finding.Finding, replacing []session.Ref) {
	for i := range list {
		f := &list[i]
		if f.Where != "turned" {
			continue
		}
		for _, r := range replacing {
			if f.Where == "turned" && r.Text >= f.Text && r.Text < f.TextEnd() {
				f.Where = hidesOthers
				f.Message += "; one of them takes earlier messages out of the replay"
				f.Repair = fmt.Sprintf("none by itself, since earlier messages would be hidden on the word of a frame that fails its check: repair --accept %s restores it", f.Code)
			}
		}
	}
}

// headerless is said of a file without a single record.
func headerless(in Input) finding.Finding {
	f := finding.New(finding.HeaderMissing)
	f.Len = in.Size
	f.Message = "the file holds no whole record"
	if in.Size == 0 {
		f.Where, f.Message = "empty", "the file is empty"
	}
	return f
}

// untangle takes a second look at a log whose numbers are faulty.
func untangle(ctx context.Context, in Input, low int64, cut *Drop) (*chain, error) {
	s, err := scan.New(ctx, in.R, in.Size, scan.Options{Medium: in.Medium, Framing: in.Dialect.Framing()})
	if err != nil {
		return nil, err
	}
	rules := in.Dialect.Rules()
	c := newChain(rules.First, low)
	c.stray = rules.Stray
	dec := in.Dialect.NewDecoder(in.place())
	var b format.Batch
	for s.Next() {
		if cut != nil && s.Record().Text >= cut.Text {
			break
		}
		b.Reset()
		dec.Decode(s.Record(), &b)
		c.add(s.Record(), &b)
		if c.over {
			return nil, fmt.Errorf("%s: at %d: %w", in.Path, s.Record().Off, ErrTooMany)
		}
	}
	c.finish()
	return c, s.Err()
}

// unknown judges the bytes of a log whose version is not known.
func unknown(ctx context.Context, in Input, res *Result) error {
	s, err := scan.New(ctx, in.R, in.Size, scan.Options{Medium: in.Medium, Framing: session.Framing{Skippable: true, Arrays: true}})
	if err != nil {
		return err
	}
	for s.Next() {
	}
	if s.Err() != nil {
		return fmt.Errorf("%s: %w", in.Path, s.Err())
	}
	res.Version, res.Records, res.Text = in.Unknown.Version, s.Count(), s.Text()
	f := finding.New(finding.VersionUnknown)
	f.Message = in.Unknown.Error()
	res.Findings = append([]finding.Finding{f}, s.Findings()...)
	settle(in, res)
	return nil
}

// Root gives the findings about a root of sessions what its client makes of them. Notes leave it clean; what is
// more than a note is refused, since repair mends sessions and no roots.
func Root(r store.Root) ([]finding.Finding, Verdict) {
	res := &Result{Findings: r.Findings}
	settle(Input{Format: r.Format}, res)
	if res.Verdict != Clean {
		res.Verdict = Refused
	}
	return res.Findings, res.Verdict
}

// settle gives each finding the severity, cure and consequence that the next client's reaction
// makes of it, sorts them, and draws the verdict.
func settle(in Input, res *Result) {
	version, generation := -1, ""
	if in.Dialect != nil {
		generation = in.Dialect.Version()
		version = atoi(in.Dialect.Version())
		if r, ok := in.Dialect.(format.Ranked); ok {
			version = r.Rank()
		}
	}
	table := reactionsOf(in.Format)
	pins := in.pins(res)
	for i := range res.Drops {
		res.Drops[i].Pinned = res.Drops[i].Text < pins.last
	}
	for i := range res.Findings {
		f := &res.Findings[i]
		if r, ok := table.Find(f.Code, f.Where, generation, version); ok {
			f.Severity, f.Cure, f.Client = r.Severity, r.Cure, r.Sentence()
		}
		if f.Cure == finding.Auto && f.Damage() && pins.last > 0 {
			pins.settle(f, res, in.Accept[f.Code])
		}
		if in.ReadOnly != "" && f.Damage() {
			f.Cure, f.Repair = finding.Refuse, in.ReadOnly
		}
		if f.Where == hidesOthers {
			f.Cure = finding.Refuse
			if in.Accept[f.Code] {
				f.Cure, f.Repair = finding.Auto, "accepted: the frame is restored"
			}
		}
		if f.Where == rebuilt && f.Cure == finding.Refuse && in.ReadOnly == "" && !moves(res.Offers, f.Code) {
			if in.Accept[f.Code] {
				f.Cure, f.Repair = finding.Auto, "accepted: a header is written of what is known"
			} else {
				f.Repair = fmt.Sprintf("none by itself: repair --accept %s writes a header of what is known", f.Code)
				res.Offers = append(res.Offers, Offer{Code: f.Code, At: f.Record, Rebuilds: true})
			}
		}
		e, _ := finding.Lookup(f.Code)
		if f.Repair == "" {
			f.Repair = e.Repair
			if f.Cure == finding.Refuse && e.Cure == finding.Auto {
				f.Repair = fmt.Sprintf("none is safe here: fork in front of it: repair --accept %s --output DIR", f.Code)
			}
		}
		if f.Never == "" {
			f.Never = e.Never
		}
	}
	sortFindings(res.Findings)
	blame(res.Findings)
	res.Verdict = Clean
	seen := map[finding.Code]bool{}
	for i := range res.Findings {
		f := &res.Findings[i]
		if !f.Damage() {
			continue
		}
		if f.Cure != finding.Refuse {
			res.Verdict = max(res.Verdict, Repairable)
			continue
		}
		res.Verdict = Refused
		if f.Where == hidesOthers && !seen[f.Code] {
			seen[f.Code] = true
			res.Offers = append(res.Offers, Offer{Code: f.Code, At: session.Ref{Span: f.Span}, Restores: f.Recoverable})
		}
		if f.Record.N > 0 && in.ReadOnly == "" && f.Because == "" && !seen[f.Code] && !moves(res.Offers, f.Code) && f.Code != finding.WontMigrate && f.Where != "first" && f.Where != rebuilt {
			seen[f.Code] = true
			res.Offers = append(res.Offers, Offer{Code: f.Code, At: f.Record, Keeps: f.Record.N, Sets: res.Records - f.Record.N})
		}
	}
}

// blame marks what stands behind a hole in the numbers, and is about records that refer to each
// other, as its consequence.
func blame(list []finding.Finding) {
	var hole finding.Code
	for i := range list {
		f := &list[i]
		e, _ := finding.Lookup(f.Code)
		switch {
		case e.Stage == finding.StageNumbers:
			if f.Cure == finding.Refuse && f.Because == "" && hole == "" {
				hole = f.Code
			}
		case hole != "" && f.Because == "" && f.Where != "tail" && (f.Code == finding.EventInvalid || e.Stage > finding.StageNumbers && e.Stage < finding.StageHome):
			f.Because = hole
		}
	}
}

func sortFindings(list []finding.Finding) {
	sort.SliceStable(list, func(i, j int) bool {
		a, b := &list[i], &list[j]
		if a.Text != b.Text {
			return a.Text < b.Text
		}
		return a.Off < b.Off
	})
}

func atoi(s string) int {
	v := 0
	for _, c := range s {
		if c < '0' || c > '9' {
			return -1
		}
		v = v*10 + int(c-'0')
	}
	return v
}
