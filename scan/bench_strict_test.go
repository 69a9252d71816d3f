package scan

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"
)

var benchKeys = []string{
	"type", "seq", "seq0", "time", "time0", "data", "data.turn", "data.step", "data.index", "data.dt", "data.texts",
	"data.callId", "data.name", "data.message", "data.message.id", "data.message.role", "data.message.content[]",
	"data.message.content[].type", "data.message.content[].id", "surfaceOp", "sourceEventSeqs", "*",
}

// benchText is some prose with escapes and letters beyond ASCII, n words long.
func benchText(rng *rand.Rand, n int) []byte {
	words := []string{"the", "parse", "frame", "offset", "buffer", "returns", "timeout", "directory", "größe", "документ", "修复",
		"“quoted”", "🚀", `\n\t\t{\"name\":`, `C:\\dir`, "f89607d9d408f4c94a40420a9de665641e2c12a2", "call", "test", "and", "passes", "if", "null"}
	var b []byte
	for range n {
		b = append(append(b, words[rng.Intn(len(words))]...), ' ')
	}
	return b
}

// benchCorpora are lines of three kinds: packed arrays of tiny strings, long texts, and long texts in ASCII
// without escapes.
func benchCorpora() map[string][]byte {
	rng := rand.New(rand.NewSource(1))
	var packed, texts, ascii bytes.Buffer
	for seq := 0; packed.Len() < 2<<20; seq++ {
		fmt.Fprintf(&packed, `{"type":"text-chunks","seq0":%d,"time0":1780000000070,"data":{"turn":%d,"step":1,"index":0,"dt":[7`, seq, seq/9)
		n := 1 + rng.Intn(300)
		for range n {
			fmt.Fprintf(&packed, ",%d", rng.Intn(60))
		}
		packed.WriteString(`],"texts":["I will "`)
		for range n {
			fmt.Fprintf(&packed, `,"%s"`, benchText(rng, 1))
		}
		packed.WriteString("]}}\n")
	}
	for seq := 0; texts.Len() < 2<<20; seq++ {
		fmt.Fprintf(&texts, `{"type":"tool/result","seq":%d,"time":1780000000070,"data":{"turn":%d,"callId":"call_%x","text":"%s"},"surfaceOp":"append"}`+"\n",
			seq, seq/9, rng.Uint64(), benchText(rng, rng.Intn(500)))
	}
	for seq := 0; ascii.Len() < 2<<20; seq++ {
		fmt.Fprintf(&ascii, `{"type":"tool/result","seq":%d,"data":{"text":"%s"}}`+"\n", seq, bytes.Repeat([]byte("plain text of the usual kind "), 1+rng.Intn(100)))
	}
	return map[string][]byte{"packed": packed.Bytes(), "texts": texts.Bytes(), "ascii": ascii.Bytes()}
}

func benchLines(b *testing.B, corpus []byte, scan func(buf []byte, from, to int) (int, Fault)) {
	n := len(corpus)
	buf := append(corpus[:n:n], make([]byte, Pad)...)
	b.SetBytes(int64(n))
	b.ReportAllocs()
	for b.Loop() {
		for i := 0; i < n; {
			to := i + bytes.IndexByte(buf[i:n], '\n')
			if end, f := scan(buf, i, to); f.Cause != OK || end != to {
				b.Fatal(end, to, f)
			}
			i = to + 1
		}
	}
}

func BenchmarkStrict(b *testing.B) {
	corpora := benchCorpora()
	for _, name := range []string{"packed", "texts", "ascii"} {
		m := mustMachine(b, benchKeys...)
		b.Run(name, func(b *testing.B) { benchLines(b, corpora[name], m.Value) })
		b.Run(name+"/tolerant", func(b *testing.B) { benchLines(b, corpora[name], m.Tolerant) })
	}
}

// BenchmarkWorst takes the inputs that make scanners slow.
func BenchmarkWorst(b *testing.B) {
	for _, c := range []struct {
		name, s string
		fault   Cause
	}{
		{"brackets", string(bytes.Repeat([]byte("["), 5_000_000)), Truncated},
		{"backslashes", `"` + string(bytes.Repeat([]byte(`\\`), 1<<20)) + `"`, OK},
		{"duplicates", "{" + string(bytes.Repeat([]byte(`"type":1,`), 1_000_000)) + `"type":2}`, OK},
		{"escapedKeys", "{" + string(bytes.Repeat([]byte(`"\u0075":1,`), 300_000)) + `"type":2}`, OK},
		{"spaces", string(bytes.Repeat([]byte(" "), 1<<20)) + "1", OK},
		{"digits", string(bytes.Repeat([]byte("1"), 1<<20)), OK},
	} {
		b.Run(c.name, func(b *testing.B) {
			m := mustMachine(b, benchKeys...)
			buf, from, to := paddedText(c.s, "\n")
			b.SetBytes(int64(len(c.s)))
			b.ReportAllocs()
			for b.Loop() {
				if end, f := m.Value(buf, from, to); f.Cause != c.fault || end != to {
					b.Fatal(end, to, f)
				}
			}
		})
	}
}
