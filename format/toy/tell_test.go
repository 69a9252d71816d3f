package toy_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/toy"
	"github.com/sessfix/sessfix/session"
)

func tell(d format.Teller, line string) []format.Message {
	return d.NewTelling(format.Place{}).Tell(&session.Record{Raw: []byte(line)}, nil)
}

func one(role format.Role, blocks ...format.Block) []format.Message {
	return []format.Message{{Role: role, Blocks: blocks}}
}

func TestTell(t *testing.T) {
	text := format.Block{Kind: format.Text, Text: "x"}
	call := format.Block{Kind: format.Call, ID: "c", Name: "sh", Input: []byte("{}")}
	for _, c := range []struct {
		d    format.Teller
		line string
		want []format.Message
	}{
		{toy.Dialect(1), `{"t":"user","n":0,"text":"x"}`, one(format.User, text)},
		{toy.Dialect(1), `{"t":"user","n":0}`, nil},
		{toy.Dialect(1), `{"t":"turn+","n":0,"turn":1,"text":"x"}`, nil},
		{toy.Dialect(1), `{"t":"user","n":0,"text":3}`, nil},
		{toy.Dialect(1), `{"t":"say","n":0,"text":"x","calls":[{"id":"c","tool":"sh"}]}`, one(format.Assistant, text, call)},
		{toy.Dialect(1), `{"t":"say","n":0,"calls":[{"id":"c","tool":"sh","in":{"a": 1.0}}]}`,
			one(format.Assistant, format.Block{Kind: format.Call, ID: "c", Name: "sh", Input: []byte(`{"a": 1.0}`)})},
		{toy.Dialect(1), `{"t":"say","n":0,"think":"t","sign":"s"}`, one(format.Assistant, format.Block{Kind: format.Thinking, Text: "t", Signature: "s"})},
		{toy.Dialect(1), `{"t":"user","n":0,"image":"AA=="}`, one(format.User, format.Block{Kind: format.Image, Media: "image/png", Data: "AA=="})},
		{toy.Dialect(1), `{"t":"res","n":0,"call":"c"}`, one(format.Tool, format.Block{Kind: format.Result, ID: "c"})},
		{toy.Dialect(1), `{"t":"res","n":0,"call":"c","made":true,"text":"x"}`,
			one(format.Tool, format.Block{Kind: format.Result, ID: "c", Text: "x", MadeUp: true, Failed: true})},
		{toy.Dialect(1), `{"t":"sum","n":4,"gone":[1],"text":"x"}`, one(format.User, text)},
		{toy.Dialect(1), `{"t":"may?","n":4,"id":"a","text":"x"}`,
			[]format.Message{{For: format.PeopleOnly, Title: "may", ID: "a", Blocks: []format.Block{text}}}},
		{toy.TreeDialect(1), `{"t":"sum","id":"s","up":"w","at":7,"text":"x"}`,
			[]format.Message{{Role: format.User, Stands: true, ID: "s", Time: 7, Blocks: []format.Block{text}}}},
		{toy.TreeDialect(1), `{"t":"wall","id":"w","up":"a"}`, nil},
		{toy.TreeDialect(1), `{"t":"tip","leaf":"w"}`, nil},
	} {
		if got := tell(c.d, c.line); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s\nsays %+v\nwant %+v", c.line, got, c.want)
		}
	}
}

func TestTellTree(t *testing.T) {
	lines := strings.Split(toy.TreeLog("user u - | say a u +c1 +c2 | res r a =c1 ~c2"), "\n")
	got := tell(toy.TreeDialect(1), lines[2])
	want := []format.Message{{Role: format.Tool, ID: "r", Time: 30, Blocks: []format.Block{
		{Kind: format.Result, ID: "c1", Text: "of c1 in r"},
		{Kind: format.Result, ID: "c2", Text: "of c2 in r", MadeUp: true, Failed: true},
	}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s\nsays %+v\nwant %+v", lines[2], got, want)
	}
	if got := tell(toy.TreeDialect(1), lines[1]); len(got) != 1 || len(got[0].Blocks) != 3 || got[0].Blocks[1].ID != "c1" {
		t.Errorf("%s\nsays %+v", lines[1], got)
	}
}
