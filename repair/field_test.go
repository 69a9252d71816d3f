package repair_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/cmd"
	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/report"
)

var disk = durable.Disk

// fieldCase is an expect.json: one case taken from a public report. testdata/field/README.md
// explains its keys.
type fieldCase struct {
	ID, System, Class, Verdict string
	Exit                       int
	Inputs                     []string
	Made                       []string
	Findings                   []fieldFinding
	After                      fieldAfter `json:"after_repair"`
	Source, Note               string
}

type fieldFinding struct {
	Code, File       string
	Line             *int64
	Offset           *int64
	Length           *int64
	LogicalLine      *int64 `json:"logical_line"`
	Frame            *int64
	CallID           *string `json:"call_id"`
	Expected, Got    *int64
	Missing          *string
	RecoverableLines *int64 `json:"recoverable_lines"`
	Lines            []int64
	Event            string // of the record, for the reader
}

type fieldRange struct {
	File           string
	Line, Frame    int64
	Offset, Length int64
	LogicalLines   []int64  `json:"logical_lines"`
	MayChange      []string `json:"may_change"`
	Why            string
}

type fieldLines struct {
	File  string
	Lines []int64
	With  string
	What  string
}

type fieldCloser struct {
	Code      string
	CallID    string `json:"call_id"`
	Kind      string
	Reason    string
	Place     string
	AfterLine int64 `json:"after_line"`
}

type fieldAfter struct {
	KeepLines    map[string][]int64 `json:"keep_lines"`
	KeepLogical  map[string][]int64 `json:"keep_logical_lines"`
	KeepBytes    []fieldRange       `json:"keep_bytes"`
	Recovered    []fieldRange
	Joined       []fieldLines
	Quarantine   []fieldRange
	Closers      []fieldCloser
	Edit         []fieldLines
	SeqAfter     string `json:"seq_after"`
	Untouched    []string
	SessionID    string `json:"session_id"`
	Branches     []fieldLines
	LogicalAfter int `json:"logical_lines_after"`
	Records      int
	Note, By     string

	// What takes an agent's own idea of a chain or an index is tested with that agent.
	ActivePath    json.RawMessage `json:"active_path"`
	Chain         json.RawMessage
	Relink        json.RawMessage
	Reindex       json.RawMessage
	Rebuilt       json.RawMessage
	ReplayRecords json.RawMessage `json:"replay_records"`
	LostRecords   json.RawMessage `json:"lost_records"`
	ArrayLength   json.RawMessage `json:"array_length"`
	Fork          json.RawMessage
	Limits        json.RawMessage
}

// notHere lists keys of a case that this test cannot judge.
func (a fieldAfter) notHere() []string {
	var out []string
	v := reflect.ValueOf(a)
	for i := range v.NumField() {
		if raw, ok := v.Field(i).Interface().(json.RawMessage); ok && raw != nil {
			out = append(out, v.Type().Field(i).Name)
		}
	}
	return out
}

// run calls the program as a user would.
func run(t *testing.T, cases string, args ...string) (int, report.Document, string) {
	t.Helper()
	var out, errs bytes.Buffer
	status := cmd.Main(t.Context(), append(args, "--json", "--case-dir", cases), cmd.IO{
		In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(string) string { return "" },
	})
	var doc report.Document
	if out.Len() > 0 {
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil && args[0] != "undo" {
			t.Fatalf("%v: %v in %s", args, err, out.String())
		}
	}
	return status, doc, errs.String()
}

// TestField runs the cases from the field through the program.
func TestField(t *testing.T) {
	cases, err := filepath.Glob("../testdata/field/*/expect.json")
	if err != nil || len(cases) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, path := range cases {
		dir := filepath.Dir(path)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			var c fieldCase
			d := json.NewDecoder(bytes.NewReader(read(t, path)))
			d.DisallowUnknownFields() // a key that nobody checks says nothing
			if err := d.Decode(&c); err != nil {
				t.Fatal(err)
			}
			if len(c.Made) > 0 {
				t.Skip("the input is made by a script")
			}
			if keys := c.After.notHere(); len(keys) > 0 {
				t.Logf("not judged here: %v", keys)
			}
			c.test(t, dir)
		})
	}
}

