package cmd

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/fatih/color"
)

// printDump shows a place as rows of sixteen bytes.
//
//	00000400 > 7b 22[74 79 70 65 22 3a  22 74 75 72 6e]2f 73 74  |{"type":"turn/st|
//
// The arrow marks rows with faulty bytes, and the brackets where they begin and end; on a terminal they are red, and what stands
// around them is dim.
func (a *app) printDump(w io.Writer, d hexDump) {
	title := fmt.Sprintf("%s at %d (%#x), %s", d.Code, d.Offset, d.Offset, byteCount(d.Length))
	if d.Code == "" {
		title = fmt.Sprintf("%s at %d (%#x)", byteCount(d.Length), d.Offset, d.Offset)
	}
	fmt.Fprintf(w, "\n%s\n", a.paint(title, color.Bold))
	width := 8
	for i := range d.Bytes {
		if p := &d.Bytes[i]; p.Offset+p.Length > 1<<32 {
			width = 16
		}
	}
	blank := strings.Repeat(" ", width)
	marks := d.Begins
	for _, p := range d.Bytes {
		if p.data == nil {
			what := "not shown"
			if p.Fill != "" {
				what = "of " + p.Fill
			}
			mark := ' '
			if d.faulty(p.Offset) || d.faulty(p.Offset+p.Length-1) {
				mark = '>'
			}
			fmt.Fprintf(w, "%s %c … %s %s …\n", blank, mark, byteCount(p.Length), what)
			continue
		}
		for off := p.Offset; off < p.Offset+p.Length; off += rowLen {
			row := p.data[off-p.Offset:]
			row = row[:min(rowLen, len(row))]
			for len(marks) > 0 && marks[0].Offset < off+int64(len(row)) {
				text := fmt.Sprintf("%s begins at %d", marks[0].What, marks[0].Offset)
				fmt.Fprintf(w, "%s   %s\n", blank, a.paint(text, color.FgCyan))
				marks = marks[1:]
			}
			a.printRow(w, &d, width, off, row)
		}
	}
}

// faulty tells whether a byte is damaged.
func (d *hexDump) faulty(off int64) bool {
	for _, r := range d.faults {
		if off >= r.Offset && off < r.Offset+r.Length {
			return true
		}
	}
	return false
}

// tone is how a byte is shown.
func (d *hexDump) tone(off int64) color.Attribute {
	switch {
	case d.faulty(off):
		return color.FgRed
	case off >= d.Offset && off < d.Offset+d.Length:
		return color.Reset
	}
	return color.Faint
}

func (a *app) printRow(w io.Writer, d *hexDump, width int, off int64, row []byte) {
	var codes, letters toned
	mark := " "
	for i := range rowLen {
		at := off + int64(i)
		gap := []byte(" ")
		if i == rowLen/2 {
			gap = []byte("  ")
		}
		here, before := i < len(row) && d.faulty(at), d.faulty(at-1)
		if here {
			mark = ">"
		}
		if here && !before {
			gap[len(gap)-1] = '['
		}
		if i > 0 && before && !here {
			gap[0] = ']'
		}
		if i >= len(row) {
			codes.add(string(gap)+"  ", color.Reset)
			continue
		}
		tone := d.tone(at)
		codes.add(string(gap), color.Reset)
		codes.add(fmt.Sprintf("%02x", row[i]), tone)
		c := "."
		if row[i] >= ' ' && row[i] <= '~' {
			c = string(rune(row[i]))
		}
		letters.add(c, tone)
	}
	end := " "
	if len(row) == rowLen && d.faulty(off+rowLen-1) && !d.faulty(off+rowLen) {
		end = "]"
	}
	fmt.Fprintf(w, "%0*x %s%s%s |%s|\n", width, off, mark, codes.text(a), end, letters.text(a))
}

// toned is text in several tones.
type toned struct {
	parts []string
	tones []color.Attribute
}

func (t *toned) add(text string, tone color.Attribute) {
	if n := len(t.tones); n > 0 && (t.tones[n-1] == tone || strings.TrimSpace(text) == "") {
		t.parts[n-1] += text
		return
	}
	t.parts, t.tones = append(t.parts, text), append(t.tones, tone)
}

func (t *toned) text(a *app) string {
	var b strings.Builder
	for i, p := range t.parts {
		if t.tones[i] == color.Reset {
			b.WriteString(p)
		} else {
			b.WriteString(a.paint(p, t.tones[i]))
		}
	}
	return b.String()
}

// byteCount says how many bytes.
func byteCount(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	return thousands(n) + " bytes"
}

// thousands writes a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
