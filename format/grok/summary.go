package grok

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// summaryName is the file without which there is no session.
const summaryName = "summary.json"

// summary is the dialect of that file: one JSON object, with the session's id and folder, its title, times and counters.
type summary struct{ rank int }

func (summary) Version() string                              { return "summary" }
func (s summary) Rank() int                                  { return s.rank }
func (summary) Rules() format.Rules                          { return format.Rules{} }
func (summary) Framing() session.Framing                     { return session.Framing{} }
func (summary) NewDecoder(place format.Place) format.Decoder { return nil }

// Documents are the names of the files that are no logs.
func (Format) Documents() []string { return []string{summaryName, planName} }

// maxSummary bounds a summary that is looked into for its id.
const maxSummary = 1 << 20

// Title is the id and folder of a session, as its summary says.
func (Format) Title(p format.Peek) format.Header {
	data, err := format.ReadSmall(os.DirFS(filepath.Dir(p.Path)), summaryName, maxSummary)
	var s struct {
		Info   struct{ ID, CWD string }
		Parent string `json:"parent_session_id"`
	}
	if err != nil || json.Unmarshal(data, &s) != nil {
		return format.Header{}
	}
	return format.Header{ID: s.Info.ID, CWD: s.Info.CWD, Parent: s.Parent}
}

// counted are the lines of a session's files, as the summary counts them.
type counted struct {
	updates, items int64
	made           bool // some of them were made by a recovery of ours
	first, last    string
	model          string // the last that answered
	chunkModel     string
	prompt         string // the first
	turns          int
	old            bool   // the history is in its first form
	id, cwd        string // as the log and the history tell them
	parent         string // of a copy: the session whose name its first updates bear
}

func count(dir fs.FS) (c counted) {
	beside(dir, updatesName, func(f *fields) {
		c.updates++
		c.made = c.made || f.Has(kMark)
		if id := f.Str(kSession); len(id) > 0 {
			c.id = string(id)
			if i := bytes.LastIndexByte(f.Str(kEvent), '-'); c.parent == "" && i == len(id) && !bytes.HasPrefix(f.Str(kEvent), id) {
				c.parent = string(f.Str(kEvent)[:i])
			}
		}
		if f.Kind(kTime) == '0' {
			c.last = string(f.Value(kTime))
			if c.first == "" {
				c.first = c.last
			}
		}
		if m := f.Str(kChunkModel); len(m) > 0 {
			c.chunkModel = string(m)
		}
		if c.prompt == "" && string(f.Str(kUpdate)) == "user_message_chunk" {
			c.prompt = string(f.Str(kChunkText))
		}
	})
	beside(dir, historyName, func(f *fields) {
		c.items++
		c.old = c.old || !f.Has(kType) && f.Has(kRole)
		if c.cwd == "" && c.items < 10 {
			if m := workspace.FindSubmatch(f.Value(kContent)); m != nil {
				c.cwd = unquote(string(m[1]))
			}
		}
		if m := f.Str(kModel); len(m) > 0 {
			c.model = string(m)
		}
	})
	c.turns = readEvents(dir).turns
	return c
}

// Judge holds the summary against the logs beside it.
func (summary) Judge(data []byte, a format.Around) []finding.Finding {
	span := session.Span{Len: int64(len(data)), TextLen: int64(len(data)), Line: 1, Logical: 1}
	c := count(a.Dir)
	has, whole := members(data)
	code, what := finding.Code(""), ""
	switch bad := unfit(has); {
	case a.Missing:
		code, what = finding.SidecarMissing, "the session has no summary"
	case len(bytes.Trim(data, " \t\r\n\x00")) == 0:
		code, what = finding.SidecarEmpty, "the session's summary is empty"
	case !whole:
		code, what = finding.SidecarCorrupt, "the session's summary is no whole JSON"
	case bad != "":
		code, what = finding.SidecarCorrupt, fmt.Sprintf("the session's summary has no %s that the client could read", bad)
	}
	if code == "" {
		return counters(data, span, c)
	}
	f := finding.New(code)
	f.Span, f.Message = span, what+": the client neither lists nor opens it"
	f.Repair = "none: no file of the session says which model answered in it"
	if text := rebuilt(a.Path, c, has); text != nil {
		f.Repair = "it is written anew, of what is left of it, the folder's name and the other files; where the title is gone it becomes the first prompt"
		f.Patches = []finding.Patch{{Del: int64(len(data)), Ins: text}}
	} else {
		f.Where = "unknown"
	}
	return []finding.Finding{f}
}

