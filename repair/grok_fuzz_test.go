package repair_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// grokScraps are bytes that turn up where they do not belong.
var grokScraps = []string{
	"\n", "\r\n", "{", "}", "null\n", "[1,2]\n", "\x00\x00\x00", "\xff\xfe", "\xEF\xBB\xBF", "{}\n", `{"type":"`, `{"timestamp":`, `{"a":1}` + "\n",
	`{"type":"assistant","content":"x"}` + "\n", `{"type":"tool_result","tool_call_id":"call_shake","content":"done"}` + "\n",
	`{"type":"assistant","content":"","tool_calls":[{"id":"","name":"x","arguments":"{}"}]}` + "\n", `{"type":"user","content":"x"}` + "\n", `{"type":"odd"}` + "\n",
	`{"type":"user","content":[{"type":"text","text":"x"}],"prompt_index":7}` + "\n",
	`{"ts":"2026-06-09T08:00:03.000Z","type":"turn_ended","outcome":"cancelled"}` + "\n", `{"ts":"2026-06-09T08:00:03.000Z","type":"turn_started"}` + "\n",
	`{"timestamp":1780992002,"method":"_x.ai/session/update","params":{"sessionId":"S","update":{"sessionUpdate":"rewind_marker","target_prompt_index":0}}}` + "\n",
	`{"timestamp":1780992002,"method":"_x.ai/session/update","params":{"sessionId":"S","update":{"sessionUpdate":"turn_completed","prompt_id":"P","stop_reason":"end_turn"}}}` + "\n",
	`{"timestamp":1780992002,"method":"_x.ai/session/update","params":{"sessionId":"S","update":{"sessionUpdate":"compaction_checkpoint","prompt_index_at_compaction":1,"checkpoint_file":"compaction_checkpoints/x.json"}}}` + "\n",
	`{"timestamp":1780992002,"method":"session/update","params":{"sessionId":"S","update":{"sessionUpdate":"tool_call_update","toolCallId":"call_shake","status":"completed","content":[]}}}` + "\n",
	`{"timestamp":1780992002,"method":"session/update","params":{"sessionId":"S","update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"x"},"_meta":{"promptIndex":0}}}}` + "\n",
	`{"timestamp":1780992002,"method":"session/update","params":{"sessionId":"S","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}}}` + "\n",
	`{"sessionId":"S","update":{"sessionUpdate":"tool_call","toolCallId":"call_x","title":"x"}}` + "\n",
}

// grokSwaps are words that mean something in the place of others.
var grokSwaps = []string{
	`"end_turn"`, `"cancelled"`, `"interrupted"`, `"completed"`, `"failed"`, `"tool_call_update"`, `"tool_call"`, `"plan"`, `"assistant"`, `"tool_result"`, `"user"`, `"system"`, `"reasoning"`,
	`"promptIndex":0`, `"promptIndex":1`, `"promptIndex":-1`, `"hostTurn":true`, `"prompt_index":0`, `"prompt_index":1`, `"prompt_index":99999999999999999999`, `"toolCallId"`, `"tool_call_id"`,
	`"call_shake"`, `"call_bed-1"`, `"call_bed-2"`, `""`, `"chat_format_version": 1`, `"chat_format_version": 300`, `"params"`, `"update"`, `"content":[]`, `"content":null`, `null`, `"status":"pending"`,
	`"turn_started"`, `"turn_ended"`, `"loop_started"`, `"tool_started"`, `"permission_requested"`, `"eventId"`, `"updated_at"`, `"info"`, `"num_messages": 3`, `"num_messages": -3`, `"rawOutput"`, `"x.ai/tool"`,
}

// grokSmall are the sessions that are damaged at random.
var grokSmall = []string{"stop-call", "stop-parallel", "rewound", "tiny", "healed", "compacted", "first", "cancelled"}

