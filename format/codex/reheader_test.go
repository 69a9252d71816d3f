package codex

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sessfix/sessfix/format"
)

// What remains of a header is taken over only where the client reads it.
func TestReheaderReadable(t *testing.T) {
	for _, remains := range []string{
		"{\"payload\":{\"git\":{\n},", "{\"payload\":{\"cwd\":\"\xff\",", `{"payload":{"timestamp":null,`, `{"ordinal":"x","payload":{"cwd":"/w",`, `{"ordinal":-5,"payload":{"cwd":"/w",`,
		`{"payload":{"id":7,"cwd":["x"],"originator":null,`, `{"payload":{"history_base":null,`, `{"payload":{"history_base":{"thread_id":"x"},`, `{"payload":{"session_id":{},`,
	} {
		for _, generation := range []string{legacy, paginated} {
			for _, path := range []string{place, "copy.jsonl"} {
				rest := settings + talks
				if generation == paginated {
					rest = numbered("1", settings) + numbered("2", talks)
				}
				dec, _ := decodeAll(t, generation, path, rest)
				line := dec.Reheader([]byte(remains))
				if line == nil {
					continue
				}
				_, found := decodeAll(t, generation, path, string(line)+"\n"+rest)
				if !json.Valid(line) || !utf8.Valid(line) || strings.Contains(string(line), "\n") || len(found) > 0 || strings.Contains(string(line), `"ordinal":"x"`) {
					t.Errorf("%s, %s: %q gives %q: %+v", generation, path, remains, line, found)
				}
			}
		}
	}
}

// An object inside of a torn record does not make a rollout one of the oldest.
func TestDialectInside(t *testing.T) {
	for line, want := range map[string]string{
		`{"timestamp":"t","ordinal":0,"type":"session_meta","payload":{"id":"` + thread + `","timestamp":"t"}`: paginated,
		`{"timestamp":"t","type":"session_meta","payload":{"id":"` + thread + `","timestamp":"t"}`:             legacy,
		`","payload":{"id":"` + thread + `","timestamp":"t","history_mode":"paginated"}}`:                      paginated,
		`{"id":"` + thread + `","timestamp":"t"}`:                                                              bare,
	} {
		first := line[strings.Index(line, `{"id"`):]
		first = first[:strings.Index(first, "}")+1]
		d, err := Format{}.Dialect(format.Peek{Path: place, Line: []byte(line), First: []byte(first), FirstLine: true}, "")
		if err != nil || d.Version() != want {
			t.Errorf("%s: %v %v", line, d, err)
		}
	}
}
