package repair_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/format/toy"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// prove verifies bytes, plans their repair and proves it, all in memory.
func prove(t testing.TB, path string, data []byte, f format.Format) (before, after *verify.Result, fixed []byte, err error) {
	t.Helper()
	ctx := context.Background()
	s, err := store.Recognise(ctx, path, bytes.NewReader(data), int64(len(data)), store.Options{Formats: []format.Format{f}})
	if errors.Is(err, store.ErrUnknown) {
		return nil, nil, nil, nil
	}
	if err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	in := verify.InputOf(s, bytes.NewReader(data), int64(len(data)))
	if before, err = verify.Session(ctx, in); err != nil {
		t.Fatalf("%q: %v", data, err)
	}
	if before.Verdict != verify.Repairable {
		return before, nil, nil, nil
	}
	p, err := repair.MakePlan(ctx, in, before)
	if err != nil {
		return before, nil, nil, err
	}
	r, err := p.Apply(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return before, nil, nil, err
	}
	if after, err = repair.Prove(ctx, in, r); err != nil {
		return before, after, nil, err
	}
	var b bytes.Buffer
	if _, err := r.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return before, after, b.Bytes(), nil
}

const toyHead = `{"t":"head","v":1,"id":"s1","cwd":"/w"}` + "\n"

// What a plan makes of a log, byte by byte.
func TestToyPlans(t *testing.T) {
	const (
		n0 = `{"t":"note","n":0,"at":1}`
		n1 = `{"t":"note","n":1,"at":2}`
		n2 = `{"t":"user","n":2,"at":3}`
	)
	for _, c := range []struct{ name, log, want string }{
		{"torn tail", n0 + "\n" + n1[:9], n0 + "\n"},
		{"glued", n0 + n1 + "\n", n0 + "\n" + n1 + "\n"},
		{"a copy", n0 + "\n" + n0 + "\n" + n1 + "\n", n0 + "\n" + n1 + "\n"},
		{"a copy at the end, without newline", n0 + "\n" + n0, n0 + "\n"},
		{"a copy, glued", n0 + n0 + "\n" + n1 + "\n", n0 + "\n" + n1 + "\n"},
		{"a copy, glued to what follows", n0 + "\n" + n0 + n1 + "\n", n0 + "\n" + n1 + "\n"},
		{"a copy behind a torn record", n0 + "\n" + n1[:9] + n0 + "\n" + n1 + "\n", n0 + "\n" + n1 + "\n"},
		{"a header inside", n0 + "\n" + `{"t":"second","v":1}` + "\n" + n1 + "\n", n0 + "\n" + n1 + "\n"},
		{"a header inside, glued to what follows", n0 + "\n" + `{"t":"second","v":1}` + n1 + "\n", n0 + "\n" + n1 + "\n"},
		{"a branch without talk", n0 + "\n" + n1 + "\n" + `{"t":"set","n":1,"at":9}` + "\n" + n2 + "\n", n0 + "\n" + `{"t":"set","n":1,"at":9}` + "\n" + n2 + "\n"},
		{"a branch without talk behind", n0 + "\n" + n1 + "\n" + n2 + "\n" + `{"t":"set","n":1,"at":9}` + "\n", n0 + "\n" + n1 + "\n" + n2 + "\n"},
		{"a missing number", n0 + "\n" + `{"t":"note","at":2}` + "\n" + n2 + "\n", n0 + "\n" + `{"t":"note","n":1,"at":2}` + "\n" + n2 + "\n"},
		{"an open turn", `{"t":"turn+","n":0,"at":5,"turn":1}` + "\n" + `{"t":"step+","n":1,"at":6,"turn":1,"step":1}` + "\n" +
			`{"t":"say","n":2,"at":7,"turn":1,"step":1,"calls":[{"id":"a","tool":"x"},{"id":"b","tool":"x"}]}` + "\n" + `{"t":"run","n":3,"at":8,"turn":1,"step":1,"call":"b"}`,
			`{"t":"turn+","n":0,"at":5,"turn":1}` + "\n" + `{"t":"step+","n":1,"at":6,"turn":1,"step":1}` + "\n" +
				`{"t":"say","n":2,"at":7,"turn":1,"step":1,"calls":[{"id":"a","tool":"x"},{"id":"b","tool":"x"}]}` + "\n" + `{"t":"run","n":3,"at":8,"turn":1,"step":1,"call":"b"}` + "\n" +
				`{"t":"res","n":4,"at":8,"turn":1,"step":1,"call":"a","made":true,"code":"TOOL_NOT_STARTED"}` + "\n" +
				`{"t":"res","n":5,"at":8,"turn":1,"step":1,"call":"b","made":true,"code":"TOOL_OUTCOME_UNKNOWN"}` + "\n" +
				`{"t":"step-","n":6,"at":8,"turn":1,"step":1}` + "\n" + `{"t":"turn-","n":7,"at":8,"turn":1,"cut":true}` + "\n"},
		{"an empty id", `{"t":"turn+","n":0,"turn":1}` + "\n" + `{"t":"step+","n":1,"turn":1,"step":1}` + "\n" + `{"t":"say","n":2,"turn":1,"step":1,"calls":[{"id":"","tool":"x"}]}` + "\n" +
			`{"t":"run","n":3,"turn":1,"step":1,"call":""}` + "\n" + `{"t":"res","n":4,"turn":1,"step":1,"call":""}` + "\n" + `{"t":"step-","n":5,"turn":1,"step":1}` + "\n" + `{"t":"turn-","n":6,"turn":1}` + "\n",
			`{"t":"turn+","n":0,"turn":1}` + "\n" + `{"t":"step+","n":1,"turn":1,"step":1}` + "\n" + `{"t":"say","n":2,"turn":1,"step":1,"calls":[{"id":"mended-s1-2","tool":"x"}]}` + "\n" +
				`{"t":"run","n":3,"turn":1,"step":1,"call":"mended-s1-2"}` + "\n" + `{"t":"res","n":4,"turn":1,"step":1,"call":"mended-s1-2"}` + "\n" + `{"t":"step-","n":5,"turn":1,"step":1}` + "\n" + `{"t":"turn-","n":6,"turn":1}` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := []byte(toyHead + c.log)
			before, _, fixed, err := prove(t, "x.jsonl", in, toy.Format{})
			if err != nil || string(fixed) != toyHead+c.want {
				t.Errorf("verdict %s, %v\n%s\ngives\n%s\nwant\n%s", before.Verdict, err, in, fixed, toyHead+c.want)
			}
			// The same in frames: one for the header, one for each half of what follows it.
			body := []byte(c.log)
			half := bytes.LastIndexByte(body[:len(body)/2+1], '\n') + 1
			z := scan.EncodeFrame(nil, []byte(toyHead))
			for _, part := range [][]byte{body[:half], body[half:]} {
				if len(part) > 0 {
					z = scan.EncodeFrame(z, part)
				}
			}
			before, _, fixed, err = prove(t, "x.jsonl.zst", z, toy.Format{})
			if err != nil {
				t.Fatalf("packed: verdict %s, %v", before.Verdict, err)
			}
			if got := textOf(t, fixed); got != toyHead+c.want {
				t.Errorf("packed: gives\n%s\nwant\n%s", got, toyHead+c.want)
			}
		})
	}
}

