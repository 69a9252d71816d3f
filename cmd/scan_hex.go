package cmd

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/scan"
)

const (
	rowLen     = 16
	contextLen = 2 * rowLen
	// sameRows is how many rows of one byte are told by their number.
	sameRows = 3
	// headRows and tailRows are what is shown of a long place.
	headRows, tailRows = 12, 6
	// hiddenRows are worth being left out.
	hiddenRows = 8
	// wholeLen is how much of a place is looked at byte by byte.
	wholeLen = 64 << 10
	// maxDumps is how many faults of a file are shown.
	maxDumps = 100
	// lookLen is how much --at shows where no length is named.
	lookLen = 256
)

// hexDump is a place of a file, byte by byte.
type hexDump struct {
	Code   string `json:"code,omitempty"`
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
	// Bytes are in order and without holes; those of which neither hex nor fill is there are not shown.
	Bytes []hexPiece `json:"bytes"`
	// Damaged are the faulty ones among them.
	Damaged []hexRange `json:"damaged,omitempty"`
	// Begins are the lines and frames that begin there.
	Begins []hexMark  `json:"begins,omitempty"`
	faults []hexRange // the same, whole: some begin or end in what is not shown
}

type hexPiece struct {
	Offset int64  `json:"offset"`
	Length int64  `json:"length"`
	Hex    string `json:"hex,omitempty"`
	Fill   string `json:"fill,omitempty"` // all are this byte
	data   []byte
}

type hexRange struct {
	Offset int64 `json:"offset"`
	Length int64 `json:"length"`
}

type hexMark struct {
	Offset int64  `json:"offset"`
	What   string `json:"what"`
}

// hexView makes dumps of one file.
type hexView struct {
	r       io.ReaderAt
	size    int64
	damaged []hexRange
	regions []scan.Region // of a compressed file
	counted int64         // of a plain file: up to here
	lines   int64         // there are so many newlines
	plain   bool
}

// newHexView looks at a file of which these are the faults.
func newHexView(r io.ReaderAt, size int64, medium string, faults []finding.Finding) (*hexView, error) {
	v := &hexView{r: r, size: size, plain: medium == scan.Lines}
	for i := range faults {
		if f := &faults[i]; f.Damage() && f.Len > 0 {
			v.damaged = append(v.damaged, hexRange{f.Off, f.Len})
		}
	}
	sort.Slice(v.damaged, func(i, j int) bool { return v.damaged[i].Offset < v.damaged[j].Offset })
	if v.plain {
		return v, nil
	}
	w := scan.NewFrameWalker(r, size, nil)
	defer w.Close()
	var text []byte
	for {
		g, out, err := w.Next(text[:0])
		if errors.Is(err, io.EOF) {
			return v, nil
		}
		if err != nil {
			return nil, err
		}
		if g.Streamed {
			in, err := w.Stream(g)
			if err != nil {
				return nil, err
			}
			n, err := io.Copy(io.Discard, in)
			if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
				return nil, err
			}
			w.Streamed(n)
		}
		text = out
		v.regions = append(v.regions, g)
	}
}

// fault shows a fault with what stands around it.
func (v *hexView) fault(f *finding.Finding) (hexDump, error) {
	d := hexDump{Code: string(f.Code), Offset: f.Off, Length: f.Len}
	return d, v.fill(&d, contextLen, headRows+tailRows)
}

// place shows any place. A negative offset counts from the end.
func (v *hexView) place(at, length int64) (hexDump, error) {
	if at < 0 {
		at += v.size
	}
	if at < 0 || at >= v.size && v.size > 0 || length < 1 {
		return hexDump{}, fmt.Errorf("there is nothing at %d: the file has %d bytes", at, v.size)
	}
	d := hexDump{Offset: at, Length: min(length, v.size-at)}
	return d, v.fill(&d, 0, wholeLen/rowLen)
}

