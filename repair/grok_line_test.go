package repair_test

import (
	"bytes"
	"fmt"
	"testing"
)

// grokKinds are the ways in which lineDamaged damages a line.
var grokKinds = []string{"lost", "torn", "torn, with the next behind it", "glued to the next", "doubled"}

// grokHurt is damage to a line of a file.
type grokHurt struct {
	file       string
	line, kind int
}

func (h grokHurt) String() string {
	return fmt.Sprintf("%s line %d %s", h.file, h.line+1, grokKinds[h.kind])
}

// hurt is the folder with some of its lines damaged.
func (f grokFiles) hurt(all ...grokHurt) grokFiles {
	for _, h := range all {
		lines := grokLines(f[h.file])
		for _, other := range all {
			if other.file == h.file {
				lines[other.line] = lineDamaged([][]byte{lines[other.line]}, 0, other.kind, -1)
			}
		}
		f = f.with(h.file, bytes.Join(lines, nil))
		if len(all) == 2 && all[0].file == all[1].file {
			break
		}
	}
	return f
}

// grokLines are the lines of a file, with their newlines.
func grokLines(data []byte) [][]byte {
	lines := bytes.SplitAfter(data, []byte("\n"))
	return lines[:len(lines)-1]
}

// grokHurts are all ways to damage a line of these files.
func grokHurts(f grokFiles, files ...string) (out []grokHurt) {
	for _, file := range files {
		for i := range grokLines(f[file]) {
			for kind := range grokKinds {
				out = append(out, grokHurt{file, i, kind})
			}
		}
	}
	return out
}

// grokAll are the shipped sessions.
var grokAll = []string{"tiny", "orchard", "stop-parallel", "stop-call", "stop-stream", "stop-approval", "compacted", "rewound", "cancelled", "healed", "helped", "copied", "first"}

// grokTry holds a folder against the promises. After some faults it gives up.
func (b *grokBed) try(what any, in grokFiles, twice, strict bool, faults *int) {
	b.t.Helper()
	if _, err := b.promise(b.t.Context(), in, twice, strict); err != nil {
		b.t.Errorf("%s: %v", what, err)
		if *faults++; *faults > 9 {
			b.t.FailNow()
		}
	}
}

// Each line is lost, torn, glued to the next or repeated in turn: what is left is repaired, and never refused.
func TestEveryLineGrok(t *testing.T) {
	for _, name := range grokAll {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, faults := grokSession(t, name), 0
			b := newGrokBed(t, files)
			for i, h := range grokHurts(files, grokLog, grokHistory, grokEvents, grokPoints) {
				if h.file == grokLog || h.file == grokHistory || i%grokStep(3) == 0 {
					b.try(h, files.hurt(h), i%5 == 0, false, &faults)
				}
			}
		})
	}
}

// Each two lines of log and history are damaged at once.
func TestEveryTwoLinesGrok(t *testing.T) {
	for _, name := range []string{"tiny", "stop-call", "stop-parallel"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, faults, n := grokSession(t, name), 0, 0
			b := newGrokBed(t, files)
			all := grokHurts(files, grokLog, grokHistory)
			for i, one := range all {
				for _, two := range all[i+1:] {
					if one.file == two.file && one.line == two.line {
						continue
					}
					if n++; n%grokStep(7) == 0 {
						b.try(fmt.Sprint(one, ", ", two), files.hurt(one, two), n%5 == 0, false, &faults)
					}
				}
			}
		})
	}
}
