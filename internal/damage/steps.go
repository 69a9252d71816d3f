package damage

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/sessfix/sessfix/scan"
)

var errArgs = errors.New("the step does not take these arguments")

// step is how a verb is written and what it does.
type step struct {
	usage string
	do    func(p *Part, a args) error
}

type args []string

// num is a number, counted from the other end where it is negative.
func (a args) num(i int) int {
	v, err := strconv.Atoi(a[i])
	if err != nil {
		panic(errArgs) // Do turns it into an error
	}
	return v
}

func (a args) word(i int, want string) {
	if a[i] != want {
		panic(errArgs)
	}
}

// steps are all verbs but from, beside, in and remove. Lines and frames count from 1; in a packed part a step
// about lines writes the frame that holds them again.
var steps = map[string]step{
	// Stored bytes.
	"cut":        {"cut N | cut line L at K", cut},
	"nul":        {"nul N at OFFSET | nul N end", nul},
	"zero":       {"zero N at OFFSET", zero},
	"flip":       {"flip frame F byte K bit B | flip line L byte K bit B", flip},
	"append-raw": {"append-raw TEXT", func(p *Part, a args) error { return p.store(p.size(), 0, []byte(a[0])) }},
	"bom":        {"bom", func(p *Part, a args) error { return p.store(0, 0, []byte("\xEF\xBB\xBF")) }},

	// Frames.
	"torn-frame":   {"torn-frame F -N (bytes cut off its end; the file ends there if it is the last)", tornFrame},
	"drop-frame":   {"drop-frame F", func(p *Part, a args) error { return p.moveFrame(a.num(0), 0, 0) }},
	"repeat-frame": {"repeat-frame F", func(p *Part, a args) error { return p.moveFrame(a.num(0), 2, a.num(0)) }},
	"swap-frames":  {"swap-frames F G", swapFrames},
	"raw-frame":    {"raw-frame F TEXT (bytes in front of a frame)", rawFrame},
	"skippable":    {"skippable F TEXT (a skippable frame in front of a frame)", skippable},
	"empty-frame":  {"empty-frame F (a frame of no text in front of a frame)", emptyFrame},
	"unchecked":    {"unchecked F (written again without checksum)", unchecked},
	"frame":        {"frame LINES... (the whole text in new frames, for example 1 2-5 6-12)", reframe},

	// Lines.
	"append-line":  {"append-line TEXT", func(p *Part, a args) error { return p.splice(len(p.Text()), 0, []byte(a[0]+"\n")) }},
	"insert-line":  {"insert-line L TEXT (in front of line L)", insertLine},
	"blank-line":   {"blank-line L (in front of line L)", blankLine},
	"nul-line":     {"nul-line L N (in front of line L)", nulLine},
	"nul-pad":      {"nul-pad L N (behind line L, in front of its newline)", nulPad},
	"drop-line":    {"drop-line L", dropLine},
	"drop-newline": {"drop-newline end", dropNewline},
	"repeat-line":  {"repeat-line L", func(p *Part, a args) error { return p.copyLine(a.num(0), a.num(0)+1) }},
	"copy-line":    {"copy-line L to M (in front of line M)", copyLine},
	"glue":         {"glue L (to the next line)", func(p *Part, a args) error { return p.glue(a.num(0), -1) }},
	"glue-torn":    {"glue-torn L at K (to the next line, after cutting it there)", glueTorn},
	"torn-line":    {"torn-line L at K", tornLine},
	"torn-head":    {"torn-head L at K (the first K bytes are gone)", tornHead},
	"split-line":   {"split-line L behind TEXT", splitLine},
	"replace":      {"replace line L OLD NEW (the first time OLD stands there)", replace},
	"crlf":         {"crlf", crlf},
}

// Verbs lists how the steps are written.
func Verbs() []string {
	var out []string
	for _, s := range steps {
		out = append(out, s.usage)
	}
	return out
}

// Do takes one step.
func (p *Part) Do(s Step) (err error) {
	v, ok := steps[s.Verb]
	if !ok {
		return fmt.Errorf("unknown step %q", s.Verb)
	}
	defer func() {
		switch x := recover().(type) {
		case nil:
		case error:
			err = fmt.Errorf("%w (%w): %s", errArgs, x, v.usage)
		default:
			panic(x)
		}
	}()
	return v.do(p, s.Args)
}

func (p *Part) size() int { return len(p.Bytes()) }

