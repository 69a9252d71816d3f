package harness

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/internal/damage"
)

// pieces are put into lines.
var pieces = []string{`""`, `null`, `[]`, `{}`, `-1`, `9007199254740991`, `"seq":1,`, `"value":{},`, `"id":"",`, `"kind":"entry",`, `{"kind":"entry"},`, `"status":"planned",`,
	`"at":"tools",`, `"key":"main",`, `\u0000`, `[1,`, `"calls":[],`, `"inbox":[7],`, `"sourceIndex":2,`, eid(2), eid(900)}

// FuzzSettle bends lines of a log that was cut off, and decodes it. Whatever is added to it must decode, and leave nothing open.
func FuzzSettle(f *testing.F) {
	for i := range 40 {
		f.Add("", uint64(i))
	}
	f.Add(`{"kind":"value","op":"set","seq":40,"namespace":"pi.lane.state","key":"main","value":{"currentOperationId":"x","inbox":[]}}`, uint64(0))
	f.Add(`[{"kind":"list","op":"append","seq":40,"namespace":"pi.pending.assistant_frame","key":"a:b","value":{"type":"start"}}]`, uint64(1))
	f.Add(`{"kind":"entry","id":"a","parentId":null,"seq":90,"timestamp":9007199254740991,"type":"message","message":{"role":"user"}}`, uint64(2))
	logs := []string{crash(), told(head(""), asked(effectPending, planned, planned)...), told(head(""), begin()...), drafts(`{"kind":"fact","fact":"name"}`)}
	f.Fuzz(func(t *testing.T, more string, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		lines := strings.SplitAfter(logs[rnd.IntN(len(logs))], "\n")
		lines = lines[:len(lines)-1]
		lines = lines[:1+rnd.IntN(len(lines))]
		for range rnd.IntN(3) {
			i := rnd.IntN(len(lines))
			bent := damage.Bend(rnd, []byte(strings.TrimSuffix(lines[i], "\n")), pieces)
			if i == 0 && !Own(bent) {
				continue
			}
			lines[i] = string(bent) + "\n"
		}
		text := strings.Join(lines, "") + more
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		Shaped([]byte(more))
		Durable("main.jsonl", []byte(more))
		first, _, _ := strings.Cut(text, "\n")
		d, err := Dialect([]byte(first))
		if err != nil {
			return
		}
		before := decodeAs(t, d, text)
		for _, n := range before.findings {
			if _, ok := finding.Lookup(n.Code); !ok || n.Message == "" || strings.Contains(n.Message, "%!") || n.Off < 0 || n.End() > int64(len(text)) {
				t.Fatalf("%+v", n)
			}
		}
		for _, c := range before.closings {
			if c.Line != nil && !json.Valid(c.Line) {
				t.Fatalf("%s", c.Line)
			}
		}
		if fault := fine(before, decodeAs(t, d, text+before.settled())); fault != "" {
			t.Fatalf("%s\n%s", fault, text+before.settled())
		}
	})
}