func textOf(t testing.TB, z []byte) string {
	t.Helper()
	w := scan.NewFrameWalker(bytes.NewReader(z), int64(len(z)), nil)
	defer w.Close()
	var text []byte
	for {
		g, out, err := w.Next(text)
		if err != nil {
			return string(text)
		}
		if !g.Sound() {
			t.Fatalf("a frame of the result is not sound: %+v", g)
		}
		text = out
	}
}

// mutate damages a log as crashes, disks and second writers do.
func mutate(rnd *rand.Rand, data []byte) []byte {
	data = bytes.Clone(data)
	for range 1 + rnd.IntN(3) {
		lines := bytes.SplitAfter(data, []byte("\n"))
		i := rnd.IntN(len(lines))
		at := rnd.IntN(len(data) + 1)
		switch rnd.IntN(10) {
		case 0:
			data = data[:at]
		case 1:
			data = append(data[:at:at], data[min(len(data), at+1+rnd.IntN(30)):]...)
		case 2:
			lines[i] = append(bytes.Clone(lines[i]), lines[i]...)
			data = bytes.Join(lines, nil)
		case 3:
			j := rnd.IntN(len(lines))
			data = append(data, bytes.Join(lines[min(i, j):max(i, j)], nil)...)
		case 4:
			lines[i] = bytes.TrimSuffix(lines[i], []byte("\n"))
			data = bytes.Join(lines, nil)
		case 5:
			data = append(data[:at:at], append(bytes.Repeat([]byte{0}, 1+rnd.IntN(9)), data[at:]...)...)
		case 6:
			data = append(data[:at:at], append([]byte(`{"type":"todo/write","seq":3,"time":1,"data":{}}`), data[at:]...)...)
		case 7:
			if at < len(data) {
				data[at] = byte(rnd.IntN(256))
			}
		case 8:
			data = append(data[:at:at], append([]byte("\n"), data[at:]...)...)
		default:
			lines[i] = nil
			data = bytes.Join(lines, nil)
		}
		if len(data) == 0 {
			return data
		}
	}
	return data
}

