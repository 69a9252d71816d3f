package grok_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/grok"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

const childID = "01900000-0000-7000-8000-0000000000cc"

// forked are the files of a child, by their names in its folder, and its cut.
func (f folder) forked(t *testing.T, n int, q format.ForkRequest) (folder, format.Child, error) {
	t.Helper()
	dir := f.put(t, place)
	q.Path, q.Dir, q.ID, q.Now = dir, os.DirFS(dir), childID, time.Date(2026, 6, 1, 2, 3, 4, 5, time.UTC)
	cuts, err := (grok.Format{}).Cuts(q)
	if err != nil {
		t.Fatal(err)
	}
	q.Cut, q.Whole = cuts[n], n == len(cuts)-1
	c, err := (grok.Format{}).Fork(q)
	if err != nil {
		return nil, c, err
	}
	if want := filepath.Dir(filepath.Dir(dir)); c.Root != want {
		t.Errorf("the child lies in %s, not %s", c.Root, want)
	}
	child := folder{}
	for _, x := range c.Files {
		var b bytes.Buffer
		if err := x.Write(&b); err != nil {
			t.Fatal(err)
		}
		parts := strings.SplitN(x.Name, "/", 3)
		if parts[1] != childID {
			t.Errorf("a file is called %s", x.Name)
		}
		child[parts[2]] = b.String()
	}
	if last := c.Files[len(c.Files)-1].Name; !strings.HasSuffix(last, "/"+summaryName) {
		t.Errorf("%s is published last", last)
	}
	return child, c, nil
}

