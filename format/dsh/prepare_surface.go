package dsh

import (
	"fmt"
	"slices"
)

// show follows what the model sees, in the new numbers.
func (p *prepare) show(r *logRecord) {
	if !surfaced(r.typ) && r.typ != "system/message" {
		return
	}
	op := r.get(r.root(), "surfaceOp")
	if r.kind(op) != '{' {
		p.surface = append(p.surface, p.next)
		return
	}
	if first, last, ok := p.replaced(r, op); ok {
		p.surface = append(append(p.surface[:first:first], p.next), p.surface[last+1:]...)
	}
}

// replaced is where a replaced range now stands on the surface. A record at its edge that is gone makes way for the next one inside.
func (p *prepare) replaced(r *logRecord, op span) (first, last int, ok bool) {
	names := [2]string{"start", "end"}
	if p.source >= 3 {
		names = [2]string{"startSeq", "endSeq"}
	}
	start, ok1 := r.whole(r.get(op, names[0]))
	end, ok2 := r.whole(r.get(op, names[1]))
	if !ok1 || !ok2 {
		return 0, 0, false
	}
	place := func(seq int64) int {
		if to, ok := p.numbers.get(seq); ok {
			return slices.Index(p.surface, to)
		}
		return -1
	}
	first, last = place(start), place(end)
	if first >= 0 && last >= 0 {
		return first, last, last >= first
	}
	head, tail := first < 0, last < 0
	for _, list := range [...]span{r.get(r.root(), "sourceEventSeqs"), r.get(r.data, "shadowedSeqs")} {
		r.each(list, func(_, v span) bool {
			seq, _ := r.whole(v)
			i := place(seq)
			if i >= 0 && head && (first < 0 || i < first) {
				first = i
			}
			if i >= 0 && tail && i > last {
				last = i
			}
			return true
		})
	}
	return first, last, first >= 0 && last >= first
}

// references brings what a record says of others over to the new numbers. keep is false where it speaks only of what is
// gone.
func (p *prepare) references(r *logRecord) (keep bool, err error) {
	at := remapping{&p.numbers, p.source >= 2, p.reader.next}
	root := r.root()
	op := r.get(root, "surfaceOp")
	var removed []int64 // what a replacement removes
	if r.kind(op) == '{' {
		first, last, ok := p.replaced(r, op)
		if !ok {
			p.out.Drop(r.n, "it stands in place of what is gone")
			return false, nil
		}
		removed = slices.Clone(p.surface[first : last+1])
		p.edges(r, op, removed[0], removed[len(removed)-1])
	}
	if list := r.get(root, "sourceEventSeqs"); !list.none() {
		seqs, err := p.present(r, at, list)
		if err != nil {
			return false, err
		}
		named := make(map[int64]bool, len(seqs))
		for _, seq := range seqs {
			named[seq] = true
		}
		for _, seq := range removed {
			if !named[seq] {
				seqs = append(seqs, seq)
			}
		}
		text := seqText(seqs, p.source >= 2)
		switch {
		case len(seqs) == 0 && r.typ != "assistant/message":
			r.reform(root, []string{"sourceEventSeqs"})
		case string(compact(r.of(list))) != text:
			r.set(list, text)
		}
	}
	switch r.typ {
	case "command/done":
		if v := r.get(r.data, "sourceEventSeq"); !v.none() {
			if seq, ok := r.whole(v); ok {
				if to, ok := p.numbers.get(seq); ok {
					r.put(v, to)
				} else {
					r.reform(r.data, []string{"sourceEventSeq"})
					p.out.Note(r.n, fmt.Sprintf("command/done names record %d no more, which is gone", seq))
				}
			}
		}
	case "compaction/prune", "compaction/summary":
		return p.shadowed(r)
	case "session/title", "session/title-llm-request":
		list := r.get(r.data, "messageSeqs")
		seqs, err := p.present(r, at, list)
		if err != nil {
			return false, err
		}
		if text := seqText(seqs, false); string(compact(r.of(list))) != text {
			r.set(list, text)
		}
	}
	return true, nil
}

// edges writes the range that a replacement removes.
func (p *prepare) edges(r *logRecord, op span, start, end int64) {
	names := [2]string{"start", "end"}
	if p.source >= 3 {
		names = [2]string{"startSeq", "endSeq"}
	}
	r.put(r.get(op, names[0]), start)
	r.put(r.get(op, names[1]), end)
}

// present gives the new numbers of those of a list that are still there.
func (p *prepare) present(r *logRecord, at remapping, list span) ([]int64, error) {
	seqs, err := at.read(r, list)
	if err != nil {
		return nil, err
	}
	out := seqs[:0]
	for _, seq := range seqs {
		if to, ok := p.numbers.get(seq); ok && to < p.next {
			out = append(out, to)
		}
	}
	return out, nil
}

// shadowed writes what a compaction removes: the whole piece of the surface, with what came into it.
func (p *prepare) shadowed(r *logRecord) (bool, error) {
	list := r.get(r.data, "shadowedSeqs")
	seqs, err := p.present(r, remapping{&p.numbers, false, p.reader.next}, list)
	if err != nil {
		return false, err
	}
	if len(seqs) == 0 {
		p.out.Drop(r.n, "it tells of what is gone")
		return false, nil
	}
	first, last := slices.Index(p.surface, seqs[0]), slices.Index(p.surface, seqs[len(seqs)-1])
	if first >= 0 && last >= first {
		seqs = slices.Clone(p.surface[first : last+1])
	}
	if text := seqText(seqs, false); string(compact(r.of(list))) != text {
		r.set(list, text)
	}
	edge := r.get(r.data, "shadowedRange")
	r.put(r.get(edge, "start"), seqs[0])
	r.put(r.get(edge, "end"), seqs[len(seqs)-1])
	return true, nil
}