// lay copies the inputs into a fresh folder.
func (c *fieldCase) lay(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	for _, name := range c.Inputs {
		at := filepath.Join(to, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, read(t, filepath.Join(from, name)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

func (c *fieldCase) test(t *testing.T, from string) {
	work, store := c.lay(t, from), t.TempDir()
	before := tree(t, work)

	status, doc, errs := run(t, store, "verify", work)
	if status != c.Exit {
		t.Errorf("verify ends with %d, want %d: %s", status, c.Exit, errs)
	}
	c.verdict(t, doc)
	c.findings(t, doc)
	if now := tree(t, work); !reflect.DeepEqual(now, before) {
		t.Fatal("verify changed something")
	}

	status, doc, errs = run(t, store, "repair", work)
	after := tree(t, work)
	if c.Verdict != "repairable" {
		if !reflect.DeepEqual(after, before) {
			t.Error("repair changed a session that it may not touch")
		}
		if status != c.Exit {
			t.Errorf("repair ends with %d, want %d: %s", status, c.Exit, errs)
		}
		c.after(t, doc, before, after, store)
		return
	}
	if status != 0 {
		t.Fatalf("repair ends with %d: %s", status, errs)
	}
	c.after(t, doc, before, after, store)

	if status, doc, errs = run(t, store, "verify", work); status != 0 || doc.Summary.Clean != doc.Summary.Sessions {
		t.Errorf("verify after repair ends with %d: %+v %s", status, doc.Summary, errs)
	}
	if status, doc, errs = run(t, store, "repair", work); status != 0 || doc.Summary.Repaired != 0 {
		t.Errorf("a second repair ends with %d and repairs %d: %s", status, doc.Summary.Repaired, errs)
	}
	if !reflect.DeepEqual(tree(t, work), after) {
		t.Error("a second repair changed something")
	}
	twin := c.lay(t, from)
	run(t, t.TempDir(), "repair", twin)
	if !reflect.DeepEqual(tree(t, twin), after) {
		t.Error("the same input, elsewhere, was repaired to something else")
	}
	if status, _, errs = run(t, store, "undo", work); status != 0 {
		t.Errorf("undo ends with %d: %s", status, errs)
	}
	if !reflect.DeepEqual(tree(t, work), before) {
		t.Error("undo does not give the original back")
	}
}

func (c *fieldCase) verdict(t *testing.T, doc report.Document) {
	t.Helper()
	worst := "clean"
	rank := []string{"clean", "repairable", "refuse", "refused"}
	for _, s := range doc.Sessions {
		if slices.Index(rank, s.Verdict) > slices.Index(rank, worst) {
			worst = s.Verdict
		}
	}
	if strings.TrimSuffix(worst, "d") != c.Verdict && worst != c.Verdict {
		t.Errorf("the verdict is %s, want %s", worst, c.Verdict)
	}
	for _, s := range doc.Sessions {
		if c.After.SessionID != "" && s.ID != c.After.SessionID {
			t.Errorf("the session is %q, want %q", s.ID, c.After.SessionID)
		}
	}
}

// findings looks for each expected finding; one of ours answers for one of them.
func (c *fieldCase) findings(t *testing.T, doc report.Document) {
	t.Helper()
	var have []report.Finding
	for _, s := range doc.Sessions {
		have = append(have, s.Findings...)
	}
	used := make([]bool, len(have))
	for _, want := range c.Findings {
		at := slices.IndexFunc(have, func(f report.Finding) bool { return f.Code == want.Code && want.misfit(f) == "" })
		for at >= 0 && used[at] {
			next := slices.IndexFunc(have[at+1:], func(f report.Finding) bool { return f.Code == want.Code && want.misfit(f) == "" })
			if next < 0 {
				at = -1
				break
			}
			at += 1 + next
		}
		if at >= 0 {
			used[at] = true
			continue
		}
		near := "none of this code"
		for _, f := range have {
			if f.Code == want.Code {
				near = want.misfit(f)
			}
		}
		t.Errorf("%s in %s is not reported: %s", want.Code, want.File, near)
	}
	for i, f := range have {
		if !used[i] && f.Severity != "note" && c.Verdict == "clean" {
			t.Errorf("%s at %d on healthy bytes", f.Code, f.Offset)
		}
	}
}

// misfit says in what a reported finding differs from the expected one.
func (w fieldFinding) misfit(f report.Finding) string {
	number := func(name string, want *int64, have int64) string {
		if want == nil || *want == have {
			return ""
		}
		return fmt.Sprintf("%s is %d, want %d; ", name, have, *want)
	}
	out := number("line", w.Line, f.Line) + number("offset", w.Offset, f.Offset) + number("length", w.Length, f.Length) +
		number("logical line", w.LogicalLine, f.LogicalLine) + number("frame", w.Frame, f.Frame) +
		number("expected", w.Expected, deref(f.Expected, -1)) + number("got", w.Got, deref(f.Got, -1)) +
		number("recoverable lines", w.RecoverableLines, deref(f.Recoverable, -1))
	if f.File != w.File && f.File != filepath.Base(w.File) {
		out += "file is " + f.File + "; "
	}
	if w.CallID != nil && (f.CallID == nil || *f.CallID != *w.CallID) {
		out += "another call; "
	}
	if w.Missing != nil && f.Missing != *w.Missing {
		out += "missing is " + f.Missing + "; "
	}
	if w.Lines != nil && !slices.Equal(w.Lines, f.Lines) {
		out += fmt.Sprintf("lines are %v; ", f.Lines)
	}
	return out
}

func deref[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// after holds the repaired files against what must have become of them.
func (c *fieldCase) after(t *testing.T, doc report.Document, before, after map[string][]byte, store string) {
	t.Helper()
	a := &c.After
	for _, name := range a.Untouched {
		if !bytes.Equal(before[name], after[name]) {
			t.Errorf("%s was to stay untouched", name)
		}
	}
	for _, keep := range []map[string][]int64{a.KeepLines, a.KeepLogical} {
		for name, lines := range keep {
			kept(t, name, text(t, before[name]), text(t, after[name]), lines)
		}
	}
	for _, r := range a.KeepBytes {
		if want := before[r.File][r.Offset : r.Offset+r.Length]; int64(len(after[r.File])) < r.Offset+r.Length || !bytes.Equal(after[r.File][r.Offset:r.Offset+r.Length], want) {
			t.Errorf("%s: bytes at %d were to stay at their place", r.File, r.Offset)
		}
	}
	for _, r := range a.Recovered {
		for rec := range bytes.SplitSeq(before[r.File][r.Offset:r.Offset+r.Length], []byte("\n")) {
			if len(r.MayChange) == 0 && !hasLine(text(t, after[r.File]), rec) {
				t.Errorf("%s: the record at %d did not come out as a line of its own", r.File, r.Offset)
			}
		}
	}
	for _, j := range a.Joined {
		var parts [][]byte
		for _, n := range j.Lines {
			parts = append(parts, line(text(t, before[j.File]), n))
		}
		if !hasLine(text(t, after[j.File]), bytes.Join(parts, []byte(j.With))) {
			t.Errorf("%s: lines %v were to be one record", j.File, j.Lines)
		}
	}
	for _, e := range a.Edit {
		c.edited(t, e, text(t, before[e.File]), text(t, after[e.File]))
	}
	c.quarantined(t, before, store)
	c.closed(t, doc)
	for name := range after {
		if a.SeqAfter != "" && len(c.Inputs) == 1 {
			if have := numbering(t, text(t, after[name])); have != a.SeqAfter {
				t.Errorf("%s: the numbers are %s, want %s", name, have, a.SeqAfter)
			}
		}
		if n := bytes.Count(text(t, after[name]), []byte("\n")); a.LogicalAfter > 0 && n != a.LogicalAfter {
			t.Errorf("%s: %d lines, want %d", name, n, a.LogicalAfter)
		}
	}
	for _, want := range a.Branches {
		named := false
		for _, s := range doc.Sessions {
			for _, b := range s.Branches {
				named = named || b.Lines == [2]int64{want.Lines[0], want.Lines[1]}
			}
		}
		if !named {
			t.Errorf("the branch on lines %v is not named", want.Lines)
		}
	}
}

// kept checks that lines stand in the result, byte for byte and in their order.
func kept(t *testing.T, name string, before, after []byte, lines []int64) {
	t.Helper()
	have := bytes.Split(after, []byte("\n"))
	at := 0
	for _, n := range lines {
		want := line(before, n)
		i := slices.IndexFunc(have[at:], func(l []byte) bool { return bytes.Equal(l, want) })
		if i < 0 {
			t.Errorf("%s: line %d is not kept in its order", name, n)
			continue
		}
		at += i + 1
	}
}

// edited checks lines of which single fields may change: the values that differ are filled in where
// none was, with one same value, and everything else keeps its bytes.
func (c *fieldCase) edited(t *testing.T, e fieldLines, before, after []byte) {
	t.Helper()
	added := map[string]bool{}
	have := bytes.Split(after, []byte("\n"))
	for _, n := range e.Lines {
		old := line(before, n)
		i := slices.IndexFunc(have, func(l []byte) bool { return bytes.HasPrefix(l, old[:30]) })
		if i < 0 {
			t.Errorf("line %d is gone", n)
			continue
		}
		var was, is any
		if json.Unmarshal(old, &was) != nil || json.Unmarshal(have[i], &is) != nil {
			t.Errorf("line %d is no JSON afterwards", n)
			continue
		}
		changed := diff(was, is)
		if len(changed) == 0 {
			t.Errorf("line %d did not change", n)
		}
		rest := have[i]
		for _, v := range changed {
			added[v] = true
			rest = bytes.ReplaceAll(rest, []byte(v), nil)
		}
		if c.Class == "EMPTY_CALL_ID" && !bytes.Equal(rest, old) {
			t.Errorf("line %d changed in more than the ids", n)
		}
	}
	if c.Class == "EMPTY_CALL_ID" && (len(added) != 1 || added[""]) {
		t.Errorf("the lines got %d ids, want one same", len(added))
	}
}

// diff lists the new values of what differs, as text.
func diff(a, b any) []string {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return []string{fmt.Sprint(b)}
		}
		var out []string
		for k := range x {
			out = append(out, diff(x[k], y[k])...)
		}
		return out
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return []string{fmt.Sprint(b)}
		}
		var out []string
		for i := range x {
			out = append(out, diff(x[i], y[i])...)
		}
		return out
	}
	if a == b {
		return nil
	}
	return []string{fmt.Sprint(b)}
}

// quarantined looks into the case folder for what must have been kept aside.
func (c *fieldCase) quarantined(t *testing.T, before map[string][]byte, store string) {
	t.Helper()
	var kept [][]byte
	filepath.WalkDir(store, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Base(filepath.Dir(path)) == "quarantine" {
			kept = append(kept, read(t, path))
		}
		return nil
	})
	for _, q := range c.After.Quarantine {
		want := before[q.File][q.Offset : q.Offset+q.Length]
		have := slices.ContainsFunc(kept, func(k []byte) bool { return bytes.Contains(k, want) })
		if !have && q.Length > 0 {
			t.Errorf("%s: the %d bytes at %d are not in the case folder", q.File, q.Length, q.Offset)
		}
		for _, n := range q.LogicalLines {
			l := line(text(t, before[q.File]), n)
			if !slices.ContainsFunc(kept, func(k []byte) bool { return bytes.Contains(text(t, k), l) }) {
				t.Errorf("%s: logical line %d cannot be had back from the case folder", q.File, n)
			}
		}
	}
	if c.After.Quarantine != nil && len(c.After.Quarantine) == 0 {
		for _, k := range kept {
			if len(k) > 0 {
				t.Errorf("%d bytes were put aside, nothing was to be", len(k))
			}
		}
	}
}

// closed compares the closers that repair reports.
func (c *fieldCase) closed(t *testing.T, doc report.Document) {
	t.Helper()
	if c.After.Closers == nil {
		return
	}
	var have []string
	for _, s := range doc.Sessions {
		for _, cl := range s.Closers {
			have = append(have, strings.TrimSpace(cmp.Or(cl.Code, cl.Kind)+" "+cl.CallID))
		}
	}
	var want []string
	for _, cl := range c.After.Closers {
		want = append(want, strings.TrimSpace(cmp.Or(cl.Code, cl.Kind)+" "+cl.CallID))
	}
	if !slices.Equal(have, want) {
		t.Errorf("the closers are %v, want %v", have, want)
	}
	i := 0
	for _, s := range doc.Sessions {
		for _, cl := range s.Closers {
			if i < len(c.After.Closers) && c.After.Closers[i].Place != "" && cl.Place != c.After.Closers[i].Place {
				t.Errorf("closer %d stands %s, want %s", i+1, cl.Place, c.After.Closers[i].Place)
			}
			i++
		}
	}
}

// numbering sums up the record numbers of a log: "0..11 contiguous" or where they break.
func numbering(t *testing.T, text []byte) string {
	t.Helper()
	first, next := int64(-1), int64(0)
	for l := range bytes.SplitSeq(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		var r struct {
			Seq, Seq0 *int64
			Data      struct{ DT []int64 }
		}
		if json.Unmarshal(l, &r) != nil {
			continue
		}
		seq, count := r.Seq, int64(1)
		if r.Seq0 != nil {
			seq, count = r.Seq0, int64(len(r.Data.DT))+1
		}
		if seq == nil {
			continue
		}
		if first < 0 {
			first, next = *seq, *seq
		}
		if *seq != next {
			return fmt.Sprintf("%d where %d is expected", *seq, next)
		}
		next += count
	}
	return fmt.Sprintf("%d..%d contiguous", first, next-1)
}

// text is a file's text, as far as whole frames give it.
func text(t *testing.T, data []byte) []byte {
	t.Helper()
	if !bytes.HasPrefix(data, []byte{0x28, 0xB5, 0x2F, 0xFD}) {
		return data
	}
	var out []byte
	frames, _ := damage.Frames(data)
	for _, f := range frames {
		text, err := damage.Unpack(f)
		if err != nil {
			break
		}
		out = append(out, text...)
	}
	return out
}

// line is a physical line of a text, by number from 1.
func line(text []byte, n int64) []byte {
	for range n - 1 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	l, _, _ := bytes.Cut(text, []byte("\n"))
	return l
}

func hasLine(text, line []byte) bool {
	return slices.ContainsFunc(bytes.Split(text, []byte("\n")), func(l []byte) bool { return bytes.Equal(l, line) })
}

// tree reads all files below a folder.
func tree(t *testing.T, root string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, path)
			out[filepath.ToSlash(rel)] = read(t, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