// checkRepair holds what repair makes of bytes against what it promises.
func checkRepair(t *testing.T, path string, data []byte, f format.Format) {
	before, after, fixed, err := prove(t, path, data, f)
	if before == nil || before.Verdict != verify.Repairable {
		return
	}
	if err != nil {
		t.Fatalf("%s is said to be repairable, but: %v\n%s", path, err, show(data, before))
	}
	if after.Verdict != verify.Clean {
		t.Fatalf("the result is %s\n%s", after.Verdict, show(data, before))
	}
	again, _, _, err := prove(t, path, fixed, f)
	if err != nil || again == nil || again.Verdict != verify.Clean {
		t.Fatalf("the result by itself is not clean: %v\n%s", err, show(data, before))
	}
	if before.ID != again.ID {
		t.Fatalf("session %q became %q\n%s", before.ID, again.ID, show(data, before))
	}
	_, _, twice, _ := prove(t, path, data, f)
	if !bytes.Equal(fixed, twice) {
		t.Fatalf("two repairs of one file differ\n%s", show(data, before))
	}
	if strings.HasSuffix(path, ".jsonl") {
		lossless(t, data, fixed, before)
	}
}

// A closer must name its call as the mended record does, not as the faulty one did.
func TestFlawedID(t *testing.T) {
	log := toyHead + `{"t":"turn+","n":0,"turn":1}` + "\n" + `{"t":"step+","n":1,"turn":1,"step":1}` + "\n" + `{"t":"say","n":2,"turn":1,"step":1,"calls":[{"id":"a` + "\x01" + `","tool":"x"}]}` + "\n"
	if _, _, fixed, err := prove(t, "x.jsonl", []byte(log), toy.Format{}); err != nil {
		t.Error(err)
	} else if !strings.Contains(string(fixed), `"call":"a\u0001"`) {
		t.Errorf("%s", fixed)
	}
}

// An open call whose id is empty gets one, and its closer the same; one that has no id at all
// cannot be mended and must not be said to be repairable.
func TestEmptyIDOpen(t *testing.T) {
	open := toyHead + `{"t":"turn+","n":0,"turn":1}` + "\n" + `{"t":"step+","n":1,"turn":1,"step":1}` + "\n"
	for _, call := range []string{`{"id":"","tool":"x"}`, `{"tool":"x"}`} {
		log := open + `{"t":"say","n":2,"turn":1,"step":1,"calls":[` + call + `]}` + "\n"
		before, _, _, err := prove(t, "x.jsonl", []byte(log), toy.Format{})
		if err != nil {
			t.Errorf("%s is said to be %s: %v", call, before.Verdict, err)
		}
	}
}

