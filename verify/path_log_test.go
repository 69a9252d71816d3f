package verify_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/pi"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

const (
	piHead = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}` + "\n"
	piPath = "no-such-directory/2026-01-01T00-00-00-000Z_s1.jsonl"
	zero   = `{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}}`
)

// piLog writes the entries of a session from a shorthand, one a word group. Each has a letter for its id, a, b, c, …, and
// hangs under the one in front of it:
//
//	u  cm  sh  hook        of the user, custom_message, command, a hook's message of version 2
//	a 1 2  len 1  err 1  abo 1    answers with calls: whole, cut off, failed, aborted
//	r 1  ours 1  claw 1    results: real, ours, the one that OpenClaw makes up
//	c a                    a compaction that keeps from a on
//	bs  bs0                the summary of a branch, and an empty one
//	ed a  ed a + 1         an edit that takes a out, that puts other words with call 1 in its place
//	sys  sh-  label a  info  usage  custom  model  think  odd     what is no talk
//	husk                   a message entry without message
//	{}                     any JSON, as it is
//
// "<b u" hangs it under b, "<- u" under nothing, "<. u" lacks the member, "<” u" has an empty one, "<? u" a lost one.
// "@b u" has the id b, "@. u" none. "=b" is a copy of b, byte for byte. "~u" is lost, "^u" torn behind its parent, "%u" torn in front of its id.
func piLog(records string) string {
	var out strings.Builder
	n, up := 0, "null"
	lines := map[string]string{}
	for _, rec := range strings.Split(records, "|") {
		w := strings.Fields(rec)
		if len(w) == 0 {
			continue
		}
		if w[0][0] == '{' || w[0][0] == '[' {
			out.WriteString(strings.TrimSpace(rec) + "\n")
			continue
		}
		if w[0][0] == '=' {
			out.WriteString(lines[w[0][1:]] + "\n")
			continue
		}
		id, parent := `"`+letter(n)+`"`, up
		for ; len(w) > 1 && (w[0][0] == '@' || w[0][0] == '<'); w = w[1:] {
			v := `"` + strings.Trim(w[0][1:], `'`) + `"`
			switch w[0][1:] {
			case "-":
				v = "null"
			case ".":
				v = ""
			case "?":
				v = `"lost"`
			}
			if w[0][0] == '@' {
				id = v
			} else {
				parent = v
			}
		}
		mark := byte(0)
		if strings.IndexByte("~^%", w[0][0]) >= 0 {
			mark, w[0] = w[0][0], w[0][1:]
		}
		line := piEntryLine(n, id, parent, w)
		lines[letter(n)] = line
		if id != "" {
			up = id
		}
		n++
		switch mark {
		case '~':
			continue
		case '^':
			line = line[:strings.Index(line, `"timestamp"`)+15]
		case '%':
			line = line[:11]
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// piHeadOld is the header of a log of version 1.
var piHeadOld = strings.Replace(piHead, `"version":3,`, "", 1)

var idMembers = regexp.MustCompile(`"(id|parentId)":("[^"]*"|null),`)

// piLogOld writes entries as version 1 does: without ids, and a compaction counts the records in front of the first that it keeps.
func piLogOld(records string) string {
	var out strings.Builder
	for l := range strings.Lines(piLog(records)) {
		head, _, _ := strings.Cut(l, `"timestamp"`)
		l = idMembers.ReplaceAllString(head, "") + strings.TrimPrefix(l, head)
		if i := strings.Index(l, `"firstKeptEntryId":"`); i >= 0 {
			id, rest, _ := strings.Cut(l[i+len(`"firstKeptEntryId":"`):], `"`)
			l = l[:i] + fmt.Sprintf(`"firstKeptEntryIndex":%d`, number(id)+1) + rest
		}
		out.WriteString(l)
	}
	return out.String()
}

// number is which record a letter stands for; one that there is none of is far behind.
func number(name string) int {
	for n := range 200 {
		if letter(n) == name {
			return n
		}
	}
	return 999
}

func stamp(n int) string {
	return fmt.Sprintf("2026-01-01T%02d:%02d:%02d.000Z", (n+1)/3600, (n+1)/60%60, (n+1)%60)
}

