package codex

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/sessfix/sessfix/database"
	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// alone is the only rollout of a thread, if it is plain and begins in itself: what the database says of others is not
// held against anything.
func (h *home) alone(id string) (file, bool) {
	list := h.threads[id]
	if len(list) != 1 || list[0].packed || list[0].segment != "" {
		return file{}, false
	}
	f := &list[0]
	if !f.looked {
		_, f.based = Format{}.Cites(lineAt(f.path, 0))
		f.looked = true
	}
	return *f, !f.based
}

// history holds the offsets of the history of turns against the rollouts.
func (h *home) history(path string) {
	db := h.open(path, "history", "the client does not resume any thread with ordinals until it is moved aside, with what ends in -wal and -shm; it makes it again")
	if db == nil {
		return
	}
	defer db.Close()
	ahead, gone := 0, 0
	err := h.each(db, "select thread_id, next_rollout_byte_offset, next_rollout_ordinal from thread_history_projection_state order by 1", func(id string, offset, _ int64) {
		f, ok := h.alone(id)
		switch {
		case len(h.threads[id]) == 0:
			h.add(finding.DerivedStale, "gone", &gone, "%s knows thread %s, whose rollout is gone", h.rel(path), id)
		case !ok:
		case offset > f.size:
			h.add(finding.DerivedMismatch, "ahead", &ahead, "%s counts %d bytes of %s, which holds %d: turns that are gone are still shown", h.rel(path), offset, h.rel(f.path), f.size)
		case !startsLine(f.path, offset):
			h.add(finding.DerivedMismatch, "ahead", &ahead, "%s counts %d bytes of %s, and there no record begins", h.rel(path), offset, h.rel(f.path))
		}
	})
	h.unreadable(path, "history", err)
	moved := 0
	err = h.each(db, "select thread_id, rollout_byte_offset, rollout_ordinal from thread_turns where rollout_byte_offset is not null order by 1, 2", func(id string, offset, ordinal int64) {
		f, ok := h.alone(id)
		if !ok || offset >= f.size {
			return
		}
		if got, ok := ordinalAt(f.path, offset); !ok || got != ordinal {
			h.add(finding.DerivedMismatch, "moved", &moved, "%s has record %d of %s at %d, where it does not stand", h.rel(path), ordinal, h.rel(f.path), offset)
		}
	})
	h.unreadable(path, "history", err)
}

// state holds the list of threads against the rollouts and the list of names.
func (h *home) state(path string) {
	names, torn := h.names()
	if torn > 0 {
		n := 0
		h.add(finding.DerivedStale, "names", &n, "session_index.jsonl has %d lines that are no records; the client passes over them", torn)
	}
	db := h.open(path, "threads", "the client moves it aside and makes it again, without the names, pins and sections that it holds: copy it first")
	if db == nil {
		return
	}
	defer db.Close()
	listed := map[string]bool{}
	missing, unnamed := 0, 0
	rows, err := db.Query("select id, rollout_path, coalesce(name, '') from threads order by 1")
	if err != nil {
		h.unreadable(path, "threads", err)
		return
	}
	defer rows.Close()
	for rows.Next() {
		var id, rollout, name string
		if err = rows.Scan(&id, &rollout, &name); err != nil {
			break
		}
		listed[id] = true
		if _, e := os.Stat(rollout); errors.Is(e, fs.ErrNotExist) && len(h.threads[id]) == 0 {
			h.add(finding.DerivedStale, "gone", &missing, "%s lists thread %s, whose rollout is gone", h.rel(path), id)
		}
		if name == "" && names[id] && len(h.threads[id]) > 0 {
			h.add(finding.DerivedStale, "names", &unnamed, "%s has no name for thread %s, session_index.jsonl has one", h.rel(path), id)
		}
	}
	h.unreadable(path, "threads", errors.Join(err, rows.Err()))
	unlisted := 0
	for _, id := range h.order() {
		if !listed[id] {
			h.add(finding.DerivedStale, "unlisted", &unlisted, "%s does not list thread %s; the client finds it by its file", h.rel(path), id)
		}
	}
}

// names are the threads that the list of names knows, and how many of its lines are no records.
func (h *home) names() (map[string]bool, int) {
	out, torn := map[string]bool{}, 0
	data, err := format.ReadSmall(h.Survey.Root, "session_index.jsonl", 64<<20)
	if err != nil {
		return out, 0
	}
	for line := range bytes.SplitSeq(data, []byte("\n")) {
		var v struct {
			ID   string
			Name string `json:"thread_name"`
		}
		switch {
		case len(bytes.TrimSpace(line)) == 0:
		case json.Unmarshal(line, &v) != nil || v.ID == "":
			torn++
		default:
			out[v.ID] = v.Name != ""
		}
	}
	return out, torn
}

// open opens a copy of a database, and reports one that cannot be read.
func (h *home) open(path, where, then string) *database.Copy {
	if path == "" {
		return nil
	}
	db, err := database.Open(context.Background(), path)
	switch {
	case err == nil:
		return db
	case errors.Is(err, database.ErrNoDatabase):
		h.broken(path, where, then)
	}
	return nil
}

func (h *home) broken(path, where, then string) {
	f := finding.New(finding.DerivedMismatch)
	f.Where, f.Message = where, fmt.Sprintf("%s cannot be read as a database: %s", h.rel(path), then)
	f.Repair = "none by itself: move it aside, with what ends in -wal and -shm, while no client runs"
	f.Never = "delete it: it may still give names back"
	h.found = append(h.found, f)
}

// unreadable reports a database of which some pages are damaged. One of another shape is not known here.
func (h *home) unreadable(path, where string, err error) {
	if database.Unreadable(err) && !slices.ContainsFunc(h.found, func(f finding.Finding) bool { return f.Where == where && f.Code == finding.DerivedMismatch }) {
		h.broken(path, where, "some of its pages are damaged")
	}
}

// each calls f for rows of an id and two numbers.
func (h *home) each(db *database.Copy, query string, f func(id string, a, b int64)) error {
	rows, err := db.Query(query)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		var a, b int64
		if err := rows.Scan(&id, &a, &b); err != nil {
			return err
		}
		f(id, a, b)
	}
	return rows.Err()
}

// startsLine tells whether a record may begin at an offset.
func startsLine(path string, offset int64) bool {
	if offset == 0 {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	last := make([]byte, 1)
	_, err = f.ReadAt(last, offset-1)
	return err == nil && last[0] == '\n'
}

// maxLine bounds how much of a line is read for its ordinal.
const maxLine = 1 << 20

// lineAt is the line that begins at an offset.
func lineAt(path string, offset int64) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	line, err := bufio.NewReader(io.NewSectionReader(f, offset, maxLine)).ReadBytes('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil
	}
	return bytes.TrimSuffix(line, []byte("\n"))
}

// ordinalAt is the ordinal of the record that begins at an offset.
func ordinalAt(path string, offset int64) (int64, bool) {
	if !startsLine(path, offset) {
		return 0, false
	}
	f, err := read(lineAt(path, offset))
	if err != nil {
		return 0, false
	}
	return f.count(kOrdinal)
}
