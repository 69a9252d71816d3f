package cmd

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

// commands are the words that the scripts have beside testscript's own.
var commands = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"run":        run,
	"session":    writeSession,
	"add":        addText,
	"cut":        cutEnd,
	"nul":        addNUL,
	"poke":       poke,
	"zstdframes": zstdFrames,
	"hugeline":   hugeLine,
	"deep":       deep,
	"rename":     renameTo,
	"tempty":     treeEmpty,
	"count":      countLines,
	"peak":       peak,
	"interrupt":  interrupt,
	"as":         asOther,
	"fifo":       fifo,
	"grow":       grow,
	"caseof":     caseOf,
	"cases":      cases,
	"casefile":   caseFile,
	"binary":     binary,
	"head":       head,
	"only":       only,
	"verifyodd":  verifyOdd,
	"age":        age,
	"register":   register,
	"sample":     sample,
	"samplefile": sampleFile,
	"sessionin":  sessionIn,
	"corrupt":    corrupt,
	"held":       held,
}

func want(ts *testscript.TestScript, neg bool, args []string, n int, usage string) {
	if neg || len(args) < n {
		ts.Fatalf("usage: %s", usage)
	}
}

func number(ts *testscript.TestScript, s string) int {
	n, err := strconv.Atoi(s)
	ts.Check(err)
	return n
}

func fileOf(ts *testscript.TestScript, name string, data []byte) {
	p := ts.MkAbs(name)
	ts.Check(os.MkdirAll(filepath.Dir(p), 0o777))
	ts.Check(os.WriteFile(p, data, 0o666))
}

// session FILE ID [open] writes a session of one finished turn; open adds a second turn that a
// crash left between a call and its result.
func writeSession(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "session FILE ID [open]")
	text := sessionText(args[1], "/srv/app", "Bump the version.", "Bumped.")
	if len(args) > 2 {
		text += openTurnText("make test", "Run the tests.")
	}
	fileOf(ts, args[0], []byte(text))
}

// sessionText is a finished session of one turn.
func sessionText(id, cwd, ask, answer string) string {
	return fmt.Sprintf(`{"type":"session","version":0,"id":%q,"createdAt":1700000000000,"cwd":%q,"delegationDepth":0}
{"type":"turn/start","seq":0,"time":1700000000001,"data":{"turn":1}}
{"type":"step/start","seq":1,"time":1700000000002,"data":{"turn":1,"step":1}}
{"type":"user/message","seq":2,"time":1700000000003,"data":{"id":"m-1","role":"user","content":[{"type":"text","text":%q}],"source":{"kind":"user"}},"surfaceOp":"append"}
{"type":"assistant/message","seq":3,"time":1700000000004,"data":{"turn":1,"step":1,"message":{"id":"m-2","role":"assistant","content":[{"type":"text","text":%q}],"source":{"kind":"model","provider":"acme","model":"acme-1"}}},"surfaceOp":"append"}
{"type":"step/end","seq":4,"time":1700000000005,"data":{"turn":1,"step":1}}
{"type":"turn/end","seq":5,"time":1700000000006,"data":{"turn":1,"reason":{"kind":"completed"}}}
`, id, cwd, ask, answer)
}

// openTurnText goes on behind sessionText with a turn that ends between a call and its result.
func openTurnText(command, ask string) string {
	arguments := fmt.Sprintf("%q", fmt.Sprintf(`{"command":%q}`, command))
	return fmt.Sprintf(`{"type":"turn/start","seq":6,"time":1700000000007,"data":{"turn":2}}
{"type":"step/start","seq":7,"time":1700000000008,"data":{"turn":2,"step":1}}
{"type":"user/message","seq":8,"time":1700000000009,"data":{"id":"m-3","role":"user","content":[{"type":"text","text":%q}],"source":{"kind":"user"}},"surfaceOp":"append"}
{"type":"assistant/message","seq":9,"time":1700000000010,"data":{"turn":2,"step":1,"message":{"id":"m-4","role":"assistant","content":[{"type":"tool-call","id":"call-1","name":"shell","arguments":%s}],"source":{"kind":"model","provider":"acme","model":"acme-1"}}},"surfaceOp":"append"}
{"type":"tool/call","seq":10,"time":1700000000011,"data":{"turn":2,"step":1,"callId":"call-1","name":"shell","arguments":%s}}
`, ask, arguments, arguments)
}

// add FILE TEXT appends TEXT as it is written, Go escapes resolved.
func addText(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "add FILE TEXT")
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	ts.Check(err)
	defer f.Close()
	_, err = f.WriteString(text)
	ts.Check(err)
}

