package openclaw

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/pi"
	"github.com/sessfix/sessfix/session"
)

// indexName is the name of the file that names the sessions of a folder.
const indexName = "sessions.json"

// index is the dialect of that file: one JSON object, key -> {"sessionId", "updatedAt", "sessionFile", …}.
type index struct{ rank int }

func (index) Version() string                              { return "index" }
func (i index) Rank() int                                  { return i.rank }
func (index) Rules() format.Rules                          { return format.Rules{} }
func (index) Framing() session.Framing                     { return session.Framing{} }
func (index) NewDecoder(place format.Place) format.Decoder { return nil }

// log is a log of the folder.
type log struct {
	name, id string
	updated  int64 // Unix ms
}

// Judge holds the index against the logs beside it.
func (index) Judge(data []byte, a format.Around) []finding.Finding {
	f := finding.New(finding.IndexEmpty)
	f.Span = session.Span{Len: int64(len(data)), TextLen: int64(len(data)), Line: 1, Logical: 1}
	logs := logsIn(a.Dir)
	if len(bytes.Trim(data, " \t\r\n\x00")) == 0 {
		f.Message = fmt.Sprintf("the index of the sessions is empty, and %d logs lie beside it", len(logs))
		if len(logs) == 0 {
			f.Severity, f.Cure, f.Where = finding.Note, finding.Leave, "none"
			return []finding.Finding{f}
		}
		f.Repair = "it is written anew: each log under a key of its own; which of them was whose talk, and how it was set up, is lost"
		f.Patches = []finding.Patch{{Del: int64(len(data)), Ins: rebuilt(agentOf(filepath.Dir(a.Path)), logs)}}
		return []finding.Finding{f}
	}
	var entries map[string]struct {
		ID   string `json:"sessionId"`
		File string `json:"sessionFile"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), &entries); err != nil && !json.Valid(data) {
		f.Code = finding.IndexCorrupt
		f.Message = fmt.Sprintf("the index of the sessions is no whole JSON, and %d logs lie beside it", len(logs))
		return []finding.Finding{f}
	}
	return compare(f.Span, logs, func(yield func(id, file string)) {
		for _, e := range entries {
			yield(e.ID, e.File)
		}
	})
}

// compare notes what the index names and what is there.
func compare(span session.Span, logs []log, each func(func(id, file string))) []finding.Finding {
	named, gone := map[string]bool{}, 0
	each(func(id, file string) {
		found := false
		for _, l := range logs {
			if l.id == id || l.name == filepath.Base(file) {
				named[l.name], found = true, true
			}
		}
		if !found {
			gone++
		}
	})
	var out []finding.Finding
	if gone > 0 {
		n := finding.New(finding.IndexStale)
		n.Span, n.Message = span, fmt.Sprintf("%d of the sessions that the index names have no log here", gone)
		out = append(out, n)
	}
	if left := len(logs) - len(named); left > 0 {
		n := finding.New(finding.IndexMissing)
		n.Span, n.Message = span, fmt.Sprintf("%d of %d logs here are not in the index", left, len(logs))
		out = append(out, n)
	}
	return out
}

// logsIn are the logs of a folder that begin with a header, by name.
func logsIn(dir fs.FS) []log {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil
	}
	var out []log
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".jsonl") {
			continue
		}
		head, err := format.ReadSmall(dir, e.Name(), maxEnd)
		if err != nil {
			continue
		}
		line, _, _ := bytes.Cut(head, []byte("\n"))
		h := pi.Title(format.Peek{Path: e.Name(), First: line, FirstLine: true})
		if h.ID == "" {
			continue
		}
		out = append(out, log{e.Name(), h.ID, newest(dir, e.Name(), head)})
	}
	slices.SortFunc(out, func(a, b log) int { return strings.Compare(a.name, b.name) })
	return out
}

// maxEnd is how much of a log's beginning and end is looked at.
const maxEnd = 64 << 10

// newest is the time of the last record in a log's end, else in its beginning; 0 where none tells one.
func newest(dir fs.FS, name string, head []byte) int64 {
	tail := head
	if f, err := dir.Open(name); err == nil {
		defer f.Close()
		if fi, err := f.Stat(); err == nil && fi.Size() > maxEnd {
			if r, ok := f.(io.ReaderAt); ok {
				buf := make([]byte, maxEnd)
				if _, err := r.ReadAt(buf, fi.Size()-maxEnd); err == nil {
					tail = buf
				}
			}
		}
	}
	for _, part := range [][]byte{tail, head} {
		lines := bytes.Split(part, []byte("\n"))
		for _, line := range slices.Backward(lines) {
			var v struct {
				Timestamp string `json:"timestamp"`
			}
			if json.Unmarshal(line, &v) != nil {
				continue
			}
			if t, err := time.Parse(time.RFC3339, v.Timestamp); err == nil {
				return t.UnixMilli()
			}
		}
	}
	return 0
}

// rebuilt is an index of logs, each under a key that claims nothing of it.
func rebuilt(agent string, logs []log) []byte {
	var b bytes.Buffer
	b.WriteString("{")
	for i, l := range logs {
		if i > 0 {
			b.WriteString(",")
		}
		key, _ := json.Marshal("agent:" + agent + ":recovered:" + l.id)
		id, _ := json.Marshal(l.id)
		file, _ := json.Marshal(l.name)
		fmt.Fprintf(&b, "\n  %s: {\n    \"sessionId\": %s,\n    \"updatedAt\": %d,\n    \"sessionFile\": %s\n  }", key, id, l.updated, file)
	}
	b.WriteString("\n}\n")
	return b.Bytes()
}

var _ format.Document = index{}
