package dsh_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// A log that is branched in frames has the text of its plain twin, byte for byte: strange spellings, raw bytes that are no
// UTF-8, carriage returns and long lines included. The frames are two, the header alone in the first, both with a checksum.
func TestForkFrames(t *testing.T) {
	for name, data := range map[string]string{
		"a few words":     `{"title":"T"}`,
		"spellings":       `{ "title" : "\u0041\/", "n":1.0e0,"n":-0.0 ,"big":12345678901234567890123 }`,
		"no UTF-8":        "{\"title\":\"\xff\xfe\xed\xa0\x80\"}",
		"carriage return": "{\"title\":\"T\"} ",
		"a long line":     `{"title":"` + strings.Repeat("many words ", 30_000) + `"}`,
	} {
		text := logOf(0, "", "")
		text = text[:strings.IndexByte(text, '\n')+1]
		for n := range 3 {
			text += fmt.Sprintf("{\"type\":\"session/title\",\"seq\":%d,\"time\":9,\"data\":%s}\r\n", n, data)
		}
		plain := stemOf(t, text)
		framed := stemOf(t, "")
		framed.path += ".zstd"
		framed.medium = scan.Frames
		head, rest, _ := bytes.Cut(plain.data, []byte("\n"))
		framed.data = scan.EncodeFrame(scan.EncodeFrame(nil, append(bytes.Clone(head), '\n')), rest)

		cut := format.Cut{Ref: session.Ref{N: 3}, Seq: 2}
		place, want := plain.grow(plain.request(cut, "x"))
		framedPlace, data := framed.grow(framed.request(cut, "x"))
		if framedPlace != place+".zstd" {
			t.Errorf("%s: %s beside %s", name, framedPlace, place)
		}
		if !bytes.Equal(unframed(t, data), want) {
			t.Errorf("%s: the text of the frames is another than that of the plain log", name)
		}
		if !bytes.Contains(want, plain.data[len(head)+1:]) {
			t.Errorf("%s: the records changed", name)
		}
		w := scan.NewFrameWalker(bytes.NewReader(data), int64(len(data)), nil)
		var texts []string
		for {
			g, out, err := w.Next(nil)
			if err != nil {
				break
			}
			var h zstd.Header
			if err := h.Decode(data[g.Off : g.Off+g.Len]); err != nil || !h.HasCheckSum {
				t.Errorf("%s: frame %d has no checksum: %v", name, g.Frame, err)
			}
			if !g.Sound() {
				t.Errorf("%s: frame %d is not sound", name, g.Frame)
			}
			texts = append(texts, string(out))
		}
		w.Close()
		if len(texts) != 2 || strings.Count(texts[0], "\n") != 1 || !strings.HasSuffix(texts[0], "}\n") {
			t.Errorf("%s: %d frames, the first is %.200q", name, len(texts), texts)
		}
		// And back again: the branch of the frames, cut at its end and unframed, has the records of the plain branch.
		again := &stem{t: t, path: framed.path, data: data, medium: scan.Frames}
		_, back := again.grow(again.request(again.cuts()[4], "y"))
		_, a, _ := bytes.Cut(unframed(t, back), []byte("\n"))
		_, b, _ := bytes.Cut(want, []byte("\n"))
		if !bytes.Equal(a, b) {
			t.Errorf("%s: the way there and back changed the records", name)
		}
	}
}

// The shipped plain logs and their framed twins give the same branches.
func TestForkTwins(t *testing.T) {
	for _, name := range []string{"tiny.v0.jsonl", "orchard.v0.jsonl", "orchard.v3.jsonl"} {
		read := func(suffix, medium string) *stem {
			file := "../../testdata/sessions/dsh/" + name + suffix
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			return &stem{t: t, path: file, data: data, medium: medium}
		}
		plain, framed := read("", scan.Lines), read(".zstd", scan.Frames)
		a, b := plain.cuts(), framed.cuts()
		if len(a) != len(b) {
			t.Fatalf("%s: %d places and %d", name, len(a), len(b))
		}
		for n := 1; n < len(a); n += 5 {
			_, x := plain.grow(plain.request(a[n], "x"))
			_, y := framed.grow(framed.request(b[n], "x"))
			if !bytes.Equal(x, unframed(t, y)) {
				t.Errorf("%s at %d: the branches differ", name, a[n].Seq)
			}
		}
	}
}

// Nobody waits for a whole log in memory: a branch of many records is written while it is read.
func TestForkStreams(t *testing.T) {
	const records = 2_000
	data := `{"title":"` + strings.Repeat("x", 1000) + `"}`
	head := logOf(0, "", "")
	head = head[:strings.IndexByte(head, '\n')]
	d, err := dsh.Format{}.Dialect(format.Peek{Path: "x", First: []byte(head), FirstLine: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	sc := func(line string, n int64, yield func(*session.Record, bool) error) error {
		s, err := scan.New(t.Context(), strings.NewReader(line+"\n"), int64(len(line)+1), scan.Options{Medium: scan.Lines, Framing: d.Framing()})
		if err != nil {
			return err
		}
		s.Next()
		r := *s.Record()
		r.N = n
		return yield(&r, true)
	}
	q := format.ForkRequest{Path: "session.jsonl", Medium: scan.Lines, Dialect: d, ID: "x", Now: now, Cut: format.Cut{Ref: session.Ref{N: records}, Seq: records - 1}}
	written, behind := &counter{}, 0
	q.Each = func(yield func(*session.Record, bool) error) error {
		if err := sc(head, 0, yield); err != nil {
			return err
		}
		for n := range int64(records) {
			line := fmt.Sprintf(`{"type":"session/title","seq":%d,"time":9,"data":%s}`, n, data)
			if err := sc(line, n+1, yield); err != nil {
				return err
			}
			if n == records/2 && written.n < records/4*1000 {
				behind++
			}
		}
		return nil
	}
	child, err := dsh.Format{}.Fork(q)
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Files[0].Write(written); err != nil || behind > 0 || written.n < records*1000 {
		t.Errorf("%d bytes written, %v, half way too few: %d", written.n, err, behind)
	}
}

type counter struct{ n int }

func (c *counter) Write(b []byte) (int, error) { c.n += len(b); return len(b), nil }
