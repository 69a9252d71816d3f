package scan_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/scan"
)

// region is a stretch of a compressed file with its text.
type region struct {
	scan.Region
	text string
}

// walk divides a file into regions. They must cover it without holes, whatever it holds.
func walk(t testing.TB, file []byte) []region {
	t.Helper()
	w := scan.NewFrameWalker(bytes.NewReader(file), int64(len(file)), bare.Starts)
	defer w.Close()
	var out []region
	at, text, frame := int64(0), int64(0), int64(0)
	for {
		g, b, err := w.Next(nil)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%x: %v", short(file), err)
		}
		if g.Streamed {
			r, err := w.Stream(g)
			if err != nil {
				t.Fatal(err)
			}
			if b, err = io.ReadAll(r); err != nil {
				t.Fatal(err)
			}
			g.TextLen = int64(len(b))
			w.Streamed(g.TextLen)
		}
		if g.Off != at || g.Len <= 0 || g.Text != text || g.TextLen != int64(len(b)) {
			t.Fatalf("%x: region %+v behind %d bytes and %d of text", short(file), g, at, text)
		}
		if g.Frame != 0 {
			if frame++; g.Frame != frame {
				t.Fatalf("%x: frame %d is numbered %d", short(file), frame, g.Frame)
			}
		}
		at, text = at+g.Len, text+g.TextLen
		out = append(out, region{g, string(b)})
	}
	if at != int64(len(file)) {
		t.Fatalf("%x: regions end at %d of %d", short(file), at, len(file))
	}
	return out
}

func pack(texts ...string) []byte {
	var z []byte
	for _, s := range texts {
		z = scan.EncodeFrame(z, []byte(s))
	}
	return z
}

// packPlain makes a frame without checksum.
func packPlain(text string) []byte {
	e, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(false))
	if err != nil {
		panic(err)
	}
	defer e.Close()
	return e.EncodeAll([]byte(text), nil)
}

func skippable(n int) []byte {
	b := binary.LittleEndian.AppendUint32([]byte{0x5A, 0x2A, 0x4D, 0x18}, uint32(n))
	return append(b, make([]byte, n)...)
}

func flip(z []byte, at int, mask byte) []byte {
	z = bytes.Clone(z)
	if at < 0 {
		at += len(z)
	}
	z[at] ^= mask
	return z
}