// cut FILE N takes the last N bytes off.
func cutEnd(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "cut FILE N")
	p := ts.MkAbs(args[0])
	fi, err := os.Stat(p)
	ts.Check(err)
	ts.Check(os.Truncate(p, fi.Size()-int64(number(ts, args[1]))))
}

// nul FILE N appends N NUL bytes.
func addNUL(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "nul FILE N")
	p := ts.MkAbs(args[0])
	fi, err := os.Stat(p)
	ts.Check(err)
	ts.Check(os.Truncate(p, fi.Size()+int64(number(ts, args[1]))))
}

// poke FILE OLD NEW replaces the first OLD, Go escapes resolved in NEW.
func poke(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "poke FILE OLD NEW")
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[2], `"`, `\"`) + `"`)
	ts.Check(err)
	p := ts.MkAbs(args[0])
	data, err := os.ReadFile(p)
	ts.Check(err)
	if !bytes.Contains(data, []byte(args[1])) {
		ts.Fatalf("%s does not hold %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(p, bytes.Replace(data, []byte(args[1]), []byte(text), 1), 0o666))
}

// zstdframes IN OUT [N] compresses as the agent does: the header line in a frame of its own,
// then N lines (3 without N) in each.
func zstdFrames(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "zstdframes IN OUT [N]")
	n := 3
	if len(args) > 2 {
		n = number(ts, args[2])
	}
	data, err := os.ReadFile(ts.MkAbs(args[0]))
	ts.Check(err)
	fileOf(ts, args[1], frames(data, n))
}

func frames(text []byte, n int) []byte {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true), zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	out := e.EncodeAll(lines[0], nil)
	for lines = lines[1:]; len(lines) > 0 && len(lines[0]) > 0; {
		k := min(n, len(lines))
		out = append(out, e.EncodeAll(bytes.Join(lines[:k], nil), nil)...)
		lines = lines[k:]
	}
	return out
}

// hugeline FILE ID MB [torn] writes a session whose second record is a line of MB megabytes;
// torn cuts the file in the middle of it.
func hugeLine(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "hugeline FILE ID MB [torn]")
	text := sessionText(args[1], "/srv/app", "HERE", "Read.")
	head, tail, _ := strings.Cut(text, "HERE")
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	w := bufio.NewWriterSize(f, 1<<20)
	w.WriteString(head)
	block := strings.Repeat("0123456789abcdef", 1<<16)
	for range number(ts, args[2]) {
		w.WriteString(block)
	}
	if len(args) == 3 {
		w.WriteString(tail)
	}
	ts.Check(w.Flush())
	ts.Check(f.Close())
}