func cut(p *Part, a args) error {
	if a[0] == "line" {
		off, n, err := p.lineAt(a.num(1))
		a.word(2, "at")
		if err != nil || p.Packed || a.num(3) > n {
			return errors.Join(err, errArgs)
		}
		p.cut(off + a.num(3))
		return nil
	}
	n := a.num(0)
	if n < 0 {
		n += p.size()
	}
	if n < 0 || n > p.size() {
		return fmt.Errorf("the file has %d bytes", p.size())
	}
	p.cut(n)
	return nil
}

func nul(p *Part, a args) error {
	at := p.size()
	if a[1] != "end" {
		a.word(1, "at")
		at = a.num(2)
	}
	return p.store(at, 0, make([]byte, a.num(0)))
}

func zero(p *Part, a args) error {
	a.word(1, "at")
	return p.store(a.num(2), a.num(0), make([]byte, a.num(0)))
}

func flip(p *Part, a args) error {
	a.word(2, "byte")
	a.word(4, "bit")
	off, n, err := 0, 0, error(nil)
	if a[0] == "frame" {
		off, n, err = p.FrameOffset(a.num(1))
	} else {
		a.word(0, "line")
		off, n, err = p.lineAt(a.num(1))
	}
	k := a.num(3)
	if k < 0 {
		k += n
	}
	if err != nil || k < 0 || k >= n {
		return errors.Join(err, errArgs)
	}
	return p.store(off+k, 1, []byte{p.Bytes()[off+k] ^ 1<<a.num(5)})
}

func tornFrame(p *Part, a args) error {
	i, err := p.frameIndex(a.num(0))
	if err != nil {
		return err
	}
	c := &p.chunks[i]
	n := len(c.raw) + a.num(1)
	if n <= 0 || n >= len(c.raw) {
		return fmt.Errorf("the frame has %d bytes", len(c.raw))
	}
	c.raw, c.text = c.raw[:n], nil
	return nil
}

// moveFrame puts so many copies of a frame in the place of one.
func (p *Part) moveFrame(f, copies, _ int) error {
	i, err := p.frameIndex(f)
	if err != nil {
		return err
	}
	var out []chunk
	out = append(out, p.chunks[:i]...)
	for range copies {
		out = append(out, p.chunks[i])
	}
	p.chunks = append(out, p.chunks[i+1:]...)
	return nil
}

func swapFrames(p *Part, a args) error {
	i, err := p.frameIndex(a.num(0))
	j, err2 := p.frameIndex(a.num(1))
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	p.chunks[i], p.chunks[j] = p.chunks[j], p.chunks[i]
	return nil
}

// before puts a chunk in front of a frame, at the end where the frame is one behind the last.
func (p *Part) before(f int, c chunk) error {
	i := len(p.chunks)
	if f != p.frames()+1 {
		var err error
		if i, err = p.frameIndex(f); err != nil {
			return err
		}
	}
	p.chunks = append(p.chunks[:i:i], append([]chunk{c}, p.chunks[i:]...)...)
	return nil
}

func rawFrame(p *Part, a args) error { return p.before(a.num(0), chunk{raw: []byte(a[1])}) }

func skippable(p *Part, a args) error {
	n := len(a[1])
	raw := append([]byte{0x50, 0x2A, 0x4D, 0x18, byte(n), byte(n >> 8), 0, 0}, a[1]...)
	return p.before(a.num(0), chunk{raw: raw})
}

func emptyFrame(p *Part, a args) error {
	return p.before(a.num(0), chunk{raw: []byte{0x28, 0xB5, 0x2F, 0xFD, 0x24, 0, 1, 0, 0, 0x99, 0xE9, 0xD8, 0x51}, text: []byte{}, frame: true})
}

func unchecked(p *Part, a args) error {
	i, err := p.frameIndex(a.num(0))
	if err != nil {
		return err
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false))
	if err != nil {
		return err
	}
	defer e.Close()
	p.chunks[i].raw = e.EncodeAll(p.chunks[i].text, nil)
	return nil
}

func reframe(p *Part, a args) error {
	lines := p.Lines()
	var out []chunk
	next := 1
	for _, r := range a {
		from, to, err := Range(r)
		if err != nil || from != next || to > len(lines) {
			return fmt.Errorf("lines %s do not follow line %d of %d", r, next-1, len(lines))
		}
		text := append(bytes.Join(lines[from-1:to], []byte("\n")), '\n')
		out = append(out, chunk{raw: scan.EncodeFrame(nil, text), text: text, frame: true})
		next = to + 1
	}
	if next != len(lines)+1 {
		return fmt.Errorf("lines from %d on have no frame", next)
	}
	p.chunks, p.Packed = out, true
	return nil
}