// clean tells whether a session has no damage.
func (f folder) clean(t *testing.T, at string) {
	t.Helper()
	found, err := store.Open(t.Context(), []string{f.put(t, at)}, store.Options{Formats: []format.Format{grok.Format{}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range found.Groups()[0] {
		res, err := verify.File(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range res.Findings {
			if x.Damage() {
				t.Errorf("%s: %s %s", filepath.Base(s.Path), x.Code, x.Message)
			}
		}
	}
}

// spoken is a session of so many turns, each with a call.
func spoken(turns int) folder {
	var log, told []string
	told = append(told, "system", `{"type":"user","content":[{"type":"text","text":"<user_info>\nWorkspace Path: /w\n</user_info>"}]}`)
	for n := range turns {
		c := fmt.Sprint("c", n)
		log = append(log, fmt.Sprintf("user:%d:q%d", n, n), "say:I look.", "call:"+c, "done:"+c+":r", "say:It is so.", "end:end_turn")
		told = append(told, fmt.Sprintf("user:%d:q%d", n, n), "asks:I look.:"+c, "result:"+c+":r", "answer:It is so.")
	}
	return folder{logName: updates(log...), historyName: history(told...), summaryName: goodSummary}
}

// mine is a log with the session's name as a child has it; what its events are called stays.
func mine(log string) string {
	return strings.ReplaceAll(log, `"sessionId":"`+id+`"`, `"sessionId":"`+childID+`"`)
}

func head(text string, lines int) string {
	return strings.Join(strings.SplitAfter(text, "\n")[:lines], "")
}

// Each place of a session: its turn, and what is open there, "" where it may be cut.
func TestCuts(t *testing.T) {
	const open1, open2, back, follows = "1 is open", "2 is open", "taken back", "compaction follows"
	two := []string{"user:0:a", "say:b", "end:end_turn", "user:1:c", "say:d", "end:end_turn"}
	twoTold := history("system", "user:0:a", "answer:b", "user:1:c", "answer:d")
	for _, c := range []struct {
		name    string
		log     []string
		history string
		more    folder
		want    []string
	}{
		{"two turns", two, twoTold, nil, []string{open1, open1, "", open2, open2, ""}},
		{"in front of them", append([]string{"idle"}, two...), twoTold, nil, []string{"empty", open1, open1, "", open2, open2, ""}},
		{"more behind a turn", []string{"user:0:a", "say:b", "end:end_turn", "idle", "user:1:c", "say:d", "end:end_turn", "idle"}, twoTold, nil, []string{open1, open1, "", "", open2, open2, "", ""}},
		{"without ends", []string{"user:0:a", "say:b", "user:1:c", "say:d"}, twoTold, nil, []string{open1, "", open2, ""}},
		{"without the first end", []string{"user:0:a", "say:b", "user:1:c", "say:d", "end:end_turn"}, twoTold, nil, []string{open1, "", open2, open2, ""}},
		{"without the second", []string{"user:0:a", "say:b", "end:end_turn", "user:1:c", "say:d"}, twoTold, nil, []string{open1, open1, "", open2, "close:2 has no end"}},
		{"a command", []string{"user:0:a", "say:b", "end:end_turn", "user::/status", "say:fine", "end:end_turn", "user:1:c", "say:d", "end:end_turn"}, twoTold, nil, []string{open1, open1, "", open1, open1, "", open2, open2, ""}},
		{"the host", []string{"user:0:a", "say:b", "end:end_turn", "host:h", "say:x", "user:1:c", "say:d", "end:end_turn"}, twoTold, nil, []string{open1, open1, "", open1, "", open2, open2, ""}},
		{"rewound", []string{"user:0:a", "say:b", "end:end_turn", "user:1:x", "say:y", "end:end_turn", "rewind:1", "user:1:c", "say:d", "end:end_turn"}, twoTold, nil, []string{open1, open1, "", back, back, back, "takes turns back", open2, open2, ""}},
		{"rewound to the start", []string{"user:0:x", "end:end_turn", "rewind:0", "user:0:a", "say:b", "end:end_turn"}, history("system", "user:0:a", "answer:b"), nil, []string{back, back, "takes turns back", open1, open1, ""}},
		{"rewound twice", []string{"user:0:a", "say:b", "end:end_turn", "user:1:x", "end:end_turn", "user:2:y", "end:end_turn", "rewind:2", "user:2:z", "end:end_turn", "rewind:1", "user:1:c", "say:d", "end:end_turn"}, twoTold, nil,
			[]string{open1, open1, "", back, back, back, back, back, back, back, "takes turns back", open2, open2, ""}},
		{"nothing was taken back", []string{"user:0:a", "say:b", "end:end_turn", "rewind:1", "user:1:c", "say:d", "end:end_turn"}, twoTold, nil, []string{open1, open1, "", "takes turns back", open2, open2, ""}},
		{"compacted", append(append([]string{}, two...), "wall:2:k.json", "idle", "user:2:e", "say:f", "end:end_turn"), history("system", "user:2:e", "answer:f"), folder{"k.json": wall("1")},
			[]string{open1, open1, "", open2, open2, follows, "", "", "3 is open", "3 is open", ""}},
		{"compacted, with words that the log does not tell", append([]string{`{"timestamp":1,"method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"user_message_chunk","content":{"type":"image","data":"","mimeType":"x"},"_meta":{"promptIndex":0}}}}`}, append(append([]string{}, two[1:]...), "wall:2:k.json", "user:2:e", "say:f", "end:end_turn")...), history("system", "user:2:e", "answer:f"), folder{"k.json": wall("1")},
			[]string{open1, open1, "does not tell all", open2, open2, follows, "", "3 is open", "3 is open", ""}},
		{"compacted, with a call that a person stopped", []string{"user:0:a", "call:c1", "end:cancelled", "user:1:c", "say:d", "end:end_turn", "wall:2:k.json", "user:2:e", "say:f", "end:end_turn"}, history("system", "user:2:e", "answer:f"), folder{"k.json": wall("1")},
			[]string{open1, open1, "does not tell all", open2, open2, follows, "", "3 is open", "3 is open", ""}},
		{"a call without result", []string{"user:0:a", "call:c1", "done:c1:r", "end:end_turn", "user:1:c", "say:d", "end:end_turn"}, history("system", "user:0:a", "asks::c1", "user:1:c", "answer:d"), nil,
			[]string{open1, open1, open1, "close:call c1", open2, open2, "close:call c1"}},
		{"a call without end", []string{"user:0:a", "call:c1", "end:end_turn", "user:1:c", "say:d", "end:end_turn"}, history("system", "user:0:a", "asks::c1", "result:c1:r", "user:1:c", "answer:d"), nil,
			[]string{open1, open1, "close:call c1", open2, open2, "close:call c1"}},
		{"one that a person stopped", []string{"user:0:a", "call:c1", "end:cancelled", "user:1:c", "say:d", "end:end_turn"}, history("system", "user:0:a", "asks::c1", "result:c1:Tool execution was halted by the harness (user_cancel); the tool `run` was not executed.", "user:1:c", "answer:d"), nil,
			[]string{open1, open1, "", open2, open2, ""}},
		{"one that ended all the same", []string{"user:0:a", "call:c1", "end:cancelled"}, history("system", "user:0:a", "asks::c1", "result:c1:r"), nil, []string{open1, open1, "close:call c1"}},
		{"a turn that is only on the log", two, history("system", "user:0:a", "answer:b"), nil, []string{open1, open1, "does not show", open2, open2, ""}},
		{"no numbers", []string{"user::a", "say:b", "user::c", "say:d"}, `{"role":"system","content":"s"}` + "\n" + `{"role":"user","content":"<user_query>\na\n</user_query>"}` + "\n" + `{"role":"assistant","content":"b"}` + "\n" + `{"role":"user","content":"<user_query>\nc\n</user_query>"}` + "\n",
			nil, []string{open1, "", open2, ""}},
		{"numbers from the second on", two, strings.Replace(twoTold, `,"prompt_index":0`, "", 1), nil, []string{open1, open1, "", open2, open2, ""}},
		{"numbers from the third on", append(append([]string{}, two...), "user:2:e", "say:f", "end:end_turn"), strings.NewReplacer(`,"prompt_index":0`, "", `,"prompt_index":1`, "").Replace(twoTold) + history("user:2:e", "answer:f"), nil, []string{open1, open1, "", open2, open2, "", "3 is open", "3 is open", ""}},
		{"more prompts in front of the first number than it says", append(append([]string{}, two...), "user:2:e", "say:f", "end:end_turn"), strings.NewReplacer(`,"prompt_index":0`, "", `,"prompt_index":1`, "").Replace(twoTold) + history("user:3:e", "answer:f"), nil,
			[]string{open1, open1, "does not show", open2, open2, "does not show", "3 is open", "3 is open", ""}},
		{"a call without end that was taken back", []string{"user:0:a", "say:b", "end:end_turn", "user:1:x", "call:c1", "end:end_turn", "rewind:1", "user:1:c", "say:d", "end:end_turn"}, twoTold, nil, []string{open1, open1, "", back, back, back, "takes turns back", open2, open2, ""}},
		{"no history", two, "", nil, []string{open1, open1, "history is empty", open2, open2, "history is empty"}},
		{"a crash that only the events know of", []string{"user:0:a", "say:b"}, history("system", "user:0:a"), folder{eventsName: events("turn")}, []string{open1, "close:1 has no end"}},
	} {
		f := folder{logName: updates(c.log...), historyName: c.history}
		maps.Copy(f, c.more)
		cuts, err := (grok.Format{}).Cuts(format.ForkRequest{Dir: f.files()})
		if err != nil || len(cuts) != len(c.want) {
			t.Errorf("%s: %d places, %v", c.name, len(cuts), err)
			continue
		}
		for i, want := range c.want {
			want, closable := strings.CutPrefix(want, "close:")
			x := cuts[i]
			if x.N != int64(i) || (x.Open == "") != (want == "") || !strings.Contains(x.Open, want) || x.Closable != closable {
				t.Errorf("%s: place %d is %q, closable %v, want %q, %v", c.name, i, x.Open, x.Closable, want, closable)
			}
		}
	}
}

// A child at every legal place of a session is clean; its log and history are its parent's, byte for byte, up to there.
func TestFork(t *testing.T) {
	parent := spoken(3).with(planName, `{"todos":{}}`).with("plan_mode.json", "{}").with("signals.json", `{"turnCount":3, "a":1.0}`).with("announcement_state.json", "{ }").with("title_refresh_idx", "2").with(eventsName, events("turn", "ended:completed")).with("rewind_points.jsonl", `{"prompt_index":0}`+"\n")
	for turn := 1; turn <= 3; turn++ {
		child, c, err := parent.forked(t, turn*6-1, format.ForkRequest{})
		if err != nil {
			t.Fatal(err)
		}
		child.clean(t, "sessions/%2Fw/"+childID)
		if want := mine(head(parent[logName], turn*6)); child[logName] != want {
			t.Errorf("turn %d: log\n%s", turn, child[logName])
		}
		if want := head(parent[historyName], 2+turn*4); child[historyName] != want {
			t.Errorf("turn %d: history\n%s", turn, child[historyName])
		}
		for _, name := range []string{planName, "plan_mode.json"} {
			if child[name] != parent[name] {
				t.Errorf("turn %d: %s is %q", turn, name, child[name])
			}
		}
		if want := fmt.Sprintf(`{"turnCount":%d, "a":1.0}`, turn); child["signals.json"] != want {
			t.Errorf("turn %d: signals %s", turn, child["signals.json"])
		}
		cut := turn < 3
		if (child["announcement_state.json"] == "") != cut || child["title_refresh_idx"] != map[bool]string{true: "0", false: "2"}[cut] || strings.Contains(child["fork_status.json"], "truncated") != cut {
			t.Errorf("turn %d: %q, %q, %q", turn, child["announcement_state.json"], child["title_refresh_idx"], child["fork_status.json"])
		}
		for _, name := range []string{eventsName, "rewind_points.jsonl"} {
			if _, ok := child[name]; ok || !strings.Contains(strings.Join(c.Notes, "\n"), name) {
				t.Errorf("turn %d: %s, and %q", turn, name, c.Notes)
			}
		}
	}
}

// The summary of a child is its parent's, but for what is about the child.
func TestForkSummary(t *testing.T) {
	parent := `{
  "info": {
    "id": "` + id + `",
    "x": 1.0,
    "cwd": "/w"
  },
  "attempt_id": "at1.0",
  "session_summary": "\u00e9",
  "created_at": "2024-06-13T00:00:00Z",
  "updated_at": "2024-06-13T00:00:00Z",
  "num_messages": 99,
  "num_chat_messages": 99,
  "current_model_id": "m",
  "next_trace_turn": 3,
  "chat_format_version": 1,
  "unknown": 1e400,
  "git_root_dir": "/w",
  "git_remotes": ["a", "b"],
  "collection_id": "c",
  "request_id": "r",
  "hidden": true,
  "last_active_at": "2024-06-13T00:00:01Z",
  "last_turn_summary": "t",
  "last_turn_summary_prompt_id": "p",
  "last_recap": {}
}`
	own := `{
  "info": {
    "id": "` + childID + `",
    "x": 1.0,
    "cwd": "/w"
  },
  "session_summary": "\u00e9",
  "created_at": "2026-06-01T02:03:04.000000005Z",
  "updated_at": "2026-06-01T02:03:04.000000005Z",
  "num_messages": %d,
  "num_chat_messages": %d,
  "current_model_id": "m",
  "next_trace_turn": 0,
  "chat_format_version": 1,
  "unknown": 1e400,
  "last_active_at": "2024-06-13T00:00:01Z",
%s  "parent_session_id": "` + id + `",
  "forked_at": "2026-06-01T02:03:04.000000005Z",
  "session_kind": "fork"
}`
	last := "  \"last_turn_summary\": \"t\",\n  \"last_turn_summary_prompt_id\": \"p\",\n  \"last_recap\": {},\n"
	for turn, want := range []string{fmt.Sprintf(own, 6, 6, ""), fmt.Sprintf(own, 12, 10, last)} {
		child, _, err := spoken(2).with(summaryName, parent).forked(t, turn*6+5, format.ForkRequest{})
		if err != nil || child[summaryName] != want {
			t.Errorf("%v\n%s\nwant\n%s", err, child[summaryName], want)
		}
	}
}

// What was taken back is in no child, and neither are the rewinds.
func TestForkRewound(t *testing.T) {
	f := folder{
		logName:     updates("user:0:a", "say:b", "end:end_turn", "user:1:x", "say:y", "end:end_turn", "rewind:1", "idle", "user:1:c", "say:d", "end:end_turn"),
		historyName: history("system", "user:0:a", "answer:b", "user:1:c", "answer:d"), summaryName: goodSummary,
	}
	lines := strings.SplitAfter(f[logName], "\n")
	child, _, err := f.forked(t, 10, format.ForkRequest{})
	if err != nil {
		t.Fatal(err)
	}
	child.clean(t, "sessions/%2Fw/"+childID)
	if want := mine(strings.Join(append(lines[:3:3], lines[7:]...), "")); child[logName] != want || child[historyName] != f[historyName] {
		t.Errorf("%s\nwant\n%s", child[logName], want)
	}
	if child, _, err = f.forked(t, 2, format.ForkRequest{}); err != nil || child[logName] != mine(strings.Join(lines[:3], "")) || child[historyName] != head(f[historyName], 3) {
		t.Errorf("%v, %s%s", err, child[logName], child[historyName])
	}
	var no *format.RefusedError
	if _, _, err = f.forked(t, 5, format.ForkRequest{}); !errors.As(err, &no) {
		t.Errorf("cut where it was taken back: %v", err)
	}
}

// One rewind may take back what another one did.
func TestForkRewoundTwice(t *testing.T) {
	f := folder{
		logName:     updates("user:0:a", "say:b", "end:end_turn", "user:1:x", "end:end_turn", "user:2:y", "end:end_turn", "rewind:2", "user:2:z", "end:end_turn", "rewind:1", "rewind:1", "user:1:c", "say:d", "end:end_turn", "user:2:v", "rewind:2"),
		historyName: history("system", "user:0:a", "answer:b", "user:1:c", "answer:d"), summaryName: goodSummary,
	}
	lines := strings.SplitAfter(f[logName], "\n")
	child, _, err := f.forked(t, 14, format.ForkRequest{})
	if err != nil {
		t.Fatal(err)
	}
	child.clean(t, "sessions/%2Fw/"+childID)
	if want := mine(strings.Join(append(lines[:3:3], lines[12:15]...), "")); child[logName] != want || child[historyName] != f[historyName] {
		t.Errorf("%s\nwant\n%s", child[logName], want)
	}
}

// Behind a compaction a child knows what its parent does. In front of it the log tells what that knew then.
func TestForkCompacted(t *testing.T) {
	checkpoint := strings.Replace(wall("1"), `,"created_at"`, `,"original_user_info":"<user_info>\nWorkspace Path: /w\n</user_info>","created_at"`, 1)
	f := folder{
		logName:     updates("user:0:a", "say:b", "end:end_turn", "user:1:c", "call:c1", "done:c1:r", "say:d", "end:end_turn", "wall:2:compaction_checkpoints/k.json", "user:2:e", "say:f", "end:end_turn"),
		historyName: history("system", `{"type":"user","content":[{"type":"text","text":"<summary>"}],"synthetic_reason":"compaction_meta"}`, "user:2:e", "answer:f"), summaryName: goodSummary,
		"compaction_checkpoints/k.json": checkpoint, "compaction_checkpoints/other.json": checkpoint, "compaction/INDEX.md": "i", "compaction/segment_000.md": "s",
	}
	const info = `{"type":"user","content":[{"type":"text","text":"<user_info>\nWorkspace Path: /w\n</user_info>"}]}`
	for _, c := range []struct {
		at, log int
		history string
		names   string
	}{
		{11, 12, f[historyName], "compaction/INDEX.md compaction/segment_000.md compaction_checkpoints/k.json"},
		{8, 9, head(f[historyName], 2), "compaction/INDEX.md compaction/segment_000.md compaction_checkpoints/k.json"},
		{2, 3, `{"type":"system","content":""}` + "\n" + history(info, "user:0:a") + `{"type":"assistant","content":"b","model_id":"m"}` + "\n", ""},
	} {
		child, x, err := f.forked(t, c.at, format.ForkRequest{})
		if err != nil {
			t.Fatal(err)
		}
		child.clean(t, "sessions/%2Fw/"+childID)
		var names []string
		for _, name := range child.names() {
			if strings.HasPrefix(name, "compaction") {
				names = append(names, name)
			}
		}
		if child[logName] != mine(head(f[logName], c.log)) || child[historyName] != c.history || strings.Join(names, " ") != c.names {
			t.Errorf("behind %d: %s\n%s%s", c.at, names, child[logName], child[historyName])
		}
		if retold := strings.Contains(strings.Join(x.Notes, " "), "made of the log"); retold != (c.names == "") {
			t.Errorf("behind %d: %q", c.at, x.Notes)
		}
	}
}

// A child for a worktree lies in the group of its folder, and says so.
func TestForkWorktree(t *testing.T) {
	f := spoken(1)
	dir := f.put(t, place)
	q := format.ForkRequest{Path: dir, Dir: os.DirFS(dir), ID: childID, CWD: "/w/ä b+c", Whole: true}
	cuts, _ := (grok.Format{}).Cuts(q)
	q.Cut = cuts[5]
	c, err := (grok.Format{}).Fork(q)
	if err != nil || !strings.HasPrefix(c.Files[0].Name, "%2Fw%2F%C3%A4%20b%2Bc/"+childID+"/") {
		t.Fatalf("%v, %s", err, c.Files[0].Name)
	}
	for _, x := range c.Files {
		var b bytes.Buffer
		x.Write(&b)
		var v struct {
			Info struct{ CWD string }
			Kind string `json:"session_kind"`
			From string `json:"source_workspace_dir"`
			Show string `json:"prompt_display_cwd"`
			Fork string `json:"kind"`
			New  string `json:"new_cwd"`
		}
		json.Unmarshal(b.Bytes(), &v)
		switch filepath.Base(x.Name) {
		case summaryName:
			if v.Info.CWD != q.CWD || v.Kind != "worktree" || v.From != "/w" || v.Show != "/w" {
				t.Error(b.String())
			}
		case "fork_status.json":
			if v.Fork != "worktree" || v.New != q.CWD || v.From != "/w" || v.Show != "/w" {
				t.Error(b.String())
			}
		}
	}
	var no *format.RefusedError
	if q.CWD = "/" + strings.Repeat("a", 300); !errors.As(func() error { _, err := (grok.Format{}).Fork(q); return err }(), &no) {
		t.Error("a folder of which the name is too long is taken")
	}
	// Elsewhere a child lies beside its parent.
	dir = f.put(t, "copy/some")
	if c, err = (grok.Format{}).Fork(format.ForkRequest{Path: dir, Dir: os.DirFS(dir), ID: childID, Cut: cuts[5], Whole: true}); err != nil || c.Root != filepath.Dir(dir) || c.Files[0].Name != childID+"/"+logName {
		t.Errorf("%v, %s %s", err, c.Root, c.Files[0].Name)
	}
}

// What is about the parent alone is left out. What was written in the first way is written as it is now, in the child's name.
func TestForkLines(t *testing.T) {
	const bare = `{"sessionId" : "` + id + `", "update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"a"},"n":1.0}}`
	f := folder{
		logName:     bare + "\n\n" + updates(`{"timestamp":1,"method":"_x.ai/session/update","params":{"update":{"sessionUpdate":"goal_updated"},"sessionId":"x"}}`, `{"timestamp":1,"method":"_x.ai/session/update","params":{"update":{"sessionUpdate":"workflow_updated"},"sessionId":"x"}}`, `{"params":{"sessionId":"other","sessionId":"twice","update":{"sessionUpdate":"later","y":1.0}},"timestamp":0}`),
		historyName: `{"role":"user","content":"<user_query>\na\n</user_query>"}` + "\n" + `{"x":1}` + "\n" + `{"role":"assistant","content":"b"}`, summaryName: strings.Replace(goodSummary, `,"chat_format_version":1`, "", 1),
	}
	told := `{"type":"user","content":[{"type":"text","text":"<user_query>\na\n</user_query>"}]}` + "\n" + `{"x":1}` + "\n" + `{"type":"assistant","content":"b"}` + "\n"
	child, _, err := f.forked(t, 3, format.ForkRequest{})
	want := `{"timestamp":0,"method":"session/update","params":{"sessionId" : "` + childID + `", "update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"a"},"n":1.0}}}` + "\n" +
		`{"params":{"sessionId":"other","sessionId":"` + childID + `","update":{"sessionUpdate":"later","y":1.0}},"timestamp":0}` + "\n"
	if err != nil || child[logName] != want || child[historyName] != told || !strings.Contains(child[summaryName], `"chat_format_version":1`) {
		t.Errorf("%v\n%s%s", err, child[logName], child[historyName])
	}
}

func TestNewID(t *testing.T) {
	id, err := (grok.Format{}).NewID(time.UnixMilli(0x0190aabbccdd), strings.NewReader(strings.Repeat("\xff", 10)))
	if err != nil || id != "0190aabb-ccdd-7fff-bfff-ffffffffffff" {
		t.Error(id, err)
	}
	if _, err := (grok.Format{}).NewID(time.Now(), strings.NewReader("short")); err == nil {
		t.Error("an id of too little chance")
	}
}

// Whatever a log and a history are, a fork is made or refused, and what it writes are whole lines.
func FuzzFork(f *testing.F) {
	two := spoken(2)
	f.Add(two[logName], two[historyName], 5)
	f.Add(updates("user:0:a", "end:end_turn", "rewind:0", "user::x", "host:h", "wall:1:k.json", "user:0:c", "call:c", "end:cancelled"), "{}\n", 8)
	f.Add(`{"params":{"update":{"sessionUpdate":"rewind_marker","target_prompt_index":0}}}`+"\n", `{"type":"user","prompt_index":-1}`, 0)
	f.Fuzz(func(t *testing.T, log, told string, n int) {
		dir := fstest.MapFS{logName: {Data: []byte(log)}, historyName: {Data: []byte(told)}, summaryName: {Data: []byte(goodSummary)}, "k.json": {Data: []byte(wall("1"))}}
		q := format.ForkRequest{Path: "/none/s", Dir: dir, ID: childID}
		cuts, err := (grok.Format{}).Cuts(q)
		if err != nil || len(cuts) == 0 {
			return
		}
		q.Cut = cuts[uint(n)%uint(len(cuts))]
		c, err := (grok.Format{}).Fork(q)
		if err != nil {
			var no *format.RefusedError
			if !errors.As(err, &no) {
				t.Fatal(err)
			}
			return
		}
		for _, x := range c.Files {
			var b bytes.Buffer
			if err := x.Write(&b); err != nil {
				t.Fatal(x.Name, err)
			}
			if strings.HasSuffix(x.Name, ".jsonl") && b.Len() > 0 && b.Bytes()[b.Len()-1] != '\n' {
				t.Fatalf("%s does not end with a line: %q", x.Name, b.String())
			}
		}
	})
}
