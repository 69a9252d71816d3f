package damage_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/cmd"
	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/internal/damage/trial"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/report"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

const (
	testdata = "../../testdata"
	corrupt  = testdata + "/corrupt"
)

var update = flag.Bool("update", false, "write the damaged sessions of testdata/corrupt anew from their recipes")

// recipes reads all recipes; names are those of their files.
func recipes(t *testing.T) []*damage.Recipe {
	t.Helper()
	paths, err := filepath.Glob(corrupt + "/*.recipe")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no recipes: %v", err)
	}
	var out []*damage.Recipe
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		r, err := damage.Parse(strings.TrimSuffix(filepath.Base(p), ".recipe"), string(text))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

func pathOf(r *damage.Recipe) string {
	return filepath.Join(corrupt, r.Name, filepath.FromSlash(r.File))
}

func made(t *testing.T, r *damage.Recipe) (*damage.Part, map[string][]byte) {
	t.Helper()
	p, beside, err := r.Make(os.DirFS(testdata))
	if err != nil {
		t.Fatal(err)
	}
	return p, beside
}

// TestShipped proves that the damaged sessions that are shipped are what their recipes make, and
// that nothing else lies among them.
func TestShipped(t *testing.T) {
	want := map[string][]byte{}
	for _, r := range recipes(t) {
		if r.Folder() {
			for name, p := range madeFolder(t, r) {
				if !p.Gone {
					want[filepath.Join(pathOf(r), filepath.FromSlash(name))] = p.Bytes()
				}
			}
			continue
		}
		p, beside := made(t, r)
		want[pathOf(r)] = p.Bytes()
		for name, data := range beside {
			want[filepath.Join(filepath.Dir(pathOf(r)), name)] = data
		}
	}
	if *update {
		for path, data := range want {
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	filepath.WalkDir(corrupt, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".recipe") || d.Name() == "README.md" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if made, ok := want[path]; !ok {
			t.Errorf("%s belongs to no recipe", path)
		} else if !bytes.Equal(made, data) {
			t.Errorf("%s is not what its recipe makes; go test -update writes it", path)
		}
		delete(want, path)
		return nil
	})
	for path := range want {
		t.Errorf("%s is missing; go test -update writes it", path)
	}
}

// TestCorrupt holds each case against the head of its recipe.
func TestCorrupt(t *testing.T) {
	for _, r := range recipes(t) {
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			if r.Folder() {
				folder(t, r)
				return
			}
			p, _ := made(t, r)
			tr := verified(t, r, p)
			if tr.Before.Verdict != verify.Repairable {
				return
			}
			closers(t, r, tr)
			survivors(t, r.Result, p, tr)
			said(t, r, tr)
			if err := tr.Check(false); err != nil {
				t.Error(err)
			}
			twin, err := trial.Of(t.Context(), pathOf(r), p.Bytes())
			if err != nil || !bytes.Equal(twin.Out, tr.Out) {
				t.Errorf("two runs over the same bytes give different results: %v", err)
			}
			onDisk(t, r, p.Bytes(), tr)
		})
	}
}

