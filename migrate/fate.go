package migrate

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// Fates of a record.
const (
	Changed = "changed"
	Added   = "added"
	Dropped = "dropped"
	Merged  = "merged" // it stands in another record now
	Split   = "split"
)

// Fate says what became of a record that is not as it was.
type Fate struct {
	Kind string
	// Line is that of the record in the source, from 1, 0 for one that is new, and NewLine that in the result.
	Line, NewLine int64
	Why           string
	// Was and Is are the record's bytes; empty where there is none.
	Was, Is []byte
}

// maxFates bounds how many are told.
const maxFates = 10_000

// fates compares the source with the result, record by record, and accounts for the bytes. Without keep only the account is made.
func (o *Outcome) fates(in *input, t *writer, result *spool, keep bool) error {
	o.Counts = map[string]int64{}
	order := make([]int32, len(t.pieces)) // by source record
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(t.pieces[a].n, t.pieces[b].n) })
	dropped := map[int64]string{}
	for _, d := range t.drops {
		dropped[d.N] = d.Text
	}
	tell := func(f Fate) {
		o.Counts[f.Kind]++
		if keep && len(o.Fates) < maxFates {
			f.Was, f.Is = bytes.Clone(f.Was), bytes.Clone(f.Is)
			o.Fates = append(o.Fates, f)
		}
	}
	var buf []byte
	read := func(p piece) ([]byte, error) {
		buf = slices.Grow(buf[:0], int(p.len))[:p.len]
		if p.len == 0 {
			return buf, nil
		}
		n, err := result.ReadAt(buf, p.off)
		if n == len(buf) {
			err = nil
		}
		return buf, err
	}
	// added tells of the new records that stand in front of a line of the result.
	fresh := 0
	for fresh < len(order) && t.pieces[order[fresh]].n < 0 {
		fresh++
	}
	news := order[:fresh]
	order = order[fresh:]
	added := func(before int32) error {
		for ; len(news) > 0 && news[0] < before; news = news[1:] {
			p := t.pieces[news[0]]
			is, err := read(p)
			if err != nil {
				return err
			}
			o.Account.Added += int64(p.len) + 1
			tell(Fate{Kind: Added, NewLine: int64(news[0]) + 1, Why: t.whys[int(news[0])], Is: is})
		}
		return nil
	}
	err := in.each(func(l *session.Record) error {
		size := int64(len(l.Raw)) + 1
		first := true
		for ; len(order) > 0 && int64(t.pieces[order[0]].n) == l.N; order = order[1:] {
			i := order[0]
			p := t.pieces[i]
			if err := added(i); err != nil {
				return err
			}
			is, err := read(p)
			if err != nil {
				return err
			}
			f := Fate{Kind: Changed, Line: l.Logical, NewLine: int64(i) + 1, Why: t.whys[int(i)], Was: l.Raw, Is: is}
			switch {
			case !first:
				o.Account.Added += int64(p.len) + 1
				f.Kind, f.Was = Split, nil
			case bytes.Equal(is, l.Raw):
				o.Account.Kept += size
				first = false
				continue
			default:
				o.Account.Replaced += size
				o.Account.Added += int64(p.len) + 1
			}
			first = false
			tell(f)
		}
		if !first {
			return nil
		}
		why, gone := dropped[l.N]
		f := Fate{Kind: Merged, Line: l.Logical, Why: why, Was: l.Raw}
		if gone {
			f.Kind = Dropped
			o.Account.Quarantined += size
			o.Removed = append(o.Removed, edit.Removed{Off: l.Off, Len: l.Len, Text: l.Text, Data: append(bytes.Clone(l.Raw), '\n'), Codes: []finding.Code{}, Aside: true})
		} else {
			o.Account.Replaced += size
		}
		tell(f)
		return nil
	})
	if err == nil {
		err = added(int32(len(t.pieces)))
	}
	a := &o.Account
	if a.Size = in.res.Size; in.plan != nil || in.medium == scan.Frames || a.Kept+a.Replaced+a.Quarantined != a.Size {
		// What was mended on the way, and frames, are not told apart: all is written anew, and the original is kept.
		*a = edit.Account{Size: a.Size, Replaced: a.Size, Added: result.Size()}
		o.Removed = nil
	}
	return err
}