// deep FILE ID N writes a session with a record whose data nests N arrays.
func deep(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "deep FILE ID N")
	n := number(ts, args[2])
	text := sessionText(args[1], "/srv/app", "Nest.", "Nested.")
	text += `{"type":"plugin/deep","seq":6,"time":1700000000007,"data":{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `},"ignorable":true}` + "\n"
	fileOf(ts, args[0], []byte(text))
}

// rename OLD NEW moves a file to a name that is written with Go escapes.
func renameTo(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "rename OLD NEW")
	name, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	ts.Check(os.Rename(ts.MkAbs(args[0]), ts.MkAbs(name)))
}

// tempty DIR... wants directories without any file below them.
func treeEmpty(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "tempty DIR...")
	for _, dir := range args {
		ts.Check(filepath.WalkDir(ts.MkAbs(dir), func(p string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				err = fmt.Errorf("%s was left behind", p)
			}
			return err
		}))
	}
}

// count N TEXT FILE wants N lines of FILE (or stdout, stderr) to hold TEXT.
func countLines(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "count N TEXT FILE")
	n := 0
	for line := range strings.Lines(ts.ReadFile(args[2])) {
		if strings.Contains(line, args[1]) {
			n++
		}
	}
	if n != number(ts, args[0]) {
		ts.Fatalf("%d lines of %s hold %q, want %s", n, args[2], args[1], args[0])
	}
}

// caseof DIR SESSION VAR puts the newest case folder of a session below DIR into VAR.
func caseOf(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "caseof DIR SESSION VAR")
	found := casesOf(ts, args[0], args[1])
	if len(found) == 0 {
		ts.Fatalf("%s has no case", args[1])
	}
	ts.Setenv(args[2], found[len(found)-1])
}

// cases N SESSION wants N case folders of a session in the usual place.
func cases(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "cases N SESSION")
	if got := len(casesOf(ts, usualCases, args[1])); got != number(ts, args[0]) {
		ts.Fatalf("%s has %d cases, want %s", args[1], got, args[0])
	}
}

// casefile SESSION NAME TEXT wants TEXT in a file of a session's newest case.
func caseFile(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "casefile SESSION NAME TEXT")
	found := casesOf(ts, usualCases, args[0])
	if len(found) == 0 {
		ts.Fatalf("%s has no case", args[0])
	}
	if data := ts.ReadFile(filepath.Join(found[len(found)-1], args[1])); !strings.Contains(data, args[2]) {
		ts.Fatalf("%s does not hold %q:\n%s", args[1], args[2], data)
	}
}

const usualCases = "home/.local/state/sessfix/cases"

func casesOf(ts *testscript.TestScript, dir, session string) []string {
	found, err := filepath.Glob(filepath.Join(ts.MkAbs(dir), filepath.Base(session)+"-*", "[0-9]*"))
	ts.Check(err)
	return found
}

// binary FILE N writes N bytes that are no text: a fixed sequence that passes through every
// value.
func binary(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "binary FILE N")
	data := make([]byte, number(ts, args[1]))
	x := uint32(1)
	for i := range data {
		x = x*1664525 + 1013904223
		data[i] = byte(x >> 24)
	}
	fileOf(ts, args[0], data)
}

// head FILE N keeps the first N bytes.
func head(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "head FILE N")
	ts.Check(os.Truncate(ts.MkAbs(args[0]), int64(number(ts, args[1]))))
}

// verifyodd NAME gives commands a name that is written with Go escapes, which they cannot read.
func verifyOdd(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "verifyodd NAME")
	name, err := strconv.Unquote(`"` + args[0] + `"`)
	ts.Check(err)
	for _, c := range []string{"verify", "repair", "undo", "list"} {
		run(ts, false, []string{"2", c, name})
	}
	run(ts, false, []string{"2", "explain", name})
	run(ts, false, []string{"2", "--format", name})
}

// age DAY FILE... makes a day the one on which files were last changed.
func age(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "age DAY FILE...")
	day, err := time.Parse(time.DateOnly, args[0])
	ts.Check(err)
	for _, name := range args[1:] {
		ts.Check(os.Chtimes(ts.MkAbs(name), day, day))
	}
}

// sample NAME DIR copies a session of testdata/sessions that is a folder, and makes it a day old.
func sample(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "sample NAME DIR")
	dir, day := ts.MkAbs(args[1]), time.Now().Add(-24*time.Hour)
	ts.Check(os.CopyFS(dir, os.DirFS(filepath.Join("..", "testdata", "sessions", filepath.FromSlash(args[0])))))
	ts.Check(filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(p, day, day)
	}))
}

// samplefile NAME FILE copies a session of testdata/sessions that is a file, and makes it a day old.
func sampleFile(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "samplefile NAME FILE")
	copyAged(ts, filepath.Join("sessions", filepath.FromSlash(args[0])), args[1])
}

// corrupt NAME FILE does the same with a file of testdata/corrupt.
func corrupt(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "corrupt NAME FILE")
	copyAged(ts, filepath.Join("corrupt", filepath.FromSlash(args[0])), args[1])
}

func copyAged(ts *testscript.TestScript, from, to string) {
	data, err := os.ReadFile(filepath.Join("..", "testdata", from))
	ts.Check(err)
	fileOf(ts, to, data)
	day := time.Now().Add(-24 * time.Hour)
	ts.Check(os.Chtimes(ts.MkAbs(to), day, day))
}

// sessionin FILE ID DIR writes a session of one finished turn and one that is open, whose working directory is DIR.
func sessionIn(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 3, "sessionin FILE ID DIR")
	fileOf(ts, args[0], []byte(sessionText(args[1], ts.MkAbs(args[2]), "Bump the version.", "Bumped.")+openTurnText("make test", "Run the tests.")))
}

// register DIR SESSION writes an entry of a registry of processes, by which this one is at work on the session.
func register(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 2, "register DIR SESSION")
	pid := os.Getpid()
	fileOf(ts, fmt.Sprintf("%s/%d.json", args[0], pid), fmt.Appendf(nil, `{"pid":%d,"sessionId":%q}`, pid, args[1]))
}

// only NAME... wants the current directory to hold no other files than these.
func only(ts *testscript.TestScript, neg bool, args []string) {
	want(ts, neg, args, 1, "only NAME...")
	entries, err := os.ReadDir(ts.MkAbs("."))
	ts.Check(err)
	for _, e := range entries {
		if !slices.Contains(args, e.Name()) {
			ts.Fatalf("%s was left behind", e.Name())
		}
	}
}
