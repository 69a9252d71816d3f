package harness

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestReduce(t *testing.T) {
	start := `{"type":"start","partial":{"role":"assistant","content":[],"api":"a","provider":"p","model":"m","timestamp":5}}`
	text := `{"type":"text_start","contentIndex":0,"content":{"type":"text","text":"a"}}`
	call := `{"type":"toolcall_start","contentIndex":0,"toolCall":{"type":"toolCall","id":"c","name":"n","arguments":{},"thoughtSignature":"s"}}`
	delta := func(kind, d string) string {
		return `{"type":"` + kind + `_delta","contentIndex":0,"delta":"` + d + `"}`
	}
	for name, c := range map[string]struct {
		frames []string
		want   string
	}{
		"nothing":          {nil, ""},
		"a start":          {[]string{start}, ""},
		"no start":         {[]string{text}, ""},
		"two starts":       {[]string{start, start, text}, ""},
		"a text":           {[]string{start, text, delta("text", `b\u00e9`), delta("text", `\ud83d`), delta("text", `\ude00`)}, `{"type":"text","text":"ab\u00e9\ud83d\ude00"}`},
		"a whole text":     {[]string{start, text, delta("text", "b"), `{"type":"text_end","contentIndex":0,"content":"abc","textSignature":"s"}`}, `{"type":"text","text":"abc","textSignature":"s"}`},
		"more behind it":   {[]string{start, text, `{"type":"text_end","contentIndex":0,"content":"abc"}`, delta("text", "d")}, `{"type":"text","text":"abc"}`},
		"a thought":        {[]string{start, `{"type":"thinking_start","contentIndex":0,"content":{"type":"thinking","thinking":"h","thinkingSignature":"s","redacted":true}}`, delta("thinking", "m")}, `{"type":"thinking","thinking":"hm","thinkingSignature":"s","redacted":true}`},
		"a call":           {[]string{start, call, delta("toolcall", `{\"a\":`)}, `{"type":"toolCall","id":"c","name":"n","arguments":{},"thoughtSignature":"s"}`},
		"its arguments":    {[]string{start, call, delta("toolcall", `{\"a\":`), delta("toolcall", `1.0}`)}, `{"type":"toolCall","id":"c","name":"n","arguments":{"a":1.0},"thoughtSignature":"s"}`},
		"a checkpoint":     {[]string{start, call, delta("toolcall", `{`), `{"type":"toolcall_checkpoint","contentIndex":0,"json":"{\"b\":2"}`, delta("toolcall", `}`)}, `{"type":"toolCall","id":"c","name":"n","arguments":{"b":2},"thoughtSignature":"s"}`},
		"a whole call":     {[]string{start, call, `{"type":"toolcall_end","contentIndex":0,"id":"c","name":"n","arguments":{"b":2}}`}, `{"type":"toolCall","id":"c","name":"n","arguments":{"b":2}}`},
		"two blocks":       {[]string{start, text, strings.Replace(call, `"contentIndex":0`, `"contentIndex":1`, 1)}, `{"type":"text","text":"a"},{"type":"toolCall","id":"c","name":"n","arguments":{},"thoughtSignature":"s"}`},
		"a hole":           {[]string{start, text, strings.Replace(call, `"contentIndex":0`, `"contentIndex":2`, 1), delta("text", "b")}, `{"type":"text","text":"a"}`},
		"one place twice":  {[]string{start, text, call}, `{"type":"text","text":"a"}`},
		"of another kind":  {[]string{start, text, delta("thinking", "b")}, `{"type":"text","text":"a"}`},
		"of nothing":       {[]string{start, delta("text", "b")}, ""},
		"no text":          {[]string{start, text, `{"type":"text_delta","contentIndex":0,"delta":7}`}, `{"type":"text","text":"a"}`},
		"an unknown piece": {[]string{start, text, `{"type":"image_start","contentIndex":1}`, delta("text", "b")}, `{"type":"text","text":"a"}`},
		"no object":        {[]string{start, "7", text}, ""},
	} {
		var list [][]byte
		for _, f := range c.frames {
			list = append(list, []byte(f))
		}
		a := reduce(list)
		got := strings.Join(a.content(), ",")
		if got != c.want || !json.Valid([]byte("["+got+"]")) {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}