// counters are patched where records were added by a repair: the client counts what it wrote itself.
func counters(data []byte, span session.Span, c counted) []finding.Finding {
	if !c.made {
		return nil
	}
	f := finding.New(finding.DerivedStale)
	f.Span, f.Where = span, "counters"
	var told []string
	for _, k := range []struct {
		name string
		now  int64
	}{{"num_messages", c.updates}, {"num_chat_messages", c.items}} {
		i := bytes.Index(data, []byte(`"`+k.name+`":`))
		if i < 0 {
			continue
		}
		at := i + len(k.name) + 3
		for at < len(data) && data[at] == ' ' {
			at++
		}
		end := at
		for end < len(data) && data[end] >= '0' && data[end] <= '9' {
			end++
		}
		if n, err := strconv.ParseInt(string(data[at:end]), 10, 64); err == nil && n < k.now {
			told = append(told, fmt.Sprintf("%s is %d, and with them it is %d", k.name, n, k.now))
			f.Patches = append(f.Patches, finding.Patch{At: int64(at), Del: int64(end - at), Ins: strconv.AppendInt(nil, k.now, 10)})
		}
	}
	if len(told) == 0 {
		return nil
	}
	f.Message = "the counters of the summary are behind the records that were added: " + strings.Join(told, "; ")
	f.Repair = "they are set"
	return []finding.Finding{f}
}

// workspace is how the model is told of the folder.
var workspace = regexp.MustCompile(`\\nWorkspace Path: ((?:[^"\\]|\\[^n])+)\\n`)

// rebuilt is a summary of what is known, and of what is left of the old one; nil where too little is.
func rebuilt(path string, c counted, has []member) []byte {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	dir := filepath.Dir(abs)
	id, cwd := filepath.Base(dir), folderOf(filepath.Dir(dir))
	if !inHome(dir) || cwd == "" {
		if c.id != "" {
			id = c.id
		}
		if c.cwd != "" {
			cwd = c.cwd
		}
	}
	if cwd == "" || id == "" {
		return nil
	}
	made, last := stampOf(id, c.first), seconds(c.last)
	made, last = cmp.Or(made, last), cmp.Or(last, made)
	title := []rune(strings.TrimSpace(unquote(c.prompt)))
	title = title[:min(len(title), 100)]
	kind := ""
	if data, err := format.ReadSmall(os.DirFS(dir), "fork_status.json", maxSummary); err == nil {
		var s struct{ Kind string }
		json.Unmarshal(data, &s)
		kind = s.Kind
	}
	version := "1"
	if c.old {
		version = "0"
	}
	known := []member{
		{"info", `{"id":` + quoted(id) + `,"cwd":` + quoted(cwd) + "}"},
		{"session_summary", quoted(string(title))},
		{"created_at", quoted(made)},
		{"updated_at", quoted(last)},
		{"num_messages", strconv.FormatInt(c.updates, 10)},
		{"num_chat_messages", strconv.FormatInt(c.items, 10)},
		{"current_model_id", quoted(unquote(cmp.Or(c.model, c.chunkModel)))},
		{"parent_session_id", quoted(c.parent)},
		{"session_kind", quoted(kind)},
		{"next_trace_turn", strconv.Itoa(c.turns)},
		{"chat_format_version", version},
		{"last_active_at", quoted(last)},
		{"generated_title", quoted(string(title))},
	}
	for _, m := range known {
		i := slices.IndexFunc(has, func(x member) bool { return x.key == m.key })
		switch fresh := strings.HasPrefix(m.key, "num_"); {
		case i >= 0 && (fresh || !fits(has[i])):
			has[i].value = m.value
		case i < 0 && m.value != `""`:
			has = append(has, m)
		}
	}
	if unfit(has) != "" {
		return nil
	}
	var flat, out bytes.Buffer
	for i, m := range has {
		flat.WriteByte(",{"[btoi(i == 0)])
		flat.WriteString(quoted(m.key) + ":" + m.value)
	}
	flat.WriteByte('}')
	if json.Indent(&out, flat.Bytes(), "", "  ") != nil {
		return nil
	}
	return out.Bytes()
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// folderOf is the folder that a group of sessions is about: its name says so, or where that would be too long a file in it.
func folderOf(group string) string {
	if cwd, err := url.PathUnescape(filepath.Base(group)); err == nil && absolute(cwd) {
		return cwd
	}
	data, err := format.ReadSmall(os.DirFS(group), ".cwd", 1<<16)
	if cwd := strings.TrimSpace(string(data)); err == nil && absolute(cwd) {
		return cwd
	}
	return ""
}

func absolute(cwd string) bool { return strings.HasPrefix(cwd, "/") || len(cwd) > 2 && cwd[1] == ':' }

// stampOf is the time in a UUIDv7, else that of a first record.
func stampOf(id, first string) string {
	if hex := strings.ReplaceAll(id, "-", ""); len(hex) == 32 && hex[12] == '7' {
		if ms, err := strconv.ParseInt(hex[:12], 16, 64); err == nil && ms < 1<<42 {
			return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
		}
	}
	return seconds(first)
}

func seconds(s string) string {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n <= 0 || n > 1<<36 {
		return ""
	}
	return time.Unix(n, 0).UTC().Format("2006-01-02T15:04:05Z")
}

var _ format.Document = summary{}
