package repair_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/sessfix/sessfix/verify"
)

// grokDamaged are sessions of which more than one file is to be mended, or one that the others depend on.
func grokDamaged(t testing.TB) map[string]grokFiles {
	out := map[string]grokFiles{}
	for _, name := range []string{"stop-call", "stop-parallel", "stop-stream", "stop-approval", "healed"} {
		out[name] = grokSession(t, name)
	}
	for _, name := range []string{"stop-torn", "nul-tails", "false-closer", "call-torn", "rewind-torn", "rewound-empty", "compacted-empty", "summary-torn", "end-lost", "answer-lost"} {
		out[name] = grokSession(t, "../../corrupt/grok-"+name)
	}
	stop := grokSession(t, "stop-parallel")
	out["no summary"] = stop.with(grokSummary, nil)
	out["no history"] = stop.with(grokHistory, nil)
	out["no events"] = stop.with(grokEvents, nil)
	out["an empty summary, a torn log"] = stop.with(grokSummary, []byte{}).with(grokLog, stop[grokLog][:3000])
	out["an empty history, a torn log"] = stop.with(grokHistory, []byte{}).with(grokLog, stop[grokLog][:3000])
	out["an empty history, torn events"] = stop.with(grokHistory, []byte{}).with(grokEvents, stop[grokEvents][:2000])
	call := grokSession(t, "stop-call")
	out["everything torn"] = call.with(grokLog, call[grokLog][:2900]).with(grokHistory, call[grokHistory][:800]).with(grokEvents, call[grokEvents][:1700]).
		with(grokPoints, call[grokPoints][:50]).with(grokSummary, call[grokSummary][:400])
	return out
}

// A repair writes one file after the other, and may be killed between any two of them: what another run then does of the rest is what
// the first would have done.
func TestOrderGrok(t *testing.T) {
	for name, files := range grokDamaged(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newGrokBed(t, files)
			f, err := b.promise(t.Context(), files, true, false)
			if err != nil {
				t.Fatal(err)
			}
			if !f.repaired() {
				t.Error("nothing is to be done of it")
			}
		})
	}
}

// The parts come in the order in which each finds what it needs: the log, the history, what tells of both, the counters.
func TestOrderOfPartsGrok(t *testing.T) {
	files := grokSession(t, "compacted")
	b := newGrokBed(t, files)
	for _, lost := range []string{"", grokHistory} {
		b.put(files)
		if lost != "" {
			b.put(files.with(lost, nil))
		}
		group, err := b.group(t.Context())
		b.must(err)
		var names []string
		for _, s := range group {
			names = append(names, filepath.Base(s.Path))
			if s.Missing != (names[len(names)-1] == lost) {
				t.Errorf("without %q: %s is missing: %t", lost, s.Path, s.Missing)
			}
		}
		if want := []string{grokLog, grokHistory, grokEvents, grokPoints, "plan.json", grokSummary}; !slices.Equal(names, want) {
			t.Errorf("without %q: the parts are %q", lost, names)
		}
	}
}

// Where one part is refused nothing is written, whatever could be done of the others.
func TestRefusedPartGrok(t *testing.T) {
	files := grokSession(t, "stop-call")
	for _, name := range []string{grokLog, grokHistory} { // no file says which model answered
		files = files.with(name, replaceAll(files[name], `"modelId":"oracle-1",`, "", `,"model_id":"oracle-1"`, ""))
	}
	in := files.with(grokSummary, []byte("{}"))
	b := newGrokBed(t, in)
	outs, err := b.repair(nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := outs[len(outs)-1].Before.Verdict; v != verify.Refused {
		t.Errorf("the summary is %s", v)
	}
	for _, o := range outs {
		if o.Changed || o.Before == nil {
			t.Errorf("%+v", o)
		}
	}
	if d := grokDiff(b.files(), in); len(d) > 0 {
		t.Errorf("%v changed", d)
	}
}
