package cmd

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/scan"
)

// odd is a file of lines, holes and noise.
func odd(r *rand.Rand) []byte {
	var b []byte
	for range r.IntN(12) {
		switch r.IntN(4) {
		case 0:
			b = append(b, make([]byte, r.IntN(300))...)
		case 1:
			b = append(b, bytes.Repeat([]byte{'\n'}, r.IntN(80))...)
		case 2:
			for range r.IntN(200) {
				b = append(b, byte(r.Uint32()))
			}
		default:
			b = append(b, strings.Repeat(`{"a":1}`+"\n", r.IntN(40))...)
		}
	}
	return b
}

// holdDump compares a dump with the file.
func holdDump(t *testing.T, data []byte, d hexDump) {
	t.Helper()
	shown := map[int64]bool{}
	for i, p := range d.Bytes {
		if p.Length < 1 || i > 0 && p.Offset != d.Bytes[i-1].Offset+d.Bytes[i-1].Length {
			t.Fatalf("piece %d does not follow: %+v", i, d.Bytes)
		}
		is := data[p.Offset : p.Offset+p.Length]
		switch {
		case p.Hex != "":
			if p.Hex != hex.EncodeToString(is) {
				t.Fatalf("piece %d has other bytes", i)
			}
			for at := range p.Length {
				shown[p.Offset+at] = true
			}
		case p.Fill != "":
			if want, _ := hex.DecodeString(p.Fill); bytes.Count(is, want) != len(is) {
				t.Fatalf("piece %d is not all %s", i, p.Fill)
			}
		}
	}
	begins := map[int64]string{}
	for _, m := range d.Begins {
		if !shown[m.Offset] {
			t.Fatalf("%s begins in what is not shown", m.What)
		}
		begins[m.Offset] = m.What
	}
	for at := range shown {
		want := ""
		if at == 0 || data[at-1] == '\n' {
			want = fmt.Sprintf("line %d", bytes.Count(data[:at], []byte("\n"))+1)
		}
		if begins[at] != want {
			t.Fatalf("at %d begins %q, want %q", at, begins[at], want)
		}
	}
}

// What is shown of a file is what stands there, nothing is left out without a word, and lines are counted right, in whatever
// order places are looked at.
func TestHexPlaces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		data := odd(r)
		if len(data) == 0 {
			continue
		}
		var faults []finding.Finding
		for range r.IntN(4) {
			f := finding.New(finding.TornLine)
			f.Off = r.Int64N(int64(len(data)))
			f.Len = r.Int64N(int64(len(data))-f.Off) + 1
			faults = append(faults, f)
		}
		v, err := newHexView(bytes.NewReader(data), int64(len(data)), scan.Lines, faults)
		if err != nil {
			t.Fatal(err)
		}
		for i := range faults {
			d, err := v.fault(&faults[i])
			if err != nil {
				t.Fatal(err)
			}
			holdDump(t, data, d)
			if first := d.Bytes[0].Offset; first > faults[i].Off {
				t.Fatalf("the dump begins at %d, behind the fault at %d", first, faults[i].Off)
			}
		}
		for range 3 {
			at, n := r.Int64N(int64(len(data))), r.Int64N(2000)+1
			d, err := v.place(at, n)
			if err != nil {
				t.Fatal(err)
			}
			holdDump(t, data, d)
			last := d.Bytes[len(d.Bytes)-1]
			if end := min(at+n, int64(len(data))); d.Bytes[0].Offset > at || last.Offset+last.Length < end {
				t.Fatalf("%d bytes at %d are not all there", n, at)
			}
			var out bytes.Buffer
			a := &app{color: "never"}
			a.io.Env = func(string) string { return "" }
			a.printDump(&out, d)
			if complaint := unfit(out.String(), false); complaint != "" {
				t.Fatal(complaint)
			}
		}
	}
}

// A long hole between two lines is told by its length, and what lies behind it has its line.
func TestHexLong(t *testing.T) {
	data := append([]byte("{\"a\":1}\n"), make([]byte, 3<<20)...)
	data = append(data, "\n{\"b\":2}\n"...)
	f := finding.New(finding.NulLine)
	f.Off, f.Len = 8, 3<<20
	v, err := newHexView(bytes.NewReader(data), int64(len(data)), scan.Lines, []finding.Finding{f})
	if err != nil {
		t.Fatal(err)
	}
	d, err := v.fault(&f)
	if err != nil {
		t.Fatal(err)
	}
	holdDump(t, data, d)
	if len(d.Bytes) != 3 || d.Bytes[1].Fill != "00" || d.Begins[len(d.Begins)-1].What != "line 3" {
		t.Errorf("%+v", d)
	}
}
