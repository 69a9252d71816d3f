package dsh

import (
	"math/rand/v2"
	"testing"
)

// TestNumberMap: numbers are found again whatever the order in which they were put, and those that move alike share an
// entry.
func TestNumberMap(t *testing.T) {
	var m numberMap
	want := map[int64]int64{}
	rnd := rand.New(rand.NewPCG(3, 1))
	var late []int64
	to := int64(0)
	for seq := int64(0); seq < 5000; seq++ {
		switch rnd.IntN(50) {
		case 0: // gone
			continue
		case 1: // stands behind others
			late = append(late, seq)
			continue
		case 2: // something new in front
			to++
		}
		m.put(seq, to)
		want[seq] = to
		to++
		if len(late) > 3 {
			for _, seq := range late {
				m.put(seq, to)
				want[seq] = to
				to++
			}
			late = nil
		}
	}
	for seq := int64(-1); seq < 5001; seq++ {
		got, ok := m.get(seq)
		if w, has := want[seq]; ok != has || got != w && has {
			t.Fatalf("record %d: %d, %v, want %d, %v", seq, got, ok, w, has)
		}
	}
	if len(m.runs) > 600 {
		t.Errorf("%d entries for %d records", len(m.runs), len(want))
	}
	var long numberMap
	for seq := range int64(100000) {
		long.put(seq, seq+7)
	}
	if len(long.runs) != 1 {
		t.Errorf("%d entries for numbers that all move alike", len(long.runs))
	}
}

// TestRewrite: members go and come, and the rest keeps its bytes.
func TestRewrite(t *testing.T) {
	for _, c := range []struct {
		raw  string
		out  []string
		add  []string
		want string
	}{
		{`{"a":1,"b":2,"c":3}`, []string{"b"}, nil, `{"a":1,"c":3}`},
		{`{"a":1,"b":2,"c":3}`, []string{"a", "b"}, nil, `{"c":3}`},
		{`{"a":1,"b":2,"c":3}`, []string{"c", "b"}, []string{`"d":4`}, `{"a":1,"d":4}`},
		{`{ "a" : 1 , "b":2 }`, []string{"a", "b"}, nil, `{ }`},
		{`{"a":1}`, []string{"a"}, []string{`"d":4`, `"e":5`}, `{"d":4,"e":5}`},
		{`{}`, nil, []string{`"d":4`}, `{"d":4}`},
		{`{"a":"}\"","b":[1,{"a":2}], "a":{}}`, []string{"a"}, nil, `{"b":[1,{"a":2}]}`},
		{`{"\u0061":1,"b\\":"\\"}`, []string{"a"}, []string{`"c":3`}, `{"b\\":"\\","c":3}`},
		{`{"a":1e5,"b":-0.0}`, []string{"x"}, nil, `{"a":1e5,"b":-0.0}`},
	} {
		w := rewrite{raw: []byte(c.raw)}
		w.reform(w.root(), c.out, c.add...)
		if got := string(w.bytes()); got != c.want {
			t.Errorf("%s: %s, want %s", c.raw, got, c.want)
		}
	}
	w := rewrite{raw: []byte(`{"a":{"b":1,"b":[2,{"c":"x\ty"}]}}`)}
	if v := w.get(w.root(), "a", "b"); string(w.of(v)) != `[2,{"c":"x\ty"}]` || w.size(v) != 2 {
		t.Errorf("the last member of a name is %s", w.of(v))
	}
}
