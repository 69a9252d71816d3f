package grok

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// NewID is a UUID of version 7, as the client names sessions and forks alike.
func (Format) NewID(now time.Time, random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[6:]); err != nil {
		return "", err
	}
	ms := now.UnixMilli()
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

// Files that a child gets as its parent has them.
var kept = []string{planName, "plan_mode.json", "tool_state.json"}

// signalsName is a file of counters.
const signalsName = "signals.json"

// countedTurns are those that the client sets, in a fork that lacks turns, to the number of its turns.
var countedTurns = []string{"turnCount", "userMessageCount", "assistantMessageCount"}

// Files and folders that a child does not get, as the client's own fork does not give them, or that would be of another session.
var left = []string{"events.jsonl", pointsName, "goal", "workflows", "subagents", "prompts", "images", "terminal", "usage.json", "feedback.jsonl", "btw_history.jsonl"}

// Fork makes a child that is as the client's own: the live branch of the log up to the cut, each record as it is written but for the
// session's name in it; the history up to the same turn; and a summary that says whose child it is.
func (Format) Fork(q format.ForkRequest) (format.Child, error) {
	var c format.Child
	b, err := readBranch(q.Dir)
	if err != nil {
		return c, err
	}
	s := readStem(q.Dir)
	turn := int(q.Cut.Turn)
	if q.Cut.N < 0 || q.Cut.N >= int64(len(b.cuts)) || b.cuts[q.Cut.N].Turn != q.Cut.Turn || turn < 1 {
		return c, format.Refuse(q.Cut.N, "the child would not begin where its parent does")
	}
	if x := s.judge(turn, b.turns); x.Open != "" && !x.Closable {
		return c, format.Refuse(q.Cut.N, "%s", x.Open)
	}
	p, err := newPedigree(q, turn < b.turns)
	if err != nil {
		return c, err
	}
	var folder string
	if c.Root, folder, err = bedOf(q, p); err != nil {
		return c, err
	}
	g := &graft{q: q, branch: b, id: quoted(q.ID)}
	if err := g.count(); err != nil {
		return c, err
	}
	p.updates = g.n
	add := func(name string, write func(w io.Writer) error) {
		c.Files = append(c.Files, format.NewFile{Name: folder + "/" + name, Write: write})
	}
	add(updatesName, g.copyTo)
	add(historyName, func(w io.Writer) error { return s.copyTo(w, turn, b.turns) })
	for _, name := range kept {
		if isFile(q.Dir, name) {
			add(name, copyOf(q.Dir, name))
		}
	}
	if isFile(q.Dir, signalsName) {
		add(signalsName, signals(q.Dir, turn, p.cut))
	}
	if !p.cut && isFile(q.Dir, "announcement_state.json") {
		add("announcement_state.json", copyOf(q.Dir, "announcement_state.json"))
	} // else what the cut took away is announced again
	if isFile(q.Dir, "title_refresh_idx") {
		if p.cut {
			add("title_refresh_idx", text("0"))
		} else {
			add("title_refresh_idx", copyOf(q.Dir, "title_refresh_idx"))
		}
	}
	for _, name := range g.checkpoints {
		add(name, copyOf(q.Dir, name))
	}
	if len(g.checkpoints) > 0 {
		entries, _ := fs.ReadDir(q.Dir, "compaction")
		for _, e := range entries {
			if e.Type().IsRegular() {
				add("compaction/"+e.Name(), copyOf(q.Dir, "compaction/"+e.Name()))
			}
		}
	}
	add("fork_status.json", text(p.status()))
	if p.items, err = itemsIn(func(w io.Writer) error { return s.copyTo(w, turn, b.turns) }); err != nil {
		return c, err
	}
	add(summaryName, text(p.summary()))
	c.Notes = notes(q.Dir, s.retold(turn))
	return c, nil
}

