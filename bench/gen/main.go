// Command gen writes a large dsh log as the client would: turns of steps, packed rows of
// streamed text, calls and their results, flushed where the client's checkpoint policy flushes.
//
//	go run ./bench/gen -size 100 -out session.jsonl            megabytes of text
//	go run ./bench/gen -size 100 -out session.jsonl.zstd       the same text, a frame for each flush
//
// The same size gives the same text on every machine.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/sessfix/sessfix/scan"
)

func main() {
	size := flag.Int64("size", 100, "megabytes of text")
	out := flag.String("out", "", "file to write")
	flag.Parse()
	f, err := os.Create(*out)
	if err != nil {
		log.Fatal(err)
	}
	w := &writer{file: bufio.NewWriterSize(f, 1<<20), packed: strings.HasSuffix(*out, ".zstd"), time: 1785000000000}
	w.line(`{"type":"session","version":0,"id":"bench","createdAt":%d,"cwd":"/w/bench","delegationDepth":0}`, w.time)
	w.flush()
	for turn := 1; w.text < *size<<20; turn++ {
		w.turn(turn)
	}
	if err := w.file.Flush(); err != nil {
		log.Fatal(err)
	}
	if err := f.Close(); err != nil {
		log.Fatal(err)
	}
}

type writer struct {
	file   *bufio.Writer
	packed bool
	batch  []byte
	text   int64
	seq    int64
	time   int64
	rnd    uint64
}

func (w *writer) line(format string, args ...any) {
	before := len(w.batch)
	w.batch = append(fmt.Appendf(w.batch, format, args...), '\n')
	w.text += int64(len(w.batch) - before)
}

// flush ends an append: one frame in a packed log.
func (w *writer) flush() {
	if w.packed {
		w.file.Write(scan.EncodeFrame(nil, w.batch))
	} else {
		w.file.Write(w.batch)
	}
	w.batch = w.batch[:0]
}

// event writes one event and returns its number.
func (w *writer) event(typ, data, more string) int64 {
	w.time += int64(w.n(400))
	w.line(`{"type":"%s","seq":%d,"time":%d,"data":{%s}%s}`, typ, w.seq, w.time, data, more)
	w.seq++
	return w.seq - 1
}

// n is a number below max (splitmix64).
func (w *writer) n(max int) int {
	w.rnd += 0x9E3779B97F4A7C15
	z := w.rnd
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	z = (z ^ (z >> 27)) * 0x94D049BB133111EB
	return int((z ^ (z >> 31)) >> 33 % uint64(max))
}

const source = `"source":{"kind":"model","provider":"p","model":"m"}`

func (w *writer) turn(turn int) {
	w.event("turn/start", fmt.Sprintf(`"turn":%d`, turn), "")
	steps := 1 + w.n(8)
	for step := 1; step <= steps; step++ {
		at := fmt.Sprintf(`"turn":%d,"step":%d`, turn, step)
		w.event("step/start", at, "")
		if step == 1 {
			w.event("user/message", fmt.Sprintf(`"id":"u%d","role":"user","content":[{"type":"text","text":"%s"}],"source":{"kind":"user"}`, turn, w.prose(300)), `,"surfaceOp":"append"`)
			w.event("request/header", `"header":{"config":{"provider":"p","model":"m"}},"reason":"change"`, "")
		}
		w.flush() // in front of the request
		first := w.seq
		var said []string
		for range 1 + w.n(4) {
			said = append(said, w.stream(at))
			if w.n(3) == 0 {
				w.flush() // the writer waits at most 200 ms
			}
		}
		calls := w.n(3)
		if step == steps {
			calls = 0
		}
		blocks := fmt.Sprintf(`{"type":"text","text":"%s"}`, strings.Join(said, ""))
		for c := range calls {
			blocks += fmt.Sprintf(`,{"type":"tool-call","id":"c%d-%d-%d","name":"bash","arguments":"{\"command\":\"%s\"}"}`, turn, step, c, w.words(12))
		}
		w.event("assistant/message", fmt.Sprintf(`%s,"message":{"id":"a%d-%d","role":"assistant","content":[%s],%s},"usage":{"inputTokens":%d,"outputTokens":%d}`,
			at, turn, step, blocks, source, w.n(90000), w.n(4000)), fmt.Sprintf(`,"sourceEventSeqs":[%s],"surfaceOp":"append"`, numbers(first, w.seq)))
		for c := range calls {
			started := w.event("tool/call", fmt.Sprintf(`%s,"callId":"c%d-%d-%d","name":"bash","arguments":"{}"`, at, turn, step, c), "")
			w.flush() // in front of the tool
			w.event("tool/result", fmt.Sprintf(`%s,"message":{"id":"r%d-%d-%d","role":"user","source":{"kind":"tool","callId":"c%d-%d-%d"},"content":[{"type":"tool-result","toolCallId":"c%d-%d-%d","content":[{"type":"text","text":"%s"}],"isError":false}]}`,
				at, turn, step, c, turn, step, c, turn, step, c, w.output()), fmt.Sprintf(`,"sourceEventSeqs":[%d],"surfaceOp":"append"`, started))
		}
		w.event("step/end", at, "")
		w.flush()
	}
	w.event("turn/end", fmt.Sprintf(`"turn":%d,"reason":{"kind":"completed"}`, turn), "")
	w.flush()
}

// stream writes a packed row and returns its text.
func (w *writer) stream(at string) string {
	n := 3 + w.n(90)
	var steps, texts []string
	for i := range n {
		if i > 0 {
			steps = append(steps, fmt.Sprint(w.n(60)))
		}
		texts = append(texts, w.word()+" ")
	}
	w.line(`{"type":"text-chunks","seq0":%d,"time0":%d,"data":{%s,"index":0,"dt":[%s],"texts":["%s"]}}`,
		w.seq, w.time, at, strings.Join(steps, ","), strings.Join(texts, `","`))
	w.seq += int64(n)
	return strings.Join(texts, "")
}

func numbers(from, to int64) string {
	var out []string
	for v := from; v < to; v++ {
		out = append(out, fmt.Sprint(v))
	}
	return strings.Join(out, ",")
}

var vocabulary = strings.Fields(`the file line test error build run check value return string parse open close write
	read index buffer record session frame token offset größer écrire строка журнал 日志 文件 ✓ → func type struct
	range slice append length config retry timeout server request response header body status module package`)

func (w *writer) word() string { return vocabulary[w.n(len(vocabulary))] }

func (w *writer) words(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = w.word()
	}
	return strings.Join(out, " ")
}

// prose is about n bytes of words in lines.
func (w *writer) prose(n int) string {
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(w.words(9) + `.\n`)
	}
	return b.String()
}

// output is what a tool printed: mostly short, sometimes very long.
func (w *writer) output() string {
	n := 200 + w.n(3000)
	if w.n(40) == 0 {
		n = 20000 + w.n(200000)
	}
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, `%s:%d:\t\"%s\" %s\n`, w.word(), w.n(900), w.words(2), w.words(5))
	}
	return b.String()
}
