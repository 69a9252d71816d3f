package grok

import (
	"cmp"
	"slices"

	"github.com/sessfix/sessfix/finding"
)

// wound is a place where something is missing.
type wound struct {
	at, line int64
	call     string // of a result that stands there alone
}

// Hurt notes where bytes are damaged.
func (d *history) Hurt(faults []finding.Finding) {
	d.wounds = append(d.wounds, woundsOf(faults)...)
	for _, f := range faults {
		switch f.Code {
		case finding.BadUTF8:
			d.sore = append(d.sore, f.Text)
		case finding.GluedWhole:
			d.glued = append(d.glued, f.Text)
		case finding.NoFinalNewline:
			d.end-- // the newline comes first
		}
	}
}

func woundsOf(faults []finding.Finding) (out []wound) {
	for _, f := range faults {
		switch e, ok := finding.Lookup(f.Code); {
		case !ok || e.Stage != finding.StageBytes || f.Code == finding.BlankLine || f.Code == finding.NoFinalNewline:
		case f.Code == finding.BadUTF8 || f.Code == finding.ControlChar || f.Code == finding.SplitRecord || f.Code == finding.GluedWhole: // nothing is lost
		default:
			out = append(out, wound{at: f.Text, line: f.Line})
		}
	}
	slices.SortFunc(out, func(a, b wound) int { return cmp.Compare(a.at, b.at) })
	return out
}

// clean sorts the wounds. A result whose call the history asks for somewhere is no sign of an answer that is lost.
func (d *history) clean(list []item) {
	asked := map[string]bool{}
	for _, x := range list {
		for _, c := range x.calls {
			asked[c] = true
		}
	}
	d.wounds = slices.DeleteFunc(d.wounds, func(w wound) bool { return w.call != "" && asked[w.call] })
	slices.SortFunc(d.wounds, func(a, b wound) int { return cmp.Compare(a.at, b.at) })
	for _, w := range d.wounds {
		d.sore = append(d.sore, w.at)
	}
	slices.Sort(d.sore)
}
