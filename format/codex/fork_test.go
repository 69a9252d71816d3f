package codex

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

const (
	childID = "019f0000-0000-7000-8000-00000000000c"
	baseID  = "01900000-0000-7000-8000-00000000000b"
)

var forkTime = time.Date(2026, 5, 6, 7, 8, 9, 123e6, time.UTC)

// homed makes a home with rollouts in it and gives the path of the first.
func homed(t testing.TB, files ...string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sessions", "2026", "01", "02")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, files[0])
}

func requestFor(t testing.TB, path string, n int64) format.ForkRequest {
	t.Helper()
	first, err := firstOf(piece{path: path, framing: dialect{generation: bare}.Framing()})
	if err != nil {
		t.Fatal(err)
	}
	d, err := Format{}.Dialect(format.Peek{Path: path, Line: first, First: first, FirstLine: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	return format.ForkRequest{
		Path: path, Dialect: d, ID: childID, Now: forkTime, Cut: format.Cut{Ref: session.Ref{N: n}},
		Each: func(yield func(r *session.Record, taken bool) error) error {
			return piece{path: path, framing: d.Framing()}.each(func(r *session.Record) error { return yield(r, r.N <= n) })
		},
	}
}

// forked is the name of a child, and what is in it.
func forked(q format.ForkRequest) (name, text string, c format.Child, err error) {
	if c, err = (Format{}).Fork(q); err != nil {
		return
	}
	var b bytes.Buffer
	err = c.Files[0].Write(&b)
	return c.Files[0].Name, b.String(), c, err
}

func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

func user(text string) string {
	return `{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}`
}

const (
	prompt     = `{"type":"user_message","message":"x"}`
	answer     = `{"type":"message","role":"assistant","content":[{"type":"output_text","text":"y"}]}`
	callItem   = `{"type":"function_call","call_id":"c1","name":"sh","arguments":"{}"}`
	outputItem = `{"type":"function_call_output","call_id":"c1","output":"z"}`
	begun      = `{"type":"task_started","turn_id":"t1"}`
	ended      = `{"type":"task_complete","turn_id":"t1"}`
)

// Where a rollout may be cut: the lines that are legal, in brackets those that closers make legal.
func TestCuts(t *testing.T) {
	head := enveloped("session_meta", `{"id":"`+thread+`"}`)
	item := func(s string) string { return enveloped("response_item", s) }
	event := func(s string) string { return enveloped("event_msg", s) }
	for _, c := range []struct {
		name, want string
		lines      []string
	}{
		{"a turn", "9 [4 5 8]", []string{head, event(begun), item(user("x")), event(prompt), item(answer), item(callItem), event(`{"type":"token_count"}`), item(outputItem), event(ended)}},
		{"killed in a call", "4 [3 5 6 7]", []string{head, event(begun), event(prompt), event(ended), event(begun), item(user("x")), item(callItem)}},
		{"nothing said", "", []string{head, event(begun), item(user("<a>b</a>"))}},
		{"behind a turn", "3 4 5", []string{head, event(begun), event(ended), enveloped("turn_context", `{}`), event(`{"type":"token_count"}`)}},
		{"without turns", "6 9", []string{head, item(user("<a>b</a>")), item(user("x")), event(prompt), item(answer), event(`{"type":"token_count"}`), item(user("x")), event(prompt), item(answer)}},
		{"without turns, killed in a call", "3 [6]", []string{head, item(user("x")), item(answer), item(user("x")), event(prompt), item(callItem)}},
		{"turns from a later release", "3 6", []string{head, item(user("x")), item(answer), event(begun), item(user("x")), event(ended)}},
		{"taken back", "4 5 [3]", []string{head, event(begun), event(prompt), event(ended), event(`{"type":"thread_rolled_back","num_turns":0}`), event(`{"type":"thread_rolled_back","num_turns":1}`)}},
		{"a summary", "6 [3 4 5 7]", []string{head, event(begun), event(prompt), item(callItem), enveloped("compacted", `{"message":"m","replacement_history":[]}`), event(ended), event(begun)}},
		{"bare", "4 6", []string{`{"id":"` + thread + `","timestamp":` + at + `}`, user("x"), `{"record_type":"state"}`, answer, user("x"), answer}},
	} {
		text := lines(c.lines...)
		path := homed(t, place, text)
		q := requestFor(t, path, 0)
		q.Each = nil
		cuts, err := Format{}.Cuts(q)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var legal, closable []string
		for _, x := range cuts {
			switch {
			case x.Open == "":
				legal = append(legal, fmt.Sprint(x.Logical))
			case x.Closable:
				closable = append(closable, fmt.Sprint(x.Logical))
			}
		}
		got := strings.Join(legal, " ")
		if len(closable) > 0 {
			got += " [" + strings.Join(closable, " ") + "]"
		}
		if got != c.want || len(cuts) != len(c.lines) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// The child of a rollout that begins in another stands alone.
func TestForkStandsAlone(t *testing.T) {
	done := `{"type":"item_completed","thread_id":"` + baseID + `","turn_id":"t1","item":{"type":"UserMessage","n":1.0}}`
	baseText := lines(
		page(0, "session_meta", `{"id":"`+baseID+`","history_mode":"paginated"}`),
		page(1, "event_msg", begun), page(2, "event_msg", done), page(3, "event_msg", ended))
	more := baseText + lines(page(4, "event_msg", begun))
	own := lines(
		page(4, "session_meta", fmt.Sprintf(`{"forked_from_ordinal_exclusive":4,"session_id":"%s","id":"%s","timestamp":"then","forked_from_id":"%s","cwd":"/w","model_provider":"p","history_mode":"paginated","history_base":{"thread_id":"%s","end_ordinal_exclusive":4,"end_byte_offset":%d}}`,
			thread, thread, baseID, baseID, len(baseText))),
		page(5, "event_msg", `{"type":"thread_settings_applied","thread_id":"`+thread+`","thread_settings":{"cwd":"/w","runtime_workspace_roots":["/w","/x"]}}`),
		page(6, "event_msg", `{"type":"sub_agent_activity","thread_id":"`+thread+`"}`),
		page(7, "event_msg", begun), page(8, "event_msg", ended))
	stamp := `"2026-05-06T07:08:09.123Z"`
	want := lines(
		`{"timestamp":`+stamp+`,"ordinal":0,"type":"session_meta","payload":{"session_id":"`+childID+`","id":"`+childID+`","timestamp":`+stamp+`,"forked_from_id":"`+thread+`","cwd":"/elsewhere","model_provider":"p","history_mode":"paginated"}}`,
		page(1, "event_msg", begun), page(2, "event_msg", strings.Replace(done, baseID, childID, 1)), page(3, "event_msg", ended),
		page(4, "event_msg", `{"type":"thread_settings_applied","thread_id":"`+childID+`","thread_settings":{"cwd":"/elsewhere","runtime_workspace_roots":["/elsewhere","/x"]}}`),
		page(5, "event_msg", `{"type":"sub_agent_activity","thread_id":"`+thread+`"}`))
	baseName := "rollout-2026-01-01T00-00-00-" + baseID + ".jsonl"
	for _, files := range [][]string{
		{place, own, baseName, more},
		{place, own, baseName + ".zst", string(scan.EncodeFrame(nil, []byte(more)))},
	} {
		q := requestFor(t, homed(t, files...), 2)
		q.CWD = "/elsewhere"
		name, text, c, err := forked(q)
		if err != nil {
			t.Fatal(err)
		}
		if text != want {
			t.Errorf("got\n%swant\n%s", text, want)
		}
		if name != "2026/05/06/rollout-2026-05-06T07-08-09-"+childID+".jsonl" || filepath.Base(c.Root) != "sessions" || len(c.Notes) != 0 {
			t.Error(name, c.Root, c.Notes)
		}
		cuts, err := Format{}.Cuts(q)
		if err != nil || cuts[0].Open != "" || cuts[0].Turn != 1 || cuts[0].Seq != 4 || cuts[4].Turn != 2 || cuts[4].ID != "t1" {
			t.Error(cuts, err)
		}
	}
}

// Children of older kinds.
func TestForkOlder(t *testing.T) {
	stamp := `"2026-05-06T07:08:09.123Z"`
	text := lines(
		enveloped("session_meta", `{"id":"`+thread+`","source":{"subagent":"review"}}`), enveloped("session_meta", `{"id":"`+baseID+`"}`),
		enveloped("response_item", answer), enveloped("event_msg", ended))
	_, got, c, err := forked(requestFor(t, homed(t, place, text), 2))
	want := lines(
		`{"timestamp":`+stamp+`,"type":"session_meta","payload":{"model_provider":"openai","session_id":"`+childID+`","forked_from_id":"`+thread+`","timestamp":`+stamp+`,"id":"`+childID+`","source":{"subagent":"review"}}}`,
		enveloped("response_item", answer))
	if got != want || err != nil || len(c.Notes) != 2 {
		t.Errorf("%v %v\n%s", err, c.Notes, got)
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "copy.jsonl")
	if err := os.WriteFile(path, []byte(lines(`{"id":"`+thread+`","timestamp":`+at+`,"instructions":null}`, answer, answer)), 0o600); err != nil {
		t.Fatal(err)
	}
	name, got, c, err := forked(requestFor(t, path, 1))
	if got != lines(`{"id":"`+childID+`","timestamp":`+stamp+`,"instructions":null}`, answer) || err != nil || len(c.Notes) != 1 {
		t.Errorf("%v %v\n%s", err, c.Notes, got)
	}
	if c.Root != dir || strings.Contains(name, "/") {
		t.Error(c.Root, name)
	}
}

// What cannot be forked is refused, with the reason.
func TestForkRefuses(t *testing.T) {
	citing := func(id, of string, bytes int) string {
		return lines(page(4, "session_meta", fmt.Sprintf(`{"id":"%s","history_mode":"paginated","history_base":{"thread_id":"%s","end_ordinal_exclusive":4,"end_byte_offset":%d}}`, id, of, bytes)))
	}
	baseName := "rollout-2026-01-01T00-00-00-" + baseID + ".jsonl"
	whole := lines(page(0, "session_meta", `{"id":"`+baseID+`","history_mode":"paginated"}`), page(1, "event_msg", begun))
	for _, c := range []struct {
		name, id string
		files    []string
	}{
		{"no UUID", "child", []string{place, whole}},
		{"large letters", strings.ToUpper(childID), []string{place, whole}},
		{"base is not there", childID, []string{place, citing(thread, baseID, 9)}},
		{"base is itself", childID, []string{place, citing(thread, thread, 9)}},
		{"base leads back", childID, []string{place, citing(thread, baseID, 9), baseName, citing(baseID, thread, 9)}},
		{"base is short", childID, []string{place, citing(thread, baseID, len(whole)+1), baseName, whole}},
		{"base is damaged", childID, []string{place, citing(thread, baseID, len(whole)+8), baseName, whole + `{"torn":` + "\n" + page(3, "event_msg", begun)}},
		{"base is damaged in front", childID, []string{place, citing(thread, baseID, len(whole)+8), baseName, `{"torn":` + "\n" + whole}},
	} {
		q := requestFor(t, homed(t, c.files...), 0)
		q.ID = c.id
		_, _, _, err := forked(q)
		var r *format.RefusedError
		if !errors.As(err, &r) || r.Why == "" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// An id is a UUID, version 7, made of the time and what was given as chance.
func TestNewID(t *testing.T) {
	id, err := Format{}.NewID(forkTime, bytes.NewReader(bytes.Repeat([]byte{0xFF}, 10)))
	if want := fmt.Sprintf("%012x", forkTime.UnixMilli()); err != nil || id != want[:8]+"-"+want[8:]+"-7fff-bfff-ffffffffffff" {
		t.Error(id, err)
	}
	if _, err := (Format{}).NewID(forkTime, strings.NewReader("short")); err == nil {
		t.Error("an id of too little chance")
	}
}

// Whose child a rollout says that it is, and what a copy is known by.
func TestHeir(t *testing.T) {
	peek := func(s string) format.Peek { return format.Peek{First: []byte(s)} }
	for _, c := range []struct{ first, parent string }{
		{enveloped("session_meta", `{"id":"`+thread+`","forked_from_id":"`+baseID+`"}`), baseID},
		{enveloped("session_meta", `{"id":"`+thread+`","forked_from_id":null}`), ""},
		{enveloped("session_meta", `{"id":"`+thread+`","forked_from_id":"`+baseID+`","history_base":{"thread_id":"x"}}`), ""},
		{enveloped("event_msg", `{"forked_from_id":"`+baseID+`"}`), ""},
		{`{"id":"x"`, ""},
	} {
		h, ok := Format{}.Inherits(peek(c.first))
		if h.Parent != c.parent || ok != (c.parent != "") || ok && h.Records != -1 {
			t.Errorf("%s: %+v %v", c.first, h, ok)
		}
	}
	path := homed(t, place, "", "rollout-2026-01-01T00-00-00-"+baseID+".jsonl", "")
	if got := (Format{}).Ancestor(path, format.Heritage{Parent: baseID}); filepath.Base(got) != "rollout-2026-01-01T00-00-00-"+baseID+".jsonl" {
		t.Error(got)
	}
	if got := (Format{}).Ancestor(path, format.Heritage{Parent: childID}); got != "" {
		t.Error(got)
	}
	item := func(s string) []byte { return []byte(enveloped("response_item", s)) }
	old, fresh := item(`{"type":"message","id":"m","content":[{"text":"a"}],"phase":null}`), []byte(page(7, "response_item", `{"type":"message","id":"m","content":[{"text":"a","detail":"low"}],"status":"done"}`))
	if !(Format{}).Alike(fresh, old) || (Format{}).Known(fresh) != (Format{}).Known(old) || (Format{}).Known(old) == (session.ID{}) {
		t.Error("a copy is not known")
	}
	for _, other := range [][]byte{item(`{"type":"message","id":"m","content":[{"text":"b"}]}`), item(`{"type":"message","id":"m","content":[]}`), []byte(enveloped("event_msg", `{}`)), []byte(`{`)} {
		if (Format{}).Alike(other, old) {
			t.Errorf("%s is taken for a copy", other)
		}
	}
	if (Format{}).Known(item(callItem)) == (Format{}).Known(item(outputItem)) {
		t.Error("a call is known by the same as its output")
	}
}