// lossless looks for each whole line of a log in its repair: only copies, losing branches, second
// headers and lines that are no record may be gone.
func lossless(t *testing.T, data, fixed []byte, before *verify.Result) {
	have := map[string]bool{}
	for _, l := range bytes.Split(fixed, []byte("\n")) {
		have[string(bytes.TrimSpace(l))] = true
	}
	at := int64(0)
	for _, l := range bytes.SplitAfter(data, []byte("\n")) {
		end := at + int64(len(l))
		touched := false
		for _, d := range before.Drops {
			touched = touched || d.Text < end && d.TextEnd() > at
		}
		for _, n := range before.Findings {
			touched = touched || len(n.Patches) > 0 && n.Text < end && n.TextEnd() >= at || n.Damage() && n.Record.TextLen > 0 && n.Record.Text < end && n.Record.TextEnd() > at
		}
		if line := string(bytes.TrimSpace(l)); line != "" && !touched && !have[line] {
			t.Fatalf("a whole line is lost: %s\n%s", line, show(data, before))
		}
		at = end
	}
}

func show(data []byte, res *verify.Result) string {
	var out strings.Builder
	for _, f := range res.Findings {
		out.WriteString(string(f.Code) + " " + f.Where + " " + string(f.Severity) + " " + string(f.Cure) + ": " + f.Message + "\n")
	}
	out.Write(data)
	return out.String()
}

// fuzzToy is a log of the toy with everything in it.
const fuzzToy = toyHead + `{"t":"turn+","n":0,"at":5,"turn":1}
{"t":"user","n":1,"at":5}
{"t":"step+","n":2,"at":6,"turn":1,"step":1}
{"t":"bit","n":3,"at":6,"k":2}
{"t":"say","n":5,"at":7,"turn":1,"step":1,"calls":[{"id":"a","tool":"x"},{"id":"b","tool":"x"}]}
{"t":"run","n":6,"at":8,"turn":1,"step":1,"call":"a"}
{"t":"run","n":7,"at":8,"turn":1,"step":1,"call":"b"}
{"t":"res","n":8,"at":9,"turn":1,"step":1,"call":"b"}
{"t":"res","n":9,"at":9,"turn":1,"step":1,"call":"a","made":true}
{"t":"step-","n":10,"at":9,"turn":1,"step":1}
{"t":"note","n":11,"at":9}
{"t":"turn-","n":12,"at":9,"turn":1}
{"t":"turn+","n":13,"at":15,"turn":2}
{"t":"user","n":14,"at":15}
`

func fuzzRepair(t *testing.T, seed uint64) {
	rnd := rand.New(rand.NewPCG(seed, 9))
	data := mutate(rnd, faultPlain())
	checkRepair(t, "session.jsonl", data, dsh.Format{})
	checkRepair(t, "x.toy.jsonl", mutate(rnd, []byte(fuzzToy)), toy.Format{})
	if seed%8 == 0 {
		z := faultPacked()
		if rnd.IntN(2) == 0 && len(data) > 0 {
			k := rnd.IntN(len(data) + 1)
			z = scan.EncodeFrame(scan.EncodeFrame(nil, data[:k]), data[k:])
		}
		checkRepair(t, "session.jsonl.zstd", mutate(rnd, z), dsh.Format{})
	}
}

func TestRandomRepairs(t *testing.T) {
	for seed := range uint64(200) {
		fuzzRepair(t, seed)
	}
}

// FuzzRepair damages a small log: what verify calls repairable can be repaired, and is clean then.
func FuzzRepair(f *testing.F) {
	for seed := range uint64(16) {
		f.Add(seed, []byte(nil))
	}
	f.Add(uint64(1), faultPlain())
	f.Add(uint64(1), []byte(fuzzToy))
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		if len(data) == 0 {
			fuzzRepair(t, seed)
			return
		}
		checkRepair(t, "session.jsonl", data, dsh.Format{})
		checkRepair(t, "x.toy.jsonl", data, toy.Format{})
		checkRepair(t, "session.jsonl.zstd", data, dsh.Format{})
	})
}
