package export

import (
	"bytes"

	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

// pagePlan is what a repair would do to a part.
type pagePlan struct {
	Edits   []pageEdit    `json:"edits"`
	Removed []pageRemoved `json:"removed,omitempty"` // of compressed parts: whole frames
	Account edit.Account  `json:"account"`
	Size    int64         `json:"size"`
	SHA256  [2]string     `json:"sha256"`
	Moves   []pageMove    `json:"moves,omitempty"`
}

// pageEdit is one edit. At is an offset in the part's text.
type pageEdit struct {
	At    int64          `json:"at"`
	Del   int64          `json:"del,omitempty"`
	Blank int64          `json:"blank,omitempty"`
	Aside bool           `json:"aside,omitempty"`
	Cures []finding.Code `json:"cures,omitempty"`
	Ins   []pageInsert   `json:"ins,omitempty"`
}

// pageInsert is a line that comes, or a piece of one. Its text is there where sessfix wrote it, or content may be shown.
type pageInsert struct {
	Bytes  int64    `json:"bytes"`
	Hash   string   `json:"hash"`
	Text   pageText `json:"text,omitempty"`
	Kind   pageText `json:"kind,omitempty"` // of a closer
	Code   string   `json:"code,omitempty"`
	Call   pageText `json:"call,omitempty"`
	Closer bool     `json:"closer,omitempty"`
}

// pageRemoved is a frame that goes, or is written again.
type pageRemoved struct {
	Off   int64          `json:"off"`
	Len   int64          `json:"len"`
	Frame int64          `json:"frame,omitempty"`
	Aside bool           `json:"aside,omitempty"`
	Again bool           `json:"again,omitempty"`
	Codes []finding.Code `json:"codes"`
}

// pageMove is a record that moves behind another: offsets in the text.
type pageMove struct {
	From   int64        `json:"from"`
	Behind int64        `json:"behind"`
	Code   finding.Code `json:"code"`
}

func framed(p *Part) bool { return p.Input.Medium == scan.Frames }

func planOf(p *Part, content bool) *pagePlan {
	o := p.Plan
	out := &pagePlan{Edits: []pageEdit{}, Account: o.Result.Account, Size: o.Result.Size(), SHA256: o.SHA256}
	closers := map[string]int{}
	for i, c := range o.Plan.Closings {
		if len(c.Line) > 0 { // several may share a line
			closers[string(bytes.TrimSuffix(c.Line, []byte("\n")))] = i
		}
	}
	for _, e := range o.Plan.Edits {
		x := pageEdit{At: e.At, Del: e.Del, Blank: e.Blank, Aside: e.Aside, Cures: e.Cures}
		lines := bytes.SplitAfter(e.Ins, []byte("\n"))
		if _, document := p.Dialect.(format.Document); document {
			lines = [][]byte{e.Ins}
		}
		for _, line := range lines {
			if len(line) == 0 {
				continue
			}
			n := pageInsert{Bytes: int64(len(line)), Hash: shortHash(line)}
			bare := bytes.TrimSuffix(line, []byte("\n"))
			ours := false
			if i, ok := closers[string(bare)]; ok {
				c := o.Plan.Closings[i]
				n.Closer, n.Kind, n.Code, n.Call = true, pageText(c.Kind), c.Code, pageText(c.CallID)
				ours = c.OwnWords()
			}
			if ours || content || len(bare) == 0 {
				n.Text = pageText(line)
			}
			x.Ins = append(x.Ins, n)
		}
		out.Edits = append(out.Edits, x)
	}
	if o.Plan.Framed {
		for _, r := range o.Result.Removed {
			if r.Data == nil {
				out.Removed = append(out.Removed, pageRemoved{r.Off, r.Len, r.Frame, r.Aside, r.Again, r.Codes})
			}
		}
	}
	for _, m := range p.Found.Moves {
		out.Moves = append(out.Moves, pageMove{m.From.Text, m.Behind.Text, m.Code})
	}
	return out
}