// fill reads the bytes of a dump.
func (v *hexView) fill(d *hexDump, context int64, rows int) error {
	lo := max(d.Offset/rowLen*rowLen-context, 0)
	hi := min((d.Offset+max(d.Length, 1)+rowLen-1)/rowLen*rowLen+context, v.size)
	head, tail := lo+headRows*rowLen, hi-tailRows*rowLen
	tail = tail / rowLen * rowLen
	if hi-lo <= wholeLen {
		head, tail = hi, hi
	}
	if err := v.countTo(lo); err != nil {
		return err
	}
	for _, part := range []struct {
		from, to int64
		shown    bool
	}{{lo, head, true}, {head, tail, false}, {tail, hi, true}} {
		var err error
		if part.shown {
			err = v.show(d, part.from, part.to)
		} else if part.from < part.to {
			err = v.hide(d, part.from, part.to)
		}
		if err != nil {
			return err
		}
	}
	d.shorten(rows)
	for _, r := range v.damaged {
		from, to := max(r.Offset, lo), min(r.Offset+r.Length, hi)
		if from < to {
			d.Damaged = append(d.Damaged, hexRange{from, to - from})
			d.faults = append(d.faults, r)
		}
	}
	for _, g := range v.regions {
		if g.Off >= lo && g.Off < hi {
			d.Begins = append(d.Begins, hexMark{g.Off, regionWords(g)})
		}
	}
	d.Begins = keepShown(d.Begins, d.Bytes)
	return nil
}

// countTo makes it known how many newlines stand in front of a place.
func (v *hexView) countTo(at int64) error {
	if !v.plain {
		return nil
	}
	from, to, sign := v.counted, at, int64(1)
	if at < from {
		from, to, sign = at, from, -1
	}
	_, lines, err := v.sum(from, to)
	v.counted, v.lines = at, v.lines+sign*lines
	return err
}

// sum reads a stretch: whether all of it is one byte, and how many newlines are in it.
func (v *hexView) sum(from, to int64) (same []byte, lines int64, err error) {
	buf := make([]byte, min(to-from, 1<<20))
	one := true
	for from < to {
		b := buf[:min(int64(len(buf)), to-from)]
		if n, err := v.r.ReadAt(b, from); n < len(b) {
			return nil, lines, fmt.Errorf("read at %d: %w", from, err)
		}
		lines += int64(bytes.Count(b, []byte{'\n'}))
		if same == nil {
			same = []byte{b[0]}
		}
		one = one && bytes.Count(b, same) == len(b)
		from += int64(len(b))
	}
	if !one {
		same = nil
	}
	return same, lines, nil
}

// show adds bytes row by row; those of one kind for many rows are only counted.
func (v *hexView) show(d *hexDump, from, to int64) error {
	data := make([]byte, to-from)
	if n, err := v.r.ReadAt(data, from); n < len(data) {
		return fmt.Errorf("read at %d: %w", from, err)
	}
	if v.plain && len(data) > 0 {
		if from == 0 {
			d.Begins = append(d.Begins, hexMark{0, "line 1"})
		} else {
			before := make([]byte, 1)
			if _, err := v.r.ReadAt(before, from-1); err == nil && before[0] == '\n' {
				d.Begins = append(d.Begins, hexMark{from, fmt.Sprintf("line %d", v.lines+1)})
			}
		}
		for i, b := range data {
			if b != '\n' {
				continue
			}
			v.lines++
			if at := from + int64(i) + 1; at < v.size && i+1 < len(data) {
				d.Begins = append(d.Begins, hexMark{at, fmt.Sprintf("line %d", v.lines+1)})
			}
		}
		v.counted = to
	}
	for len(data) > 0 {
		n := min(rowLen, len(data))
		same := 0
		for same+rowLen <= len(data) && bytes.Count(data[same:same+rowLen], data[:1]) == rowLen {
			same += rowLen
		}
		p := hexPiece{Offset: from, Length: int64(n), data: data[:n]}
		if same >= sameRows*rowLen {
			n = same
			p = hexPiece{Offset: from, Length: int64(n), Fill: hex.EncodeToString(data[:1])}
		}
		d.Bytes = append(d.Bytes, p)
		data, from = data[n:], from+int64(n)
	}
	return nil
}