// Range reads 7 or 7-9.
func Range(s string) (from, to int, err error) {
	a, b, two := strings.Cut(s, "-")
	if from, err = strconv.Atoi(a); err != nil {
		return 0, 0, err
	}
	to = from
	if two {
		to, err = strconv.Atoi(b)
	}
	return from, to, err
}

// startOf is where line n begins, the end of the text for the line behind the last.
func (p *Part) startOf(n int) (int, error) {
	if n == len(p.Lines())+1 {
		return len(p.Text()), nil
	}
	off, _, err := p.lineAt(n)
	return off, err
}

func (p *Part) insert(n int, text []byte) error {
	off, err := p.startOf(n)
	if err != nil {
		return err
	}
	return p.splice(off, 0, append(bytes.Clone(text), '\n'))
}

func insertLine(p *Part, a args) error { return p.insert(a.num(0), []byte(a[1])) }
func blankLine(p *Part, a args) error  { return p.insert(a.num(0), nil) }
func nulLine(p *Part, a args) error    { return p.insert(a.num(0), make([]byte, a.num(1))) }

func nulPad(p *Part, a args) error {
	off, n, err := p.lineAt(a.num(0))
	if err != nil {
		return err
	}
	return p.splice(off+n, 0, make([]byte, a.num(1)))
}

func dropLine(p *Part, a args) error {
	off, n, err := p.lineAt(a.num(0))
	if err != nil {
		return err
	}
	return p.splice(off, min(n+1, len(p.Text())-off), nil)
}

func dropNewline(p *Part, a args) error {
	a.word(0, "end")
	text := p.Text()
	if !bytes.HasSuffix(text, []byte("\n")) {
		return errors.New("there is none")
	}
	return p.splice(len(text)-1, 1, nil)
}

func (p *Part) copyLine(n, to int) error {
	off, length, err := p.lineAt(n)
	if err != nil {
		return err
	}
	return p.insert(to, p.Text()[off:off+length])
}

func copyLine(p *Part, a args) error {
	a.word(1, "to")
	return p.copyLine(a.num(0), a.num(2))
}

// glue removes the newline behind a line, and what stands behind its first keep bytes.
func (p *Part) glue(n, keep int) error {
	off, length, err := p.lineAt(n)
	if err != nil {
		return err
	}
	if keep < 0 {
		keep = length
	}
	if keep > length || off+length+1 >= len(p.Text()) {
		return errArgs
	}
	return p.splice(off+keep, length-keep+1, nil)
}

func glueTorn(p *Part, a args) error {
	a.word(1, "at")
	return p.glue(a.num(0), a.num(2))
}

func tornLine(p *Part, a args) error {
	a.word(1, "at")
	off, n, err := p.lineAt(a.num(0))
	if err != nil || a.num(2) >= n {
		return errors.Join(err, errArgs)
	}
	return p.splice(off+a.num(2), n-a.num(2), nil)
}

func tornHead(p *Part, a args) error {
	a.word(1, "at")
	off, n, err := p.lineAt(a.num(0))
	if err != nil || a.num(2) >= n {
		return errors.Join(err, errArgs)
	}
	return p.splice(off, a.num(2), nil)
}

func splitLine(p *Part, a args) error {
	a.word(1, "behind")
	off, n, err := p.lineAt(a.num(0))
	if err != nil {
		return err
	}
	i := bytes.Index(p.Text()[off:off+n], []byte(a[2]))
	if i < 0 {
		return fmt.Errorf("%q does not stand there", a[2])
	}
	return p.splice(off+i+len(a[2]), 0, []byte("\n"))
}

func replace(p *Part, a args) error {
	a.word(0, "line")
	off, n, err := p.lineAt(a.num(1))
	if err != nil {
		return err
	}
	i := bytes.Index(p.Text()[off:off+n], []byte(a[2]))
	if i < 0 {
		return fmt.Errorf("%q does not stand there", a[2])
	}
	return p.splice(off+i, len(a[2]), []byte(a[3]))
}

func crlf(p *Part, a args) error {
	for n := len(p.Lines()); n > 0; n-- {
		off, length, err := p.lineAt(n)
		if err != nil {
			return err
		}
		if err := p.splice(off+length, 0, []byte("\r")); err != nil {
			return err
		}
	}
	return nil
}
