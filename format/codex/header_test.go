package codex

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

// decodeAll decodes a whole text, and gives what is said of it.
func decodeAll(t testing.TB, generation, path, text string) (*decoder, []finding.Finding) {
	t.Helper()
	d := dialect{generation: generation, rank: 171_000}
	s, err := scan.New(context.Background(), strings.NewReader(text), int64(len(text)), scan.Options{Medium: scan.Lines, Framing: d.Framing()})
	if err != nil {
		t.Fatal(err)
	}
	dec := d.NewDecoder(format.Place{Path: path}).(*decoder)
	var b format.Batch
	var found []finding.Finding
	for s.Next() {
		b.Reset()
		dec.Decode(s.Record(), &b)
		found = append(found, b.Findings...)
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	b.Reset()
	dec.End(&b)
	return dec, append(found, b.Findings...)
}

// patched is a text with the patches of findings done.
func patched(text string, found []finding.Finding) string {
	var all []finding.Patch
	for _, f := range found {
		all = append(all, f.Patches...)
	}
	slices.SortStableFunc(all, func(a, b finding.Patch) int { return int(b.At - a.At) })
	for _, p := range all {
		text = text[:p.At] + string(p.Ins) + text[min(p.At+p.Del, int64(len(text))):]
	}
	return text
}

const (
	members  = `"id":"` + thread + `","timestamp":"2026-01-02T03:04:05.000Z","cwd":"/w","originator":"o","cli_version":"0.171.0"`
	other    = `01900000-0000-7000-8000-000000000002`
	settings = `{"timestamp":"t2","type":"turn_context","payload":{"cwd":"/late"}}` + "\n"
	talks    = `{"timestamp":"t3","type":"response_item","payload":{"type":"message","role":"user","content":[]}}` + "\n"
)

func head(members string) string {
	return `{"timestamp":"t1","type":"session_meta","payload":{` + members + "}}\n"
}

func numbered(n, line string) string {
	return strings.Replace(line, `,"type"`, `,"ordinal":`+n+`,"type"`, 1)
}

// What is said of a header, and the text with its patches done.
func TestHeader(t *testing.T) {
	without := func(name string) string {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte("{"+members+"}"), &m); err != nil {
			t.Fatal(err)
		}
		return strings.Trim(strings.Replace(strings.Replace(","+members, `,"`+name+`":`+string(m[name]), "", 1), ",,", ",", 1), ",")
	}
	page := members + `,"history_mode":"paginated"`
	for _, c := range []struct {
		name, generation, text string
		want                   string // of the findings, code, where and line
		mended                 string // "" for no change
	}{
		{"whole", legacy, head(members), "", ""},
		{"more members", legacy, head(`"git":null,` + members + `,"x":1`), "", ""},
		{"a forked parent's", legacy, head(members) + head(strings.ReplaceAll(members, thread, other)), "", ""},
		{"a copy of itself", legacy, head(members) + head(members), "", ""},
		{"no id", legacy, head(without("id")), "HEADER_INVALID missing 1", head(`"id":"` + thread + `",` + without("id"))},
		{"no timestamp", legacy, head(without("timestamp")), "HEADER_INVALID missing 1", head(`"timestamp":"t1",` + without("timestamp"))},
		{"no cwd", legacy, head(without("cwd")) + settings, "HEADER_INVALID missing 1", head(`"cwd":"/late",`+without("cwd")) + settings},
		{"no cwd, and a turn's that is null", legacy, head(without("cwd")) + strings.Replace(settings, `"/late"`, "null", 1), "HEADER_INVALID lost 1", ""},
		{"no cwd anywhere", legacy, head(without("cwd")) + talks, "HEADER_INVALID lost 1", ""},
		{"no originator", legacy, head(without("originator")), "HEADER_INVALID missing 1", head(`"originator":"",` + without("originator"))},
		{"no version", legacy, head(without("cli_version")), "HEADER_INVALID missing 1", head(`"cli_version":"",` + without("cli_version"))},
		{"nothing", legacy, head("") + settings, "HEADER_INVALID missing 1",
			head(`"id":"`+thread+`","timestamp":"t1","cwd":"/late","originator":"","cli_version":""`) + settings},
		{"an id that is none", legacy, head(strings.Replace(members, thread, "me", 1)), "HEADER_INVALID missing 1", head(members)},
		{"members of another kind", legacy, head(strings.Replace(strings.Replace(members, `"/w"`, "null", 1), `"o"`, "[1,2]", 1)) + settings, "HEADER_INVALID missing 1",
			head(strings.Replace(strings.Replace(members, `"/w"`, `"/late"`, 1), `"o"`, `""`, 1)) + settings},
		{"an id in capitals", legacy, head(strings.Replace(members, "f", "F", 1)), "", ""},
		{"another id", legacy, head(strings.ReplaceAll(members, thread, other)) + talks, "SESSION_ID_MISMATCH 1", ""},
		{"another id, and records that know better", legacy, head(`"session_id":"`+other+`",`+strings.ReplaceAll(members, thread, other)) +
			`{"timestamp":"t","type":"event_msg","payload":{"type":"item_completed","thread_id":"` + thread + `"}}` + "\n", "SESSION_ID_MISMATCH header 1",
			head(`"session_id":"`+thread+`",`+members) + `{"timestamp":"t","type":"event_msg","payload":{"type":"item_completed","thread_id":"` + thread + `"}}` + "\n"},
		{"another id, of a root's session", legacy, head(`"session_id":"root",`+strings.ReplaceAll(members, thread, other)) +
			`{"timestamp":"t","type":"event_msg","payload":{"type":"item_completed","thread_id":"` + thread + `"}}` + "\n", "SESSION_ID_MISMATCH header 1",
			head(`"session_id":"root",`+members) + `{"timestamp":"t","type":"event_msg","payload":{"type":"item_completed","thread_id":"` + thread + `"}}` + "\n"},
		{"late", legacy, talks + head(members), "HEADER_MISPLACED late 2", head(members) + talks},
		{"late, and more behind it", legacy, talks + head(members) + settings, "HEADER_MISPLACED late 2", head(members) + talks + settings},
		{"late, with a record without time in front", legacy, strings.Replace(talks, `"timestamp":"t3",`, "", 1) + head(members), "HEADER_MISPLACED late 2", head(members) + strings.Replace(talks, `"timestamp":"t3",`, "", 1)},
		{"late, without a newline", legacy, talks + strings.TrimSuffix(head(members), "\n"), "HEADER_MISPLACED late 2", head(members) + talks},
		{"none", legacy, talks, "HEADER_MISSING 1", ""},
		{"a parent's alone", legacy, talks + head(strings.ReplaceAll(members, thread, other)), "HEADER_MISSING 1", ""},
		{"torn, a parent's behind it", legacy, "{\"timestamp\":\n" + head(strings.ReplaceAll(members, thread, other)), "HEADER_MISSING 2", ""},

		{"whole", paginated, numbered("0", head(page)), "", ""},
		{"late", paginated, numbered("1", talks) + numbered("0", head(page)) + numbered("2", settings), "HEADER_MISPLACED late 2", numbered("0", head(page)) + numbered("1", talks) + numbered("2", settings)},
		{"late, and numbered so", paginated, numbered("0", talks) + numbered("1", head(page)) + numbered("2", settings), "HEADER_MISPLACED late 2", numbered("0", head(page)) + numbered("1", talks) + numbered("2", settings)},
		{"late, and numbered as the first", paginated, numbered("0", talks) + numbered("0", head(page)), "HEADER_MISPLACED late 2", numbered("0", head(page)) + numbered("0", talks)},
		{"late, by two", paginated, numbered("0", talks) + numbered("1", settings) + numbered("2", head(page)), "HEADER_MISPLACED numbered 3", ""},
		{"late, with a longer number", paginated, numbered("9", talks) + numbered("10", head(page)), "HEADER_MISPLACED numbered 2", ""},
		{"late, without a number", paginated, numbered("0", talks) + head(page), "HEADER_MISPLACED numbered 2", ""},
		{"a mode that is another", paginated, numbered("0", head(members+`,"history_mode":"legacy"`)), "HEADER_INVALID mode 1", numbered("0", head(page))},
		{"no mode", paginated, numbered("0", head(members)), "HEADER_INVALID mode 1", numbered("0", head(`"history_mode":"paginated",`+members))},
		{"no mode, no version", paginated, numbered("0", head(without("cli_version"))), "HEADER_INVALID missing 1",
			numbered("0", head(`"cli_version":"","history_mode":"paginated",`+without("cli_version")))},
		{"a second one", paginated, numbered("0", head(page)) + numbered("1", head(page)) + numbered("2", head(page)), "HEADER_MISPLACED 2, HEADER_MISPLACED 3", ""},
		{"a second one with another id", paginated, numbered("0", head(page)) + numbered("1", head(strings.ReplaceAll(page, thread, other))), "HEADER_MISPLACED 2", ""},
		{"with a base", paginated, numbered("5", head(page+`,"history_base":{"thread_id":"x","end_ordinal_exclusive":5,"end_byte_offset":99}`)), "", ""},
		{"with a base that is null", paginated, numbered("0", head(page+`,"history_base":null`)), "", ""},
		{"with another ordinal than its base's end", paginated, numbered("6", head(page+`,"history_base":{"thread_id":"x","end_ordinal_exclusive":5,"end_byte_offset":99}`)), "LINEAGE_BROKEN ordinal 1", ""},
		{"with a base without offset", paginated, numbered("5", head(page+`,"history_base":{"thread_id":"x","end_ordinal_exclusive":5}`)), "HEADER_INVALID base 1", ""},
		{"with a base without name", paginated, numbered("5", head(page+`,"history_base":{"end_ordinal_exclusive":5,"end_byte_offset":99}`)), "HEADER_INVALID base 1", ""},
		{"with a base of negative length", paginated, numbered("5", head(page+`,"history_base":{"thread_id":"x","end_ordinal_exclusive":5,"end_byte_offset":-1}`)), "HEADER_INVALID base 1", ""},
		{"with a base that is none", paginated, numbered("5", head(page+`,"history_base":"x"`)), "HEADER_INVALID base 1", ""},
	} {
		_, found := decodeAll(t, c.generation, place, c.text)
		var got []string
		for _, f := range found {
			got = append(got, strings.ReplaceAll(fmt.Sprint(f.Code, " ", f.Where, " ", f.Logical), "  ", " "))
			if f.Message == "" || strings.Contains(f.Message, "%!") || f.Record.Text != f.Text {
				t.Errorf("%s: %+v", c.name, f)
			}
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s, %s: %s, want %s", c.generation, c.name, s, c.want)
		}
		want := c.mended
		if want == "" {
			want = c.text
		}
		if s := patched(c.text, found); s != want {
			t.Errorf("%s, %s:\n got %swant %s", c.generation, c.name, s, want)
		}
	}
	// Without a file's name an id is not supplied, nor held against it.
	for text, want := range map[string]string{head(without("id")): "lost", head(strings.ReplaceAll(members, thread, other)): "", head(members): ""} {
		_, found := decodeAll(t, legacy, "copy.jsonl", text)
		if len(found) > 1 || len(found) == 1 && found[0].Where != want || len(found) == 0 && want != "" {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

// A record without timestamp gets that of the record in front of it.
func TestTimeless(t *testing.T) {
	bald := strings.Replace(talks, `"timestamp":"t3",`, "", 1)
	with := func(time string) string { return strings.Replace(bald, "{", `{"timestamp":"`+time+`",`, 1) }
	for _, c := range []struct{ text, want string }{
		{head(members) + bald, head(members) + with("t1")},
		{head(members) + settings + bald + bald, head(members) + settings + with("t2") + with("t2")},
		{head(members) + " " + bald, head(members) + " " + with("t1")},
		{head(members) + strings.Replace(talks, `"t3"`, "null", 1), ""},
		{head(members) + `{"x":1}` + "\n", ""},
		{strings.Replace(head(members), `"timestamp":"t1",`, "", 1) + talks, ""},
	} {
		for _, generation := range []string{legacy, paginated} {
			if generation == paginated {
				c.text, c.want = strings.ReplaceAll(c.text, `"0.171.0"`, `"0.171.0","history_mode":"paginated"`), strings.ReplaceAll(c.want, `"0.171.0"`, `"0.171.0","history_mode":"paginated"`)
			}
			_, found := decodeAll(t, generation, place, c.text)
			if c.want == "" {
				if len(found) > 0 {
					t.Errorf("%s: %+v", c.text, found)
				}
				continue
			}
			if got := patched(c.text, found); got != c.want || found[0].Code != finding.EventInvalid || found[0].Where != "timeless" {
				t.Errorf("%s:\n got %swant %s%+v", generation, got, c.want, found)
			}
		}
	}
}

// A lost header is written anew of what remains of it, of the file's name and of the records.
func TestReheader(t *testing.T) {
	full := `{"timestamp":"t0","ordinal":0,"type":"session_meta","payload":{"session_id":"root","id":"` + thread + `","forked_from_id":"` + other +
		`","timestamp":"t1","cwd":"/w","originator":"o","cli_version":"0.171.0","source":{"custom":"x"},"model_provider":"p","base_instructions":{"text":"a\u00e9 \"{"},"history_mode":"paginated","unknown":1,"git":{"branch":"main"}}}`
	upto := func(s string) string {
		i := strings.Index(full, s)
		if i < 0 {
			t.Fatal(s)
		}
		return full[:i]
	}
	rest := numbered("1", settings) + numbered("2", talks)
	whole := `{"timestamp":"t2","ordinal":0,"type":"session_meta","payload":{"session_id":"` + thread + `","id":"` + thread + `","timestamp":"t2","cwd":"/late","originator":"","cli_version":"","history_mode":"paginated"}}`
	for _, c := range []struct {
		name, generation, path, remains, rest string
		want                                  string // "" for none
	}{
		{"nothing remains", paginated, place, "", rest, whole},
		{"spaces", paginated, place, strings.Repeat(" ", 70) + "\n", rest, whole},
		{"NUL bytes", paginated, place, strings.Repeat("\x00", 70) + "\n", rest, whole},
		{"another record's rest", paginated, place, `d":"x","payload":{}}` + "\n", rest, whole},
		{"two letters", paginated, place, `{"` + "\n", rest, whole},
		{"the time alone", paginated, place, upto(`,"ordinal"`) + "\n", rest, whole},
		{"up to the payload", paginated, place, upto(`"session_id"`) + "\n", rest, whole},
		{"up to the session", paginated, place, upto(`,"id"`) + "\n", rest, strings.Replace(whole, `"session_id":"`+thread, `"session_id":"root`, 1)},
		{"up to the time", paginated, place, upto(`,"cwd"`) + "\n", rest,
			`{"timestamp":"t1","ordinal":0,"type":"session_meta","payload":{"session_id":"root","id":"` + thread + `","forked_from_id":"` + other + `","timestamp":"t1","cwd":"/late","originator":"","cli_version":"","history_mode":"paginated"}}`},
		{"half of a member", paginated, place, upto(`"/w"`) + "\n", rest,
			`{"timestamp":"t1","ordinal":0,"type":"session_meta","payload":{"session_id":"root","id":"` + thread + `","forked_from_id":"` + other + `","timestamp":"t1","cwd":"/late","originator":"","cli_version":"","history_mode":"paginated"}}`},
		{"up to the text", paginated, place, upto(`"},"history_mode"`) + "\n", rest,
			`{"timestamp":"t1","ordinal":0,"type":"session_meta","payload":{"session_id":"root","id":"` + thread + `","forked_from_id":"` + other + `","timestamp":"t1","cwd":"/w","originator":"o","cli_version":"0.171.0","source":{"custom":"x"},"model_provider":"p","history_mode":"paginated"}}`},
		{"all but its end", paginated, place, strings.TrimSuffix(full, "}}") + "\n", rest,
			`{"timestamp":"t1","ordinal":0,"type":"session_meta","payload":{"session_id":"root","id":"` + thread + `","forked_from_id":"` + other + `","timestamp":"t1","cwd":"/w","originator":"o","cli_version":"0.171.0","source":{"custom":"x"},"model_provider":"p","base_instructions":{"text":"a\u00e9 \"{"},"history_mode":"paginated","git":{"branch":"main"}}}`},
		{"another record of the same line", paginated, place, upto(`,"cwd"`), rest,
			`{"timestamp":"t1","ordinal":0,"type":"session_meta","payload":{"session_id":"root","id":"` + thread + `","forked_from_id":"` + other + `","timestamp":"t1","cwd":"/late","originator":"","cli_version":"","history_mode":"paginated"}}`},
		{"no cwd", paginated, place, "", numbered("1", talks), ""},
		{"no name", paginated, "copy.jsonl", "", rest, ""},
		{"no name, but an id", paginated, "copy.jsonl", upto(`,"originator"`) + "\n", rest,
			`{"timestamp":"t1","ordinal":0,"type":"session_meta","payload":{"session_id":"root","id":"` + thread + `","forked_from_id":"` + other + `","timestamp":"t1","cwd":"/w","originator":"","cli_version":"","history_mode":"paginated"}}`},
		{"more is lost", paginated, place, "", numbered("2", settings), ""},
		{"it begins in another", paginated, place, "", numbered("8", settings), ""},
		{"it begins in another, and says where", paginated, place, strings.Replace(strings.Replace(full[:len(full)-2], `"ordinal":0`, `"ordinal":7`, 1), `"git"`, `"history_base":{"thread_id":"x","end_ordinal_exclusive":7,"end_byte_offset":99},"git"`, 1),
			numbered("8", settings),
			`{"timestamp":"t1","ordinal":7,"type":"session_meta","payload":{"session_id":"root","id":"` + thread + `","forked_from_id":"` + other + `","timestamp":"t1","cwd":"/w","originator":"o","cli_version":"0.171.0","source":{"custom":"x"},"model_provider":"p","base_instructions":{"text":"a\u00e9 \"{"},"history_mode":"paginated","history_base":{"thread_id":"x","end_ordinal_exclusive":7,"end_byte_offset":99},"git":{"branch":"main"}}}`},
		{"its ordinal is lost", paginated, place, strings.Replace(strings.Replace(full[:len(full)-2], `"ordinal":0,`, ``, 1), `"git"`, `"history_base":{"thread_id":"x","end_ordinal_exclusive":7,"end_byte_offset":99},"git"`, 1),
			numbered("8", settings),
			`{"timestamp":"t1","ordinal":7,"type":"session_meta","payload":{"session_id":"root","id":"` + thread + `","forked_from_id":"` + other + `","timestamp":"t1","cwd":"/w","originator":"o","cli_version":"0.171.0","source":{"custom":"x"},"model_provider":"p","base_instructions":{"text":"a\u00e9 \"{"},"history_mode":"paginated","history_base":{"thread_id":"x","end_ordinal_exclusive":7,"end_byte_offset":99},"git":{"branch":"main"}}}`},
		{"legacy", legacy, place, "{\"timestamp\":\n", settings, `{"timestamp":"t2","type":"session_meta","payload":{"session_id":"` + thread + `","id":"` + thread + `","timestamp":"t2","cwd":"/late","originator":"","cli_version":""}}`},
		{"legacy, its mode remains", legacy, place, `{"timestamp":"t0","type":"session_meta","payload":{"id":"x","history_mode":"legacy","instructions":null,"cwd":"/w`, settings,
			`{"timestamp":"t2","type":"session_meta","payload":{"session_id":"` + thread + `","id":"` + thread + `","timestamp":"t2","cwd":"/late","originator":"","cli_version":"","instructions":null,"history_mode":"legacy"}}`},
		{"bare", bare, place, "", talks, ""},
		{"a header is there", legacy, place, "", head(members) + settings, ""},
		{"a payload in the payload", legacy, place, `{"payload":{"payload":{"cwd":"/x","id":"y"},"cwd":"/w",`, settings,
			`{"timestamp":"t2","type":"session_meta","payload":{"session_id":"` + thread + `","id":"` + thread + `","timestamp":"t2","cwd":"/w","originator":"","cli_version":""}}`},
	} {
		text := c.remains + c.rest
		dec, _ := decodeAll(t, c.generation, c.path, text)
		got := string(dec.Reheader([]byte(c.remains)))
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
		if got == "" {
			continue
		}
		if _, found := decodeAll(t, c.generation, c.path, got+"\n"+c.rest); len(found) > 0 {
			t.Errorf("%s: %+v", c.name, found)
		}
	}
}