// lines are n records from number n0 on.
func lines(from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"t":"line","n":%d,"s":"%x"}`+"\n", from+i, (from+i)*2654435761)
	}
	return b.String()
}

func TestRegions(t *testing.T) {
	const (
		whole, reserved, torn, damaged, checksum = scan.WholeFrame, scan.ReservedFrame, scan.TornFrame, scan.DamagedFrame, scan.ChecksumFrame
		flipped, skip, raw, garbage, nuls        = scan.FlippedFrame, scan.SkippableFrame, scan.RawText, scan.Garbage, scan.NulBytes
	)
	head, body, last := lines(0, 1), lines(1, 40), lines(41, 1)
	zh, zb, zl := pack(head), pack(body), pack(last)
	join := slices.Concat[[]byte]
	type kinds = []scan.RegionKind
	for _, c := range []struct {
		name  string
		file  []byte
		kinds kinds
		text  string
		found string // code/where, of what needs mending
	}{
		{"whole", join(zh, zb, zl), kinds{whole, whole, whole}, head + body + last, ""},
		{"empty file", nil, nil, "", ""},
		{"empty frame", join(zh, pack(""), zl), kinds{whole, whole, whole}, head + last, "FRAME_UNVERIFIABLE/mid"},
		{"torn tail without whole line", join(zh, zl[:len(zl)-6]), kinds{whole, torn}, head, "TORN_FRAME/tail"},
		{"torn in the magic", join(zh, zb, zl[:2]), kinds{whole, whole, torn}, head + body, "TORN_FRAME/tail"},
		{"torn in the header", join(zh, zb, zl[:5]), kinds{whole, whole, torn}, head + body, "TORN_FRAME/tail"},
		{"torn in the checksum", join(zh, zb[:len(zb)-2]), kinds{whole, torn}, head + body, "TORN_FRAME/tail"},
		{"torn in the middle", join(zh, zb[:len(zb)-2], zl), kinds{whole, torn, whole}, head + body + last, "TORN_FRAME/mid"},
		{"damaged", join(zh, flip(flip(zb, len(zb)/2, 0x10), len(zb)/3, 0x33), zl), kinds{whole, damaged, whole}, head + last, "FRAME_CHECKSUM/mid"},
		{"damaged last", join(zh, flip(flip(zl, 12, 0x10), 20, 0x77)), kinds{whole, damaged}, head, "FRAME_CHECKSUM/tail"},
		{"one wrong bit", join(zh, flip(zb, len(zb)/2, 0x10), zl), kinds{whole, flipped, whole}, head + body + last, ""},
		{"one wrong bit in the magic", join(zh, flip(zb, 1, 0x10), zl), kinds{whole, flipped, whole}, head + body + last, ""},
		{"one bit of the checksum", join(zh, flip(zb, -2, 0x10), zl), kinds{whole, checksum, whole}, head + body + last, "FRAME_CHECKSUM/turned"},
		{"one byte of the checksum", join(zh, flip(zb, -2, 0x11), zl), kinds{whole, checksum, whole}, head + body + last, "FRAME_CHECKSUM/turned"},
		{"two bytes of the checksum", join(zh, flip(flip(zb, -2, 0x11), -3, 0x40), zl), kinds{whole, damaged, whole}, head + last, "FRAME_CHECKSUM/mid"},
		{"reserved bit", join(zh, flip(zb, 4, 0x08), zl), kinds{whole, reserved, whole}, head + body + last, "FRAME_HEADER/turned"},
		{"broken block type", join(zh, flip(zb, bytes.IndexByte(zb[6:], zb[6])+6, 0x06), zl), nil, "", ""},
		{"skippable", join(zh, skippable(5), zl), kinds{whole, skip, whole}, head + last, "FRAME_SKIPPABLE/mid"},
		{"empty skippable", join(zh, skippable(0), zl), kinds{whole, skip, whole}, head + last, "FRAME_SKIPPABLE/mid"},
		{"skippable cut short", join(zh, skippable(5)[:10]), kinds{whole, garbage}, head, "FRAME_GARBAGE/tail"},
		{"raw text behind", join(zh, []byte(last)), kinds{whole, raw}, head + last, "RAW_AFTER_FRAME/tail"},
		{"raw text between", join(zh, []byte(body), zl), kinds{whole, raw, whole}, head + body + last, "RAW_AFTER_FRAME/mid"},
		{"raw text in front", join([]byte(head), zl), kinds{raw, whole}, head + last, "RAW_AFTER_FRAME/first"},
		{"garbage behind", join(zh, zb, []byte("Killed")), kinds{whole, whole, garbage}, head + body, "FRAME_GARBAGE/tail"},
		{"garbage between", join(zh, []byte{1, 2, 3, 0x28, 0xB5}, zl), kinds{whole, garbage, whole}, head + last, "FRAME_GARBAGE/mid"},
		{"foreign records are garbage", join(zh, []byte(`{"x":1}`+"\n"), zl), kinds{whole, garbage, whole}, head + last, "FRAME_GARBAGE/mid"},
		{"NULs behind", join(zh, zb, make([]byte, 100)), kinds{whole, whole, nuls}, head + body, "NUL_TAIL/framed"},
		{"NULs between", join(zh, make([]byte, 7), zl), kinds{whole, nuls, whole}, head + last, "FRAME_GARBAGE/framed"},
		{"torn, then NULs", join(zh, zl[:len(zl)-6], make([]byte, 50)), nil, head, ""},
		{"without checksum", join(zh, packPlain(body), packPlain(last)), kinds{whole, whole, whole}, head + body + last, "FRAME_UNVERIFIABLE/mid"},
		{"magic inside garbage", join(zh, zb[:4], zb[:4], zl), kinds{whole, torn, whole}, head + last, "TORN_FRAME/mid"},
		{"header frame with more", join(pack(head+body), zl), kinds{whole, whole}, head + body + last, "HEADER_FRAME/mid"},
	} {
		t.Run(c.name, func(t *testing.T) {
			regions := walk(t, c.file)
			var got kinds
			text := ""
			for _, g := range regions {
				got = append(got, g.Kind)
				text += g.text
			}
			if c.kinds != nil && !slices.Equal(got, c.kinds) {
				t.Errorf("kinds are %v, want %v", got, c.kinds)
			}
			if c.text != "" && text != c.text {
				t.Errorf("text is %q, want %q", text, c.text)
			}
			f := bare
			f.HeaderFrame = true
			s := look(t, scan.Frames, f, c.file)
			var found []string
			for _, n := range s.findings {
				found = append(found, string(n.Code)+"/"+n.Where)
				if n.Off < 0 || n.End() > int64(len(c.file)) {
					t.Errorf("%s at %d, %d bytes", n.Code, n.Off, n.Len)
				}
				if !n.Reframe && n.Damage() {
					t.Errorf("%s at %d is not mended", n.Code, n.Off)
				}
			}
			if c.found != "" && strings.Join(found, " ") != c.found {
				t.Errorf("found %v, want %s", found, c.found)
			}
			checkSpans(t, regions, s)
			checkText(t, []byte(text), s)
		})
	}
}

// checkSpans holds the stored place of each record against the regions that hold its text.
func checkSpans(t testing.TB, regions []region, s seen) {
	t.Helper()
	for _, r := range s.records {
		first, last := -1, -1
		for i, g := range regions {
			if g.TextLen > 0 && g.Text < r.TextEnd() && g.Text+g.TextLen > r.Text {
				if first < 0 {
					first = i
				}
				last = i
			}
		}
		if first < 0 {
			t.Fatalf("record %d stands at %d of the text, where there is none", r.N, r.Text)
		}
		a, b := regions[first], regions[last]
		if r.Off != a.Off || r.End() != b.Off+b.Len || r.Frame != a.Frame || r.Line != 0 {
			t.Fatalf("record %d: frame %d, %d to %d; its text lies in frames %d to %d, %d to %d", r.N, r.Frame, r.Off, r.End(), a.Frame, b.Frame, a.Off, b.Off+b.Len)
		}
	}
}

// checkText is checkSeen for text that came out of frames.
func checkText(t testing.TB, text []byte, s seen) {
	t.Helper()
	s.findings = slices.DeleteFunc(slices.Clone(s.findings), func(f finding.Finding) bool { return f.Frame > 0 && len(f.Patches) == 0 && f.Reframe || f.Reframe })
	checkSeen(t, bare, text, s)
}

// Records may begin in one frame and end in another; damage in text is found in frames too.
func TestSpansOverFrames(t *testing.T) {
	for name, texts := range map[string][]string{
		"over two":          {recA + "\n" + recB[:9], recB[9:] + "\n" + recC + "\n"},
		"over three":        {recA + "\n" + recB[:9], recB[9:14], recB[14:] + "\n" + recC + "\n"},
		"newline apart":     {recA, "\n" + recC + "\n"},
		"an empty one":      {recA + "\n" + recB[:9], "", recB[9:] + "\n"},
		"torn text":         {recA + "\n" + recB[:9], recC + "\n", recA + "\n"},
		"glued over frames": {recA + "\n" + recB, recC + "\n", recA + "\n"},
		"split over frames": {recA + "\n" + strings.Replace(recB, " ", "\n", 1)[:26], strings.Replace(recB, " ", "\n", 1)[26:] + "\n", recA + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			file := pack(texts...)
			s := look(t, scan.Frames, bare, file)
			checkSpans(t, walk(t, file), s)
			checkText(t, []byte(strings.Join(texts, "")), s)
		})
	}
}

// Whole records that another program appended as plain text are kept, whatever it left in front
// of them.
func TestRawRecordsKept(t *testing.T) {
	head, body := pack(lines(0, 1)), pack(lines(1, 1))
	raw := []byte(lines(2, 2))
	for name, between := range map[string][]byte{
		"nothing": nil, "a newline": []byte("\n"), "NULs": {0, 0}, "a torn record": []byte(`"n":1}` + "\n"),
		"a torn frame": body[:len(body)-7], "the magic of a frame": body[:4],
	} {
		s := look(t, scan.Frames, bare, slices.Concat(head, between, raw))
		if len(s.records) < 3 {
			t.Errorf("behind %s: %d records are lost: %s", name, 3-len(s.records), s)
		}
	}
}

// The missing newline behind a record must not move the place of the record itself.
func TestSpanOfLastRecord(t *testing.T) {
	file := pack(recA+"\n", recB[:9], recB[9:])
	checkSpans(t, walk(t, file), look(t, scan.Frames, bare, file))
}

func TestManyFrames(t *testing.T) {
	var file []byte
	var text strings.Builder
	e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5000 {
		s := lines(i, 1)
		file = e.EncodeAll([]byte(s), file)
		text.WriteString(s)
	}
	s := look(t, scan.Frames, bare, file)
	if len(s.records) != 5000 || len(s.findings) > 0 {
		t.Fatalf("%d records, %s", len(s.records), s)
	}
	for i, r := range s.records {
		if r.Frame != int64(i+1) {
			t.Fatalf("record %d is in frame %d", i, r.Frame)
		}
	}
	checkSpans(t, walk(t, file)[:50], seen{records: s.records[:50]})
	checkText(t, []byte(text.String()), s)
}

// A frame of more text than is held in memory is read as a stream, and damage in it is found
// before any of it is given out.
func TestLargeFrame(t *testing.T) {
	text := strings.Repeat(lines(0, 1000), 9<<20/len(lines(0, 1000))+1)
	file := pack(recA+"\n", text, recB+"\n")
	s := look(t, scan.Frames, bare, file)
	if len(s.records) != strings.Count(text, "\n")+2 || len(s.findings) > 0 || s.records[len(s.records)-1].Frame != 3 || s.records[1].Frame != 2 {
		t.Errorf("%d records, %s", len(s.records), s)
	}
	if regions := walk(t, file); len(regions) != 3 || !regions[1].Streamed || regions[1].text != text {
		t.Errorf("%d regions", len(regions))
	}
	bad := flip(file, len(file)/2, 0x40)
	s = look(t, scan.Frames, bare, bad)
	if len(s.findings) != 1 || s.findings[0].Code != finding.FrameChecksum || len(s.records) != 2 {
		t.Errorf("damaged: %d records, %s", len(s.records), s)
	}
	// The same, torn: its whole lines are kept.
	tail := len(pack(recB + "\n"))
	cut := slices.Concat(file[:len(file)-tail-50], file[len(file)-tail:])
	s = look(t, scan.Frames, bare, cut)
	if len(s.findings) != 1 || s.findings[0].Code != finding.TornFrame || len(s.records) < strings.Count(text, "\n")/2 {
		t.Errorf("torn: %d records of %d, %s", len(s.records), strings.Count(text, "\n"), s)
	}
}

// Each single bit that flips in a packed log is noticed, or changes nothing.
func TestEveryBit(t *testing.T) {
	text := lines(0, 1) + lines(1, 2)
	file := pack(lines(0, 1), lines(1, 2))
	for i := 0; i < len(file)*8; i += 3 {
		bad := flip(file, i/8, 1<<(i%8))
		got := ""
		for _, g := range walk(t, bad) {
			got += g.text
		}
		s := look(t, scan.Frames, bare, bad)
		if got != text && !slices.ContainsFunc(s.findings, func(f finding.Finding) bool { return f.Damage() }) {
			t.Errorf("bit %d: the text changes and nothing is found", i)
		}
	}
}

// What a header promises is not believed: memory stays within bounds.
func TestBombs(t *testing.T) {
	window := slices.Concat([]byte{0x28, 0xB5, 0x2F, 0xFD, 0x04, 0xF8}, []byte{0x01, 0x00, 0x00}, []byte{1, 2, 3, 4})
	content := slices.Concat([]byte{0x28, 0xB5, 0x2F, 0xFD, 0xE4}, bytes.Repeat([]byte{0x7F}, 8), []byte{0x0B, 0x00, 0x00, 'x'}, []byte{1, 2, 3, 4})
	runs := pack(strings.Repeat("\n", 24<<20))
	for name, file := range map[string][]byte{"window": window, "content": content, "runs of newlines": runs[:len(runs)-1]} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		walk(t, file)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 600<<20 {
			t.Errorf("%s: %d bytes of file take %d MiB", name, len(file), n>>20)
		}
	}
}

// FuzzFrames reads any bytes as a compressed log, as they are and put into a sound one.
func FuzzFrames(f *testing.F) {
	good := pack(lines(0, 1), lines(1, 5), lines(6, 2))
	f.Add(good, uint16(0))
	f.Add([]byte{0x28, 0xB5, 0x2F, 0xFD}, uint16(40))
	f.Add([]byte(recA+"\n"), uint16(len(good)))
	f.Add(skippable(3), uint16(len(pack(lines(0, 1)))))
	f.Add(packPlain(recA+"\n"), uint16(len(pack(lines(0, 1)))))
	f.Add(make([]byte, 9), uint16(70))
	// A finding in one frame about a record that begins in the frame before.
	f.Add([]byte("(\xb5/\xfd\x00\x00y\x00\x00{\"t\":\"0\",\"n\":0}0"), uint16(38))
	f.Fuzz(func(t *testing.T, data []byte, at uint16) {
		k := int(at) % (len(good) + 1)
		over := slices.Concat(good[:k], data)
		if k+len(data) < len(good) {
			over = append(over, good[k+len(data):]...)
		}
		for _, file := range [][]byte{data, slices.Concat(good[:k], data, good[k:]), over} {
			regions := walk(t, file)
			text := 0
			for _, g := range regions {
				text += len(g.text)
			}
			if text > 1<<20 {
				continue
			}
			s := look(t, scan.Frames, bare, file)
			checkSpans(t, regions, s)
			for _, n := range s.findings {
				if n.Off < 0 || n.Len < 0 || n.End() > int64(len(file)) {
					t.Fatalf("%x: %s at %d, %d bytes", file, n.Code, n.Off, n.Len)
				}
			}
		}
		// Frames behind which something is put stay what they are.
		first := len(pack(lines(0, 1)))
		if regions := walk(t, slices.Concat(good[:first], data)); regions[0].Len != int64(first) || regions[0].text != lines(0, 1) {
			t.Fatalf("%x disturbs the frame in front of it", data)
		}
	})
}
