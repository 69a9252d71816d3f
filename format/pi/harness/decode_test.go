package harness

import (
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

func TestHealthy(t *testing.T) {
	text := told(head(`,"parentSessionId":"p"`),
		tx{set(tips, "main", "null")},
		tx{says(1, 0, user("Hello")), set(tips, "main", `"`+eid(1)+`"`)},
		tx{says(2, 1, asking("c0")), paid(500), set(tips, "main", `"`+eid(2)+`"`)},
		tx{says(3, 2, result("c0")), set(tips, "main", `"`+eid(3)+`"`)},
		tx{set("pi.session.name", "", `"A name"`)},
		tx{push("app.list", "k", "7")},
		tx{`{"kind":"list","op":"delete","namespace":"app.list","key":"k"}`},
	)
	s := decode(t, text)
	if len(s.findings) > 0 || len(s.closings) > 0 {
		t.Errorf("%s, %d closings", s.codes(), len(s.closings))
	}
	if s.header == nil || s.header.ID != sessionID || s.header.Parent != "p" {
		t.Errorf("%+v", s.header)
	}
	if b := s.batches[3]; !b.Numbered || b.Seq != 4 || b.Count != 3 || b.Time != 1700000000000 || len(b.Events) != 3 {
		t.Errorf("%+v", b)
	}
}

// What the client refuses, by its own measure (0.87.1), and what it takes.
func TestFaults(t *testing.T) {
	good := told(head(""), tx{set(tips, "main", "null")}, tx{says(1, 0, user("Hello")), set(tips, "main", `"`+eid(1)+`"`)}, tx{says(2, 1, user("More"))}, tx{set("app", "k", "1")})
	lines := strings.SplitAfter(good, "\n")
	without := func(i int) string { return strings.Join(lines[:i], "") + strings.Join(lines[i+1:], "") }
	swap := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("%q is not in the log", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"as it is":                  {good, ""},
		"CRLF":                      {strings.ReplaceAll(good, "\n", "\r\n"), ""},
		"no id in the header":       {swap(`"id":"`+sessionID+`",`, ""), "HEADER_INVALID"},
		"no cwd":                    {swap(`,"cwd":"/home/user/project"`, ""), "HEADER_INVALID"},
		"no time":                   {swap(`"createdAt":1700000000000`, `"createdAt":-1`), "HEADER_INVALID"},
		"no storage version":        {swap(`"storageVersion":1,`, ""), "HEADER_INVALID"},
		"nextSeq":                   {swap(`"cwd"`, `"nextSeq":100,"cwd"`), ""},
		"no nextSeq":                {swap(`"cwd"`, `"nextSeq":0,"cwd"`), "HEADER_INVALID"},
		"parent session":            {swap(`"cwd"`, `"parentSessionId":7,"cwd"`), "HEADER_INVALID"},
		"parent path":               {swap(`"cwd"`, `"legacyParentSessionPath":7,"cwd"`), "HEADER_INVALID"},
		"an unknown member":         {swap(`"cwd"`, `"new":7,"cwd"`), ""},
		"no header":                 {without(0), "HEADER_MISSING"},
		"a second header":           {lines[0] + lines[1] + lines[0] + strings.Join(lines[2:], ""), "HEADER_MISPLACED"},
		"an empty line of writes":   {good + "[]\n", ""},
		"a line of no objects":      {good + "[1]\n", "EVENT_INVALID"},
		"an empty object":           {good + "{}\n", "EVENT_INVALID"},
		"no number":                 {swap(`"seq":5,`, ""), "EVENT_INVALID"},
		"number 0":                  {swap(`"seq":1,`, `"seq":0,`), "EVENT_INVALID"},
		"half a number":             {swap(`"seq":5,`, `"seq":5.5,`), "EVENT_INVALID"},
		"a number above all":        {swap(`"seq":5,`, `"seq":9007199254740992,`), "EVENT_INVALID"},
		"a hole":                    {swap(`"seq":5,`, `"seq":99,`), ""},
		"a number that falls":       {swap(`"seq":4,`, `"seq":2,`), "SEQ_FORK"},
		"a number that stands":      {swap(`"seq":4,`, `"seq":3,`), "SEQ_FORK"},
		"it falls in one line":      {swap(`"seq":3,`, `"seq":2,`), "EVENT_INVALID"},
		"a line twice":              {strings.Join(lines[:4], "") + strings.Join(lines[3:], ""), "SEQ_DUP"},
		"lines twice":               {good + strings.Join(lines[1:], ""), "SEQ_DUP, SEQ_DUP, SEQ_DUP, SEQ_DUP"},
		"the log twice":             {good + good, "HEADER_MISPLACED, SEQ_DUP, SEQ_DUP, SEQ_DUP, SEQ_DUP"},
		"an unknown kind":           {swap(`"kind":"value","op":"set","namespace":"app"`, `"kind":"foo","namespace":"app"`), "EVENT_UNKNOWN"},
		"an unknown op":             {swap(`"op":"set","namespace":"app"`, `"op":"add","namespace":"app"`), "EVENT_INVALID"},
		"an unknown op on a list":   {good + `{"kind":"list","op":"set","seq":6,"namespace":"a","key":"k"}` + "\n", "EVENT_INVALID"},
		"an unknown entry":          {swap(`"type":"message"`, `"type":"new"`), "EVENT_UNKNOWN entry"},
		"an unknown name space":     {swap(`"app"`, `"pi.new"`), ""},
		"no time of an entry":       {swap(`,"timestamp":1700000000000}`, `}`), "EVENT_INVALID"},
		"an id twice":               {swap(`"id":"`+eid(2), `"id":"`+eid(1)), "ID_CONFLICT"},
		"no id":                     {swap(`"id":"`+eid(2)+`",`, ``), "EVENT_INVALID"},
		"no parent":                 {swap(`"parentId":"`+eid(1)+`",`, ``), "PARENT_MISSING"},
		"another's parent":          {swap(`"parentId":"`+eid(1), `"parentId":"`+eid(9)), "PARENT_MISSING"},
		"a line is lost":            {without(2), "PARENT_MISSING"},
		"only the first is told":    {swap(`"seq":4,`, `"seq":2,`) + "{}\n[7]\n", "SEQ_FORK"},
		"broken, then lost":         {strings.Join(lines[:4], "") + "{\"seq\":6\n" + strings.Replace(lines[4], `"seq":5`, `"seq":6`, 1), "SEQ_GAP"},
		"broken, and nothing lost":  {strings.Join(lines[:4], "") + "{\"seq\":5\n" + lines[4], ""},
		"blank, and nothing lost":   {strings.Join(lines[:4], "") + "\n" + lines[4], ""},
		"the first is broken":       {lines[0] + "{\n" + strings.Join(lines[2:], ""), "SEQ_GAP"},
		"broken at the end":         {good + `[{"kind":"val` + "\n", ""},
		"a last line without LF":    {strings.TrimSuffix(good, "\n"), ""},
		"a tip of a branch is lost": {swap(`"value":"`+eid(1)+`"`, `"value":"`+eid(9)+`"`), "EVENT_INVALID lane"},
		"a tip that is no entry":    {swap(`"value":"`+eid(1)+`"`, `"value":7`), "EVENT_INVALID lane"},
		"no tip":                    {strings.ReplaceAll(strings.ReplaceAll(good, tips, "app"), `"app","key":"k","value":1`, `"`+laneConfigs+`","key":"main","value":{}`), "EVENT_INVALID lane"},
		"no state":                  {swap(`"app","key":"k","value":1`, `"`+laneConfigs+`","key":"main","value":{}`), "EVENT_INVALID lane"},
		"no configuration":          {swap(`"app","key":"k","value":1`, `"`+laneStates+`","key":"main","value":{"currentOperationId":null,"lastOperationId":null,"inbox":[]}`), "EVENT_INVALID lane"},
	} {
		if got := decode(t, c.text).codes(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A copy leaves the log with the newline that it has to itself.
func TestDropCopy(t *testing.T) {
	text := told(head(""), tx{set("app", "k", "1")}, tx{set("app", "k", "2")})
	lines := strings.SplitAfter(text, "\n")
	for _, c := range []string{text + lines[2], text + strings.TrimSuffix(lines[2], "\n")} {
		f := decode(t, c).findings[0]
		if len(f.Patches) != 1 {
			t.Fatalf("%+v", f)
		}
		p := f.Patches[0]
		if got := c[:p.At] + c[p.At+p.Del:]; got != text {
			t.Errorf("%q stays of %q", got, c)
		}
	}
}

// A usage row has an id, and is no parent.
func TestRowIsNoParent(t *testing.T) {
	text := told(head(""), tx{paid(5)}, tx{says(6, 5, user("x"))})
	if got := decode(t, text).codes(); got != "PARENT_MISSING" {
		t.Error(got)
	}
	text = told(head(""), tx{paid(5), says(5, 0, user("x"))})
	if got := decode(t, text).codes(); got != "ID_CONFLICT" {
		t.Error(got)
	}
}

// Calls at the end of a branch in which nothing runs are noted, in whatever order their results stand.
func TestIdle(t *testing.T) {
	base := []tx{{says(1, 0, user("x"))}, {says(2, 1, asking("c0", "c1"))}}
	tip := func(n int) tx { return tx{set(tips, "main", `"`+eid(n)+`"`)} }
	more := func(log ...tx) string { return told(head(""), append(base[:2:2], log...)...) }
	for name, c := range map[string]struct{ text, want string }{
		"none":         {more(tip(2)), "DANGLING_CALL idle c0, DANGLING_CALL idle c1"},
		"one":          {more(tx{says(3, 2, result("c1"))}, tip(3)), "DANGLING_CALL idle c0"},
		"both":         {more(tx{says(3, 2, result("c1"))}, tx{says(4, 3, result("c0"))}, tip(4)), ""},
		"others":       {more(tx{says(3, 2, user("never mind"))}, tip(3)), ""},
		"not its path": {more(tip(1)), ""},
		"a custom entry is behind it": {more(tx{`{"kind":"entry","id":"` + eid(3) + `","parentId":"` + eid(2) + `","type":"custom","customType":"n","timestamp":1}`}, tip(3)),
			"DANGLING_CALL idle c0, DANGLING_CALL idle c1"},
	} {
		if got := decode(t, c.text).codes(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A record with bytes that no parser takes is read as it will be once it is mended.
func TestSalvaged(t *testing.T) {
	text := told(head(""), tx{says(1, 0, user("H\xffi\x01")), set(tips, "main", `"`+eid(1)+`"`)})
	first, second, _ := strings.Cut(text, "\n")
	d := newDecoder()
	var b format.Batch
	for i, raw := range []string{first, strings.TrimSuffix(second, "\n")} {
		record, caps, ok := single.Take([]byte(raw))
		if !ok {
			t.Fatal(raw)
		}
		r := &session.Record{N: int64(i), Raw: record, Caps: caps}
		r.Text, r.TextLen = int64(i*(len(first)+1)), int64(len(record))
		if i == 1 {
			r.Marks = session.Salvaged
		}
		b.Reset()
		d.Decode(r, &b)
	}
	d.End(&b)
	if len(b.Findings) > 0 || len(b.Events) != 2 {
		t.Errorf("%+v", b)
	}
}