// notes say what the child lacks.
func notes(dir fs.FS, retold bool) (out []string) {
	if retold {
		out = append(out, "a compaction took away what the model knew at the cut: its history is made of the log, without reminders and thoughts")
	}
	var names []string
	for _, name := range left {
		if _, err := fs.Stat(dir, name); err == nil {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		out = append(out, "not copied, as the client does not: "+strings.Join(names, ", "))
	}
	return out
}

// bedOf is where a child lies: in the group of its folder, among the sessions that its parent is of, else beside its parent.
func bedOf(q format.ForkRequest, p *pedigree) (root, folder string, err error) {
	abs, err := filepath.Abs(q.Path)
	if err != nil {
		return "", "", err
	}
	group := filepath.Dir(abs)
	if !inHome(abs) {
		return group, q.ID, nil
	}
	root = filepath.Dir(group)
	if p.cwd == p.parentCWD || p.cwd == folderOf(group) {
		return root, filepath.Base(group) + "/" + q.ID, nil
	}
	name := encoded(p.cwd)
	if len(name) > maxName {
		return "", "", format.Refuse(-1, "the path of the folder is too long for the name of a group of sessions: %s", p.cwd)
	}
	return root, name + "/" + q.ID, nil
}

// maxName is the longest name of a group; the client shortens longer ones in a way of its own.
const maxName = 255

// encoded is a path as the client names a group by it: all but letters, digits and a few signs as percent codes (public sources).
func encoded(path string) string {
	return strings.ReplaceAll(url.QueryEscape(path), "+", "%20")
}

// graft is the log of a child.
type graft struct {
	q           format.ForkRequest
	branch      *branch
	id          string // the child's, as JSON
	n           int64  // records
	checkpoints []string
}

// count goes over the records that a child gets, for their number and the files of the compactions among them.
func (g *graft) count() error {
	named := map[string]bool{}
	return g.each(func(raw []byte, _ int64, f *fields) error {
		g.n++
		if string(f.Str(kUpdate)) == "compaction_checkpoint" {
			name := unquote(string(f.Str(kFile)))
			if strings.HasPrefix(name, "compaction_checkpoints/") && strings.HasSuffix(name, ".json") && fs.ValidPath(name) && !named[name] && isFile(g.q.Dir, name) {
				named[name] = true
				g.checkpoints = append(g.checkpoints, name)
			}
		}
		return nil
	})
}

// copyTo writes them. Those without an envelope get one.
func (g *graft) copyTo(w io.Writer) error {
	out := &putter{w: bufio.NewWriterSize(w, 64<<10)}
	step := &logStep{}
	err := g.each(func(raw []byte, n int64, _ *fields) error { return out.through(step, format.Line{Raw: raw, N: n}) })
	if err != nil {
		return err
	}
	return out.w.Flush()
}

// each goes over them, as the child has them. What the client projects from a goal or a workflow is of the parent alone.
func (g *graft) each(yield func(raw []byte, n int64, f *fields) error) error {
	var f fields
	var err error
	taken := g.branch.taken
	ok := records(g.q.Dir, updatesName, 0, g.q.Cut.TextEnd(), keys[:], func(r *session.Record) {
		for len(taken) > 0 && taken[0].to < r.N {
			taken = taken[1:]
		}
		if err != nil || r.N > g.q.Cut.N || len(taken) > 0 && r.N >= taken[0].from {
			return
		}
		f.set(r.Raw, r.Caps)
		if kind := string(f.Str(kUpdate)); kind == "goal_updated" || kind == "workflow_updated" {
			return
		}
		raw := r.Raw
		if f.Kind(kSession) == '"' {
			at := f.At(kSession)
			raw = append(append(append(make([]byte, 0, len(raw)+len(g.id)), raw[:at.Off]...), g.id...), raw[at.Off+at.Len:]...)
		} else if o, ok := openObject(raw); ok && !f.Has(kParams) && kindOf(o.get("sessionId")) == '"' {
			o.put("sessionId", g.id) // as it was written first
			raw = o.bytes()
		}
		err = yield(raw, r.N, &f)
	})
	if err == nil && !ok {
		return format.Refuse(-1, "its log cannot be read")
	}
	return err
}

func isFile(dir fs.FS, name string) bool {
	fi, err := fs.Lstat(dir, name)
	return err == nil && fi.Mode().IsRegular()
}

// copyOf copies a file of the parent.
func copyOf(dir fs.FS, name string) func(w io.Writer) error {
	return func(w io.Writer) error {
		f, err := dir.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(w, f)
		return err
	}
}

// signals are the parent's counters, with those of turns as the client sets them.
func signals(dir fs.FS, turns int, cut bool) func(w io.Writer) error {
	return func(w io.Writer) error {
		data, err := format.ReadSmall(dir, signalsName, maxState)
		if err != nil {
			return err
		}
		if o, ok := openObject(data); ok && cut {
			for _, key := range countedTurns {
				if o.last(key) != nil {
					o.put(key, strconv.Itoa(turns))
				}
			}
			data = o.bytes()
		}
		_, err = w.Write(data)
		return err
	}
}

func text(s string) func(w io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// itemsIn counts the lines of a text that are not blank.
func itemsIn(write func(w io.Writer) error) (int64, error) {
	l := &lines{}
	err := write(l)
	return l.n, err
}

type lines struct {
	n    int64
	some bool
}

func (l *lines) Write(b []byte) (int, error) {
	for _, c := range b {
		switch c {
		case '\n':
			l.some = false
		case ' ', '\t', '\r':
		default:
			if !l.some {
				l.n++
			}
			l.some = true
		}
	}
	return len(b), nil
}

var _ format.Forker = Format{}