// grokRandom does to a session what bytes say, six of them a step. It tells the steps.
func grokRandom(f grokFiles, data []byte) (grokFiles, string) {
	var steps []string
	for ; len(data) >= 6 && len(steps) < 6; data = data[6:] {
		name := []string{grokLog, grokHistory, grokLog, grokHistory, grokEvents, grokSummary, grokPoints, "plan.json"}[data[0]%8]
		text := f[name]
		if text == nil {
			continue
		}
		text = bytes.Clone(text)
		lines := bytes.SplitAfter(text, []byte("\n"))
		k := int(binary.LittleEndian.Uint16(data[2:]))
		at, line, n := k%(len(text)+1), k%len(lines), int(data[4])%len(lines)
		more := int(binary.LittleEndian.Uint16(data[4:]))
		what := ""
		switch data[1] % 16 {
		case 0:
			what, text = fmt.Sprint("cut at ", at), text[:at]
		case 1:
			what, text = fmt.Sprint("lose line ", line+1), bytes.Join(append(lines[:line:line], lines[line+1:]...), nil)
		case 2:
			lines[line] = append(bytes.Clone(lines[line]), lines[line]...)
			what, text = fmt.Sprint("repeat line ", line+1), bytes.Join(lines, nil)
		case 3:
			lines[line] = bytes.TrimSuffix(lines[line], []byte("\n"))
			what, text = fmt.Sprint("glue line ", line+1), bytes.Join(lines, nil)
		case 4:
			lines[line] = append(lines[line][:more%(len(lines[line])+1):more%(len(lines[line])+1)], '\n')
			what, text = fmt.Sprintf("tear line %d to %d", line+1, len(lines[line])-1), bytes.Join(lines, nil)
		case 5:
			lines[line], lines[n] = lines[n], lines[line]
			what, text = fmt.Sprintf("swap lines %d and %d", line+1, n+1), bytes.Join(lines, nil)
		case 6:
			scrap := grokScraps[more%len(grokScraps)]
			what, text = fmt.Sprintf("at %d insert %q", at, scrap), bytes.Join([][]byte{text[:at], []byte(scrap), text[at:]}, nil)
		case 7, 8:
			scrap := grokScraps[more%len(grokScraps)]
			lines[line] = append([]byte(scrap), lines[line]...)
			what, text = fmt.Sprintf("in front of line %d insert %q", line+1, scrap), bytes.Join(lines, nil)
		case 9:
			if len(text) > 0 {
				at %= len(text)
				text[at] ^= 1 << (data[4] % 8)
			}
			what = fmt.Sprintf("flip bit %d at %d", data[4]%8, at)
		case 10:
			end := min(at+more%900, len(text))
			for i := at; i < end; i++ {
				text[i] = 0
			}
			what = fmt.Sprintf("zero %d to %d", at, end)
		case 11:
			text = append(text, make([]byte, 1+more%300)...)
			what = fmt.Sprint("append zeros: ", 1+more%300)
		case 12:
			if name == grokLog && f[grokHistory] == nil || name == grokHistory && f[grokLog] == nil {
				continue // of a folder without both nobody says what it is
			}
			f = f.with(name, nil)
			steps = append(steps, name+": remove")
			continue
		case 13:
			copied := bytes.Clone(lines[n])
			lines[line] = append(copied, lines[line]...)
			what, text = fmt.Sprintf("copy line %d in front of %d", n+1, line+1), bytes.Join(lines, nil)
		default:
			one, two := grokSwaps[k%len(grokSwaps)], grokSwaps[more%len(grokSwaps)]
			if data[1]%2 == 0 {
				text = bytes.Replace(text, []byte(one), []byte(two), 1)
			} else if i := bytes.LastIndex(text, []byte(one)); i >= 0 {
				text = bytes.Join([][]byte{text[:i], []byte(two), text[i+len(one):]}, nil)
			}
			what = fmt.Sprintf("put %s for %s (%d)", two, one, data[1]%2)
		}
		if len(text) > 1<<20 {
			break
		}
		f = f.with(name, text)
		steps = append(steps, name+": "+what)
	}
	return f, strings.Join(steps, "; ")
}

// grokHold is what random damage is held against: it is refused, or the result is clean and all else that is promised.
func grokHold(t *testing.T, beds map[string]*grokBed, data []byte) {
	t.Helper()
	if len(data) == 0 || len(data) > 64 {
		return
	}
	name := grokSmall[int(data[0])%len(grokSmall)]
	old := grokSession(t, name)
	b := beds[name]
	if b == nil {
		b = newGrokBed(t, old)
	}
	b.t = t
	in, steps := grokRandom(old, data[1:])
	if _, err := b.promise(t.Context(), in, data[0] < 64, false); err != nil && !errors.Is(err, errGrokRefused) {
		t.Fatalf("%s; %s: %v", name, steps, err)
	}
}

// grokBeds are places for all of them.
func grokBeds(t testing.TB) map[string]*grokBed {
	out := map[string]*grokBed{}
	for _, name := range grokSmall {
		out[name] = newGrokBed(t, grokSession(t, name))
	}
	return out
}

func TestRandomGrok(t *testing.T) {
	beds := grokBeds(t)
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		data := make([]byte, 1+6*(1+rnd.IntN(4)))
		for i := range data {
			data[i] = byte(rnd.IntN(256))
		}
		t.Run(fmt.Sprint(seed), func(t *testing.T) { grokHold(t, beds, data) })
	}
}

// FuzzGrok damages the files of a small session: it is refused, or what becomes of it is clean.
func FuzzGrok(f *testing.F) {
	for i := range byte(16) {
		f.Add([]byte{i, i, i, i, i, i, i})
		f.Add([]byte{i, i, i, 7, 0, 3, 0, i + 1, i + 3, 2, 0, 9, 0})
	}
	beds := grokBeds(f)
	f.Fuzz(func(t *testing.T, data []byte) { grokHold(t, beds, data) })
}
