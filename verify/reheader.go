package verify

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

// maxRemains bounds how much of a torn header is looked at.
const maxRemains = 1 << 20

// rebuilt is the place of a lost header that can be written anew.
const rebuilt = "rebuilt"

// reheader asks the format to write a lost header anew, into the place of what remains of it. The new line is made as
// long as what it replaces, where that is longer, so that nothing behind it moves.
func reheader(in Input, res *Result, dec format.Decoder) error {
	h, ok := dec.(format.Reheader)
	if !ok || in.Medium != scan.Lines {
		return nil
	}
	for i := range res.Findings {
		f := &res.Findings[i]
		if f.Code != finding.HeaderMissing || f.Record.Len == 0 {
			continue
		}
		region := f.Record.Text
		remains := make([]byte, min(region, maxRemains))
		if _, err := in.R.ReadAt(remains, 0); err != nil {
			return fmt.Errorf("%s: %w", in.Path, err)
		}
		line := h.Reheader(remains)
		if line == nil {
			return nil
		}
		if pad := region - int64(len(line)) - 1; pad > 0 {
			line = append(line, bytes.Repeat([]byte{' '}, int(pad))...)
		}
		f.Where = rebuilt
		f.Repair = "a header is written into its place, of what remains of it, the file's name and the records"
		f.Never = "append to a file without header"
		for k := range res.Findings {
			g := &res.Findings[k]
			for p := 0; p < len(g.Patches); p++ {
				if g.Patches[p].At < region {
					g.Patches = append(g.Patches[:p:p], g.Patches[p+1:]...)
					p--
				}
			}
		}
		f.Patches = []finding.Patch{{At: 0, Del: region, Ins: append(line, '\n')}}
		return nil
	}
	return nil
}

// replaced leaves out what mends bytes inside of a value that is replaced as a whole.
func replaced(list []finding.Finding) {
	for i := range list {
		if c := list[i].Code; c != finding.HeaderInvalid && c != finding.SessionIDMismatch && (c != finding.EventInvalid || list[i].Where != format.BadWord) {
			continue
		}
		for _, whole := range list[i].Patches {
			for k := range list {
				if c := list[k].Code; c != finding.BadUTF8 && c != finding.ControlChar && c != finding.SplitRecord {
					continue
				}
				list[k].Patches = slices.DeleteFunc(list[k].Patches, func(p finding.Patch) bool {
					return whole.Del > 0 && p.At >= whole.At && p.At+p.Del <= whole.At+whole.Del
				})
			}
		}
	}
}
