package edit

import (
	"fmt"
	"io"
	"sort"

	"github.com/sessfix/sessfix/finding"
)

// piece is a stretch of the result: bytes of the original, or new ones.
type piece struct {
	at  int64 // in the result
	off int64 // in the original, -1 for new bytes
	n   int64
	new []byte // nil: spaces
}

// Account divides the stored bytes of a part: Kept + Replaced + Quarantined = Size. Added is
// what is new.
type Account struct {
	Size        int64 `json:"size"`
	Kept        int64 `json:"kept"`
	Replaced    int64 `json:"replaced"`
	Quarantined int64 `json:"quarantined"`
	Added       int64 `json:"added"`
}

// Balanced tells whether every byte is accounted for.
func (a Account) Balanced() bool { return a.Kept+a.Replaced+a.Quarantined == a.Size }

// Removed is a stretch of the original that is not in the result.
type Removed struct {
	Off   int64          `json:"offset"` // stored
	Len   int64          `json:"length"` // stored
	Frame int64          `json:"frame,omitempty"`
	Text  int64          `json:"text,omitempty"` // offset in the text, for bytes inside a frame
	Codes []finding.Code `json:"codes"`
	Aside bool           `json:"aside"` // false: replaced by what means the same
	// Again: lines of the frame stand in a fresh one.
	Again bool `json:"again,omitempty"`
	// Data are the bytes, where they are not simply the stored ones.
	Data []byte `json:"-"`
}

// Result is a part as it would be after a plan. It reads from the original.
type Result struct {
	src     io.ReaderAt
	pieces  []piece
	size    int64
	Account Account
	Removed []Removed
}

// Size is the length of the result in bytes.
func (r *Result) Size() int64 { return r.size }

func (r *Result) keep(off, n int64) {
	if n == 0 {
		return
	}
	r.Account.Kept += n
	if k := len(r.pieces); k > 0 && r.pieces[k-1].off >= 0 && r.pieces[k-1].off+r.pieces[k-1].n == off {
		r.pieces[k-1].n += n
	} else {
		r.pieces = append(r.pieces, piece{at: r.size, off: off, n: n})
	}
	r.size += n
}

func (r *Result) put(b []byte) {
	if len(b) == 0 {
		return
	}
	r.Account.Added += int64(len(b))
	r.pieces = append(r.pieces, piece{at: r.size, off: -1, n: int64(len(b)), new: b})
	r.size += int64(len(b))
}

// blank puts n spaces.
func (r *Result) blank(n int64) {
	if n == 0 {
		return
	}
	r.Account.Added += n
	r.pieces = append(r.pieces, piece{at: r.size, off: -1, n: n})
	r.size += n
}

// Appendix is what stands behind the unchanged original, where nothing else changed.
func (r *Result) Appendix() ([]byte, bool) {
	var out []byte
	at := int64(0)
	for i, p := range r.pieces {
		switch {
		case i == 0 && p.off == 0 && p.n == r.Account.Size:
			at = p.n
		case p.off >= 0 || p.new == nil:
			return nil, false
		default:
			out = append(out, p.new...)
		}
	}
	return out, at == r.Account.Size
}

// ReadAt reads the result.
func (r *Result) ReadAt(b []byte, off int64) (int, error) {
	i := sort.Search(len(r.pieces), func(i int) bool { return r.pieces[i].at+r.pieces[i].n > off })
	done := 0
	for ; i < len(r.pieces) && done < len(b); i++ {
		p := r.pieces[i]
		skip := off - p.at
		n := int(min(p.n-skip, int64(len(b)-done)))
		if p.off < 0 && p.new == nil {
			for k := range n {
				b[done+k] = ' '
			}
		} else if p.off < 0 {
			copy(b[done:done+n], p.new[skip:])
		} else if got, err := r.src.ReadAt(b[done:done+n], p.off+skip); got < n {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return done + got, fmt.Errorf("read original at %d: %w", p.off+skip, err)
		}
		done += n
		off += int64(n)
	}
	if done < len(b) {
		return done, io.EOF
	}
	return done, nil
}

// WriteTo writes the whole result.
func (r *Result) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(w, struct{ io.Reader }{io.NewSectionReader(r, 0, r.size)})
}

// Apply computes the result of a normalised plan over the first size bytes of src.
func (p *Plan) Apply(src io.ReaderAt, size int64) (*Result, error) {
	if p.Framed {
		return p.applyFramed(src, size)
	}
	r := &Result{src: src, Account: Account{Size: size}}
	at := int64(0)
	for _, e := range p.Edits {
		if e.At < at || e.end() > size {
			return nil, fmt.Errorf("edit at %d outside of the text: %w", e.At, ErrConflict)
		}
		r.keep(at, e.At-at)
		if e.Del > 0 {
			r.Removed = append(r.Removed, Removed{Off: e.At, Len: e.Del, Codes: e.Cures, Aside: e.Aside})
			r.take(e.Del, e.Aside)
		}
		r.blank(e.Blank)
		r.put(e.Ins)
		at = e.end()
	}
	r.keep(at, size-at)
	return r, nil
}

func (r *Result) take(n int64, aside bool) {
	if aside {
		r.Account.Quarantined += n
	} else {
		r.Account.Replaced += n
	}
}