// verified checks verdict and findings, all of them and no other.
func verified(t *testing.T, r *damage.Recipe, p *damage.Part) *trial.Trial {
	t.Helper()
	tr, err := trial.Of(t.Context(), pathOf(r), p.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if tr.Unknown {
		t.Fatal("not taken for a session")
	}
	if tr.Before.Agent != r.Agent {
		t.Errorf("taken for a session of %s", tr.Before.Agent)
	}
	if tr.Before.Verdict.String() != r.Verdict {
		t.Errorf("the verdict is %s, want %s", tr.Before.Verdict, r.Verdict)
	}
	reported(t, r.Findings, p, tr.Before.Findings)
	return tr
}

// reported compares the findings in a file with those that are expected there.
func reported(t *testing.T, wants []damage.Finding, p *damage.Part, have []finding.Finding) {
	t.Helper()
	left := slices.Clone(have)
	for _, want := range wants {
		near := ""
		i := slices.IndexFunc(left, func(f finding.Finding) bool {
			if string(f.Code) != want.Code {
				return false
			}
			m := misfit(t, p, want, f)
			near += m
			return m == ""
		})
		if i < 0 {
			t.Errorf("%s %v is not reported: %s", want.Code, want.Place, near)
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, f := range left {
		t.Errorf("not expected: %s line=%d frame=%d offset=%d length=%d call=%q %s", f.Code, f.Logical, f.Frame, f.Off, f.Len, f.CallID, f.Message)
	}
}

// misfit says in what a finding is not the expected one.
func misfit(t *testing.T, p *damage.Part, want damage.Finding, f finding.Finding) string {
	t.Helper()
	out := ""
	for key, expr := range want.Place {
		var have int64
		switch key {
		case "line":
			have = f.Logical
		case "frame":
			have = f.Frame
		case "offset":
			have = f.Off
		case "length":
			have = f.Len
			if expr == "rest" {
				expr = fmt.Sprintf("end-%d", f.Off)
			}
		case "expected":
			have = f.Expected
		case "got":
			have = f.Got
		case "recoverable":
			have = f.Recoverable
		case "file": // looked at before
			continue
		case "call", "missing", "severity", "because", "where":
			text := map[string]string{"call": f.CallID, "missing": f.Missing, "severity": string(f.Severity), "because": string(f.Because), "where": f.Where}[key]
			if text != expr {
				out += fmt.Sprintf("%s is %q; ", key, text)
			}
			continue
		default:
			t.Fatalf("unknown place %q", key)
		}
		v, err := p.Eval(expr)
		if err != nil {
			t.Fatalf("%s=%s: %v", key, expr, err)
		}
		if have != v {
			out += fmt.Sprintf("%s is %d, want %d; ", key, have, v)
		}
	}
	return out
}

// closers compares what ends the logs with what the head says.
func closers(t *testing.T, r *damage.Recipe, parts ...*trial.Trial) {
	t.Helper()
	var have []string
	for _, tr := range parts {
		if tr.Plan == nil {
			continue
		}
		for _, c := range tr.Plan.Closings {
			name := c.Kind
			if c.Code != "" {
				name = c.Code + " " + c.CallID
			}
			have = append(have, name)
		}
	}
	if !slices.Equal(have, r.Closers) {
		t.Errorf("the closers are %q, want %q", have, r.Closers)
	}
}

// survivors puts the text together that must come of a log, line by line, and compares.
func survivors(t *testing.T, result string, p *damage.Part, tr *trial.Trial) {
	t.Helper()
	have, err := trial.Lines(tr.Out)
	if err != nil {
		t.Fatal(err)
	}
	damaged := p.Lines()
	var want, closings [][]byte
	for _, c := range tr.Plan.Closings {
		closings = append(closings, bytes.TrimSuffix(c.Line, []byte("\n")))
	}
	for item := range strings.FieldsSeq(result) {
		switch {
		case item == "*":
			want = append(want, nil)
		case item == "_":
			want = append(want, []byte(" "))
		case item[0] == '_':
			from, to, err := damage.Range(item[1:])
			if err != nil || to > len(p.Base) {
				t.Fatalf("result: %q", item)
			}
			for _, l := range p.Base[from-1 : to] {
				want = append(want, append([]byte(" "), l...))
			}
		case item == "c":
			want, closings = append(want, closings...), nil
		case item[0] == 'd':
			n, err := strconv.Atoi(item[1:])
			if err != nil || n > len(damaged) {
				t.Fatalf("result: %q", item)
			}
			want = append(want, damaged[n-1])
		default:
			from, to, err := damage.Range(item)
			if err != nil || to > len(p.Base) {
				t.Fatalf("result: %q", item)
			}
			want = append(want, p.Base[from-1:to]...)
		}
	}
	want = append(want, closings...)
	if len(have) != len(want) {
		t.Errorf("%d lines, want %d", len(have), len(want))
	}
	for i := range min(len(have), len(want)) {
		if want[i] != nil && want[i][0] == ' ' {
			if got := bytes.TrimLeft(have[i], " "); !bytes.HasPrefix(have[i], []byte(" ")) || !bytes.Equal(got, want[i][1:]) {
				t.Errorf("line %d is %q, want spaces and %q", i+1, have[i], want[i][1:])
			}
			continue
		}
		if !json.Valid(have[i]) {
			t.Errorf("line %d is no JSON: %q", i+1, have[i])
		}
		if want[i] != nil && !bytes.Equal(have[i], want[i]) {
			t.Fatalf("line %d is %q, want %q", i+1, have[i], want[i])
		}
	}
}

// said looks for what the result and the quarantine must hold.
func said(t *testing.T, r *damage.Recipe, parts ...*trial.Trial) {
	t.Helper()
	var text, aside []byte
	left, packed := int64(0), false
	for _, tr := range parts {
		have := tr.Out
		if tr.Packed {
			lines, err := trial.Lines(tr.Out)
			if err != nil {
				t.Fatal(err)
			}
			have, packed = bytes.Join(lines, []byte("\n")), true
		}
		text = append(append(text, have...), '\n')
		aside = append(append(aside, bytes.Join(tr.Aside(), []byte("\n"))...), '\n')
		if tr.Result != nil {
			left += tr.Result.Account.Quarantined
		}
	}
	for _, s := range r.Holds {
		if !bytes.Contains(text, []byte(s)) {
			t.Errorf("the result does not hold %q", s)
		}
	}
	for _, s := range r.Aside {
		if !bytes.Contains(aside, []byte(s)) {
			t.Errorf("%q is not set aside", s)
		}
	}
	if len(r.Aside) == 0 && left > 0 && !packed {
		t.Errorf("%d bytes are set aside, and the recipe names none of them", left)
	}
}

// onDisk repairs the case as a file of its own, twice, and takes it back.
func onDisk(t *testing.T, r *damage.Recipe, data []byte, tr *trial.Trial) {
	t.Helper()
	dir, cases := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, filepath.Base(r.File))
	if err := os.WriteFile(path, data, 0o640); err != nil {
		t.Fatal(err)
	}
	mend := func() *repair.Outcome {
		found, err := store.Open(t.Context(), []string{path}, trial.Options())
		if err != nil || len(found.Sessions) != 1 {
			t.Fatalf("%d sessions, %v", len(found.Sessions), err)
		}
		out, err := repair.Session(t.Context(), found.Sessions[0], repair.Options{CaseDir: cases})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if !mend().Changed {
		t.Error("nothing was written")
	}
	mended, _ := os.ReadFile(path)
	if !bytes.Equal(mended, tr.Out) {
		t.Error("the file holds something else than what was planned")
	}
	if fi, err := os.Stat(path); err != nil || fi.Mode() != 0o640 {
		t.Errorf("the mode is %v, %v", fi.Mode(), err)
	}
	if mend().Changed {
		t.Error("a second repair wrote something")
	}
	list, err := repair.FindCases(durable.Disk, cases, path)
	if err != nil || len(list) != 1 {
		t.Fatalf("%d cases, %v", len(list), err)
	}
	if _, err := repair.Undo(t.Context(), list[0], repair.UndoOptions{Formats: trial.Options().Formats}); err != nil {
		t.Fatal(err)
	}
	if back, _ := os.ReadFile(path); !bytes.Equal(back, data) {
		t.Error("undo does not give the original back")
	}
}

// call runs the program.
func call(t *testing.T, args ...string) (int, []byte, string) {
	t.Helper()
	var out, errs bytes.Buffer
	status := cmd.Main(t.Context(), args, cmd.IO{In: strings.NewReader(""), Out: &out, Err: &errs, Env: func(string) string { return "" }})
	return status, out.Bytes(), errs.String()
}

// TestVerifyTree verifies the whole folder at once: one line a session, recipes are none, and the
// worst of them decides the exit status.
func TestVerifyTree(t *testing.T) {
	status, out, errs := call(t, "verify", "--json", corrupt)
	var doc report.Document
	if err := json.Unmarshal(out, &doc); err != nil {
		t.Fatal(err)
	}
	if status != 3 || doc.Summary.Failed > 0 {
		t.Errorf("verify ends with %d: %s", status, errs)
	}
	have := map[string]string{}
	for _, s := range doc.Sessions {
		have[filepath.Clean(s.Path)] = s.Verdict
	}
	for _, r := range recipes(t) {
		if v := have[filepath.Clean(pathOf(r))]; strings.TrimSuffix(v, "d") != r.Verdict && v != r.Verdict {
			t.Errorf("%s is %q, want %s", r.Name, v, r.Verdict)
		}
	}
	status, out, _ = call(t, "verify", corrupt)
	if status != 3 {
		t.Errorf("the table ends with %d", status)
	}
	for path := range have {
		if n := strings.Count(string(out), filepath.ToSlash(path)+" "); n != 1 {
			t.Errorf("%s stands on %d lines of the table", path, n)
		}
	}
	if bytes.Contains(out, []byte(".recipe")) {
		t.Error("a recipe is taken for a session")
	}
}

// TestRepairOutput repairs each case into another folder through the program, and verifies what
// it wrote.
func TestRepairOutput(t *testing.T) {
	for _, r := range recipes(t) {
		if r.Verdict != "repairable" {
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			t.Parallel()
			to := filepath.Join(t.TempDir(), "mended")
			from := filepath.Dir(pathOf(r))
			if r.Folder() {
				from = pathOf(r)
			}
			before := files(t, from)
			if status, _, errs := call(t, "repair", "--output", to, from); status != 0 {
				t.Fatalf("repair ends with %d: %s", status, errs)
			}
			if status, out, errs := call(t, "verify", to); status != 0 {
				t.Errorf("verify of the result ends with %d: %s%s", status, out, errs)
			}
			if !bytes.Equal(files(t, from), before) {
				t.Error("the originals changed")
			}
		})
	}
}

// files is all files of a folder in one piece.
func files(t *testing.T, dir string) []byte {
	t.Helper()
	var out bytes.Buffer
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		fmt.Fprintf(&out, "%s %d\n", path, len(data))
		io.Copy(&out, bytes.NewReader(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
