package dsh

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

// child is a sub-agent of a session, as the catalog of version 4 tells of it (session-format-v3-to-v4, facts.ts).
type child struct {
	id      string
	created int64
	// known: its own part holds one descriptor that can be read; what it says, as JSON.
	known       bool
	mode, label string
}

// fact is the payload of the catalog's record.
func (c child) fact() string {
	version, mode := "1", `"unknown"`
	if c.known {
		version, mode = "0", c.mode
	}
	out := `{"version":` + version + `,"childId":` + quote(c.id) + `,"childCreatedAt":` + num(c.created) + `,"mode":` + mode
	if c.known && c.label != "" {
		out += `,"label":` + c.label
	}
	return out + `}`
}

// children looks for the sub-agents of a session in all projects of the root that it lies in, oldest first. Of each the newest
// generation counts.
func children(path, parent string) []child {
	root := Format{}.Root(path)
	if root == "" || parent == "" {
		return nil
	}
	var out []child
	for _, log := range newest(root) {
		if c, ok := childOf(log, parent); ok {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b child) int {
		return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.id, b.id))
	})
	return slices.CompactFunc(out, func(a, b child) bool { return a.id == b.id })
}

// newest are the logs of a root, of each session the one of the newest generation.
func newest(root string) []string {
	var out []string
	projects, _ := os.ReadDir(root)
	for _, project := range projects {
		if !isProject(project.Name()) {
			continue
		}
		sessions, _ := os.ReadDir(filepath.Join(root, project.Name()))
		for _, session := range sessions {
			dir := filepath.Join(root, project.Name(), session.Name())
			logs, _ := os.ReadDir(dir)
			best, name := -1, ""
			for _, log := range logs {
				if version, _, ok := logName(log.Name()); ok && version > best && log.Type().IsRegular() {
					best, name = version, log.Name()
				}
			}
			if name != "" {
				out = append(out, filepath.Join(dir, name))
			}
		}
	}
	return out
}

// childOf reads a log that may be that of a sub-agent. Only the header of others is read.
func childOf(log, parent string) (child, bool) {
	f, err := os.Open(log)
	if err != nil {
		return child{}, false
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return child{}, false
	}
	medium := scan.Lines
	if _, packed, _ := logName(filepath.Base(log)); packed {
		medium = scan.Frames
	}
	sc, err := scan.New(context.Background(), f, fi.Size(), scan.Options{Medium: medium, Framing: dialect{}.Framing()})
	if err != nil || !sc.Next() {
		return child{}, false
	}
	h, ok := readHeader(sc.Record().Raw)
	if !ok || h.text("origin") != "subagent" || h.text("parentSession") != parent {
		return child{}, false
	}
	c := child{id: h.text("id")}
	if c.created, ok = integer(h.raw("createdAt")); !ok || c.id == "" {
		return child{}, false
	}
	inherited, _ := integer(h.raw("seedLength"))
	found := 0
	var w rewrite
	for sc.Next() {
		w.reset(sc.Record().Raw)
		root := w.root()
		switch data := w.get(root, "data"); {
		case w.is(w.get(root, "type"), "session/end-seed") && w.kind(w.get(data, "inherited")) == 't':
			c.known, found = false, 0
		case w.is(w.get(root, "type"), "subagent/descriptor"):
			if seq, ok := w.whole(w.get(root, "seq")); ok && seq >= inherited {
				found++
				c.describe(&w, data)
			}
		}
	}
	c.known = c.known && found == 1 && sc.Err() == nil
	return c, true
}

// describe reads a descriptor. Version 1 knew one mode alone, and did not write it.
func (c *child) describe(w *rewrite, data span) {
	version, _ := w.whole(w.get(data, "version"))
	mode, label := w.get(data, "mode"), w.get(data, "label")
	c.mode = string(w.of(mode))
	c.label = string(w.of(label))
	if version == 1 {
		c.mode = `"continuable"`
	}
	c.known = version >= 1 && version <= 3 && w.kind(w.get(data, "provider")) == '"' && (label.none() || w.kind(label) == '"') &&
		(version == 1 || w.is(mode, "one-shot") || w.is(mode, "continuable")) && (c.mode != `"continuable"` || c.label != "")
}

// listed notes a sub-agent that the log's own catalog holds.
func (s *toFour) listed(r *logRecord) {
	switch {
	case r.typ == "subagent/catalog":
		if id, ok := r.text(r.get(r.data, "childId")); ok {
			created, _ := r.whole(r.get(r.data, "childCreatedAt"))
			mode, _ := r.text(r.get(r.data, "mode"))
			s.catalog[id] = child{id: id, created: created, mode: mode}
		}
	case r.typ == "session/end-seed" && r.kind(r.get(r.data, "inherited")) == 't':
		clear(s.catalog) // that of the parent
	}
}

// list adds the sub-agents that the catalog lacks.
func (s *toFour) list(out format.Out) error {
	for _, c := range children(s.path, s.id) {
		if old, ok := s.catalog[c.id]; ok {
			if old.created != c.created || c.known && quote(old.mode) != c.mode {
				return format.Refuse(-1, "the catalog tells of the sub-agent %s otherwise than its own log", quoted(c.id))
			}
			continue
		}
		raw := fill("subagent/catalog", s.next, s.time, c.fact(), "")
		s.next++
		if err := out.Put(format.Line{Raw: raw, N: -1, Why: "tells of a sub-agent of the session that lies in the same root"}); err != nil {
			return err
		}
	}
	return nil
}