// hide adds bytes that are only counted.
func (v *hexView) hide(d *hexDump, from, to int64) error {
	same, lines, err := v.sum(from, to)
	if err != nil {
		return err
	}
	if v.plain {
		v.counted, v.lines = to, v.lines+lines
	}
	d.Bytes = append(d.Bytes, hexPiece{Offset: from, Length: to - from, Fill: hex.EncodeToString(same)})
	return nil
}

// shorten leaves out the middle of what is long, joins rows, and writes them in hex.
func (d *hexDump) shorten(rows int) {
	if n := len(d.Bytes); n > rows+hiddenRows {
		first, last := d.Bytes[headRows], d.Bytes[n-tailRows-1]
		gap := hexPiece{Offset: first.Offset, Length: last.Offset + last.Length - first.Offset}
		if first.Offset == last.Offset {
			gap = first
		}
		d.Bytes = append(append(d.Bytes[:headRows:headRows], gap), d.Bytes[n-tailRows:]...)
	}
	var out []hexPiece
	for _, p := range d.Bytes {
		last := len(out) - 1
		switch {
		case last >= 0 && p.data != nil && out[last].data != nil:
			out[last].data = append(out[last].data[:len(out[last].data):len(out[last].data)], p.data...)
			out[last].Length += p.Length
		case last >= 0 && p.data == nil && out[last].data == nil && p.Fill == out[last].Fill:
			out[last].Length += p.Length
		default:
			out = append(out, p)
		}
	}
	for i := range out {
		out[i].Hex = hex.EncodeToString(out[i].data)
	}
	d.Bytes = out
}

// keepShown leaves marks out that stand in what is not shown.
func keepShown(marks []hexMark, pieces []hexPiece) (out []hexMark) {
	for _, m := range marks {
		for _, p := range pieces {
			if p.data != nil && m.Offset >= p.Offset && m.Offset < p.Offset+p.Length {
				out = append(out, m)
			}
		}
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Offset < out[j].Offset })
	return out
}

// regionWords names a stretch of a compressed file.
func regionWords(g scan.Region) string {
	name := fmt.Sprintf("frame %d", g.Frame)
	switch g.Kind {
	case scan.WholeFrame:
		if !g.Checksum {
			return name + " (without checksum)"
		}
		return name
	case scan.TornFrame:
		return name + " (incomplete)"
	case scan.SkippableFrame:
		return "a skippable frame"
	case scan.RawText:
		return "plain text"
	case scan.Garbage:
		return "bytes of no frame"
	case scan.NulBytes:
		return "NUL bytes"
	}
	return name + " (damaged)"
}

// hexPlace reads the numbers of --at and --length: decimal, or hexadecimal behind 0x.
func hexPlace(at, length string) (from, n int64, err error) {
	if from, err = strconv.ParseInt(at, 0, 64); err != nil {
		return 0, 0, fmt.Errorf("--at %q is no offset", at)
	}
	n = lookLen
	if length != "" {
		if n, err = strconv.ParseInt(length, 0, 64); err != nil || n < 1 {
			return 0, 0, fmt.Errorf("--length %q is no number of bytes", length)
		}
	}
	return from, n, nil
}

// check judges the flags about bytes.
func (o *scanOptions) check(args []string) error {
	switch {
	case o.at == "" && o.length != "":
		return errors.New("--length goes with --at")
	case o.at == "":
		return nil
	case len(args) > 1:
		return errors.New("--at looks at a single file")
	}
	_, _, err := hexPlace(o.at, o.length)
	return err
}

// dumps are those that are asked for.
func (o *scanOptions) dumps(r io.ReaderAt, m *byteMap, list []finding.Finding) error {
	if !o.hex && o.at == "" {
		return nil
	}
	v, err := newHexView(r, m.Size, m.Medium, list)
	if err != nil {
		return err
	}
	if o.at != "" {
		from, n, err := hexPlace(o.at, o.length)
		if err != nil {
			return err
		}
		d, err := v.place(from, n)
		if err != nil {
			return err
		}
		m.Dumps = append(m.Dumps, d)
	}
	for i := range list {
		if !o.hex {
			break
		}
		if i == maxDumps {
			m.more = len(list) - i
			break
		}
		d, err := v.fault(&list[i])
		if err != nil {
			return err
		}
		m.Dumps = append(m.Dumps, d)
	}
	return nil
}