func piEntryLine(n int, id, parent string, w []string) string {
	base := ""
	if id != "" {
		base += `"id":` + id + ","
	}
	if parent != "" {
		base += `"parentId":` + parent + ","
	}
	base += `"timestamp":"` + stamp(n) + `"`
	arg := func(i int) string {
		if i < len(w) {
			return strings.Trim(w[i], "'")
		}
		return ""
	}
	calls := func(ids []string) string {
		blocks := []string{`{"type":"text","text":"t"}`}
		for _, id := range ids {
			blocks = append(blocks, `{"type":"toolCall","id":"`+strings.Trim(id, "'")+`","name":"sh","arguments":{}}`)
		}
		return "[" + strings.Join(blocks, ",") + "]"
	}
	entry := func(typ, more string) string { return `{"type":"` + typ + `",` + base + more + "}" }
	message := func(role, more string) string { return entry("message", `,"message":{"role":"`+role+`",`+more+"}") }
	answer := func(stop string) string {
		return message("assistant", `"content":`+calls(w[1:])+`,"usage":`+zero+`,"stopReason":"`+stop+`"`)
	}
	result := func(text, more string) string {
		return message("toolResult", `"toolCallId":"`+arg(1)+`","toolName":"sh","content":[{"type":"text","text":"`+text+`"}],`+more+`"isError":false`)
	}
	switch w[0] {
	case "u":
		return message("user", `"content":"t"`)
	case "hook":
		return message("hookMessage", `"content":"t"`)
	case "cm":
		return entry("custom_message", `,"customType":"x","content":"t","display":true`)
	case "sh", "sh-":
		return message("bashExecution", fmt.Sprintf(`"command":"ls","output":"","excludeFromContext":%t`, w[0] == "sh-"))
	case "sys":
		return message("system", `"content":"t"`)
	case "a":
		if len(w) > 1 {
			return answer("toolUse")
		}
		return answer("stop")
	case "len":
		return answer("length")
	case "err":
		return answer("error")
	case "abo":
		return answer("aborted")
	case "r":
		return result("out of "+arg(1), "")
	case "ours":
		return result(finding.ToolOutcomeUnknown+": x", `"details":{"sessfix":{"code":"TOOL_OUTCOME_UNKNOWN","v":1}},`)
	case "claw":
		return result("[openclaw] missing tool result in session history; inserted synthetic error result for transcript repair.", "")
	case "c":
		return entry("compaction", `,"summary":"s","firstKeptEntryId":"`+arg(1)+`","tokensBefore":9`)
	case "bs":
		return entry("branch_summary", `,"fromId":"root","summary":"s"`)
	case "bs0":
		return entry("branch_summary", `,"fromId":"root","summary":""`)
	case "ed":
		if arg(2) == "+" {
			return entry("context_edit", `,"targetId":"`+arg(1)+`","replacement":{"content":`+calls(w[3:])+`}`)
		}
		return entry("context_edit", `,"targetId":"`+arg(1)+`","replacement":null`)
	case "label":
		return entry("label", `,"targetId":"`+arg(1)+`","label":"l"`)
	case "info":
		return entry("session_info", `,"name":"x"`)
	case "usage":
		return entry("usage", `,"kind":"x","provider":"p","model":"m","usage":`+zero)
	case "custom":
		return entry("custom", `,"customType":"x"`)
	case "model":
		return entry("model_change", `,"provider":"p","modelId":"m"`)
	case "think":
		return entry("thinking_level_change", `,"thinkingLevel":"low"`)
	case "odd":
		return entry("odd", "")
	case "husk":
		return entry("message", "")
	}
	panic("no such record: " + w[0])
}

// piMended is a session before and after its repair.
type piMended struct {
	in          verify.Input
	before      *verify.Result
	after       *verify.Result
	plan        *repair.Plan
	text, fixed string // fixed is text where nothing is mended
}

// mendPi verifies a session as a release reads it, and repairs it in memory.
func mendPi(t testing.TB, path, client, text string) piMended {
	t.Helper()
	m, err := tryPi(t, path, client, text)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, said(m.before), text)
	}
	return m
}

func tryPi(t testing.TB, path, client, text string) (piMended, error) {
	t.Helper()
	m := piMended{text: text, fixed: text}
	r := strings.NewReader(text)
	s, err := store.Recognise(t.Context(), path, r, r.Size(), store.Options{Formats: []format.Format{pi.Format{}}, Client: client})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	m.in = verify.InputOf(s, r, r.Size())
	if m.before, err = verify.Session(t.Context(), m.in); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, f := range m.before.Findings {
		if f.Off < 0 || f.Len < 0 || f.End() > int64(len(text)) || f.Message == "" || strings.Contains(f.Message, "%!") || f.Client == "" && f.Code != finding.VersionUnknown {
			t.Errorf("%+v in a file of %d", f, len(text))
		}
	}
	if m.before.Verdict != verify.Repairable {
		return m, nil
	}
	if m.plan, err = repair.MakePlan(t.Context(), m.in, m.before); err != nil {
		return m, fmt.Errorf("plan: %w", err)
	}
	done, err := m.plan.Apply(m.in.R, m.in.Size)
	if err != nil {
		return m, fmt.Errorf("apply: %w", err)
	}
	var out bytes.Buffer
	if _, err := done.WriteTo(&out); err != nil {
		return m, err
	}
	m.fixed = out.String()
	if m.after, err = repair.Prove(t.Context(), m.in, done); err != nil {
		return m, fmt.Errorf("prove: %w\n%s", err, m.fixed)
	}
	return m, nil
}

// view is what the client makes of a session: the way from the leaf up, and what is sent of it.
func view(text string, edits bool) string {
	c := openPi(text, edits)
	switch {
	case !c.loads:
		return "does not load"
	case c.circle:
		return "hangs"
	case c.breaks != "":
		return c.breaks
	}
	out := strings.Join(c.path, " ")
	if sent := strings.Join(c.sent, " "); sent != out {
		out += " > " + sent
	}
	if c.refuse != "" {
		out += " ! " + c.refuse
	}
	return out
}

// piCase is a session, what is found in it, and what the client sees before and after the repair: the way, then what is
// sent of it where that differs. After is "" where nothing changes.
type piCase struct{ name, log, want, before, after string }

func (c piCase) test(t *testing.T, client string) {
	t.Helper()
	text := piHead + piLog(c.log)
	m := mendPi(t, piPath, client, text)
	edits := client != "0.73.1"
	before, after := view(text, edits), view(m.fixed, edits)
	if m.fixed == text {
		after = ""
	}
	if got := said(m.before); got != c.want || before != c.before || after != c.after {
		t.Errorf("%s\nfound  %s\nwant   %s\nbefore %s\nwant   %s\nafter  %s\nwant   %s\n%s", c.log, got, c.want, before, c.before, after, c.after, m.fixed)
	}
}
