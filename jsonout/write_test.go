package jsonout_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"testing"

	"github.com/sessfix/sessfix/jsonout"
)

// What is written says the same as the value, on one line, and holds no character that a terminal could take for a command.
func TestWrite(t *testing.T) {
	for _, text := range []string{"", "plain", "<b> & \"c\"", "\x00\x1b[31m\x7f", "\u009b\u00a0\u202e\u2028\ufeff", "\U000e0001 \U0001f333", "pear\u200d", "row 3 – ünï"} {
		var b bytes.Buffer
		want := map[string]any{"k": text}
		if err := jsonout.Write(&b, want, false); err != nil {
			t.Fatal(err)
		}
		line := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
		for _, r := range string(line) {
			if r >= 0x80 && !strconv.IsPrint(r) || r < ' ' {
				t.Errorf("%q is written with %U: %s", text, r, line)
			}
		}
		var got map[string]any
		if err := json.Unmarshal(line, &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is read back as %q: %v", text, got, err)
		}
	}
}
