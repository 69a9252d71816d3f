package grok

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"github.com/sessfix/sessfix/format"
)

// The generations of each part: what the first releases wrote, and what all do since.
const (
	first   = "0"
	current = "1"
)

// Upgrades are one step for each part that was written in another way first.
func (Format) Upgrades() []format.Upgrade {
	return []format.Upgrade{
		{From: first, To: current, Part: updatesName, About: "lines of the log get an envelope, without which the client does not show them", Begin: beginLog},
		{From: first, To: current, Part: historyName, About: "messages become items, with their calls and what the model thought as they are written now", Begin: beginHistory},
		{From: first, To: current, Part: pointsName, About: "paths of files are told from the session's folder on", Begin: beginPoints},
		{From: first, To: current, Part: summaryName, About: "the summary says that the history holds items", Begin: beginSummary},
	}
}

// Age tells of which generation a part is. A part that was never written in another way is current.
func (Format) Age(s format.Source) (string, error) {
	begin := map[string]func(format.Source) (format.Stage, error){updatesName: beginLog, historyName: beginHistory, pointsName: beginPoints}[filepath.Base(s.Path)]
	if filepath.Base(s.Path) == summaryName {
		data, err := textOfSource(s)
		if err != nil {
			return "", err
		}
		o, ok := openObject(data)
		if !ok {
			return current, nil // nothing that could be changed
		}
		if n, err := chatVersion(o); err != nil || n == 0 {
			return first, err
		}
		if s.Dir != nil {
			if _, more := touches(s); more {
				return first, nil
			}
		}
		return current, nil
	}
	if begin == nil {
		return current, nil
	}
	stage, err := begin(s)
	if err != nil {
		return first, refusalOnly(err) // to be told by the step
	}
	w := &watcher{}
	for l, err := range s.Records() {
		if err != nil {
			return "", err
		}
		w.raw = l.Raw
		if err := stage.Record(l, w); err != nil {
			return first, refusalOnly(err)
		}
		if w.changed {
			return first, nil
		}
	}
	return current, nil
}

// refusalOnly lets all errors through that are no refusal of a step.
func refusalOnly(err error) error {
	var no *format.RefusedError
	if errors.As(err, &no) {
		return nil
	}
	return err
}

// watcher tells whether a stage changes what it gets.
type watcher struct {
	raw     []byte
	changed bool
}

// Put compares a record with the one that the stage got.
func (w *watcher) Put(l format.Line) error {
	w.changed = w.changed || string(l.Raw) != string(w.raw)
	return nil
}

// Drop is a change.
func (w *watcher) Drop(int64, string) { w.changed = true }

// Note is none.
func (w *watcher) Note(int64, string) {}

// chatVersion is the generation of a history, as its summary says. The client takes a byte.
func chatVersion(o *object) (int, error) {
	v := string(o.get("chat_format_version"))
	if v == "" || v == "null" {
		return 0, nil
	}
	n, err := strconv.ParseUint(v, 10, 8)
	if err != nil {
		return 0, &format.VersionError{Version: v}
	}
	if n > 1 {
		return 0, &format.VersionError{Version: v, Newer: true}
	}
	return int(n), nil
}

// textOfSource is a file that is one JSON document, whichever way its lines are given.
func textOfSource(s format.Source) ([]byte, error) {
	var data []byte
	if s.Records != nil {
		for l, err := range s.Records() {
			if err != nil {
				return nil, err
			}
			if data = append(append(data, l.Raw...), '\n'); len(data) > maxSummary {
				return nil, format.Refuse(-1, "the summary is longer than any that a client writes")
			}
		}
	}
	if len(data) > 0 || s.Dir == nil {
		return data, nil
	}
	data, err := format.ReadSmall(s.Dir, path.Base(filepath.ToSlash(s.Path)), maxSummary)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// fit refuses a session of which some part is of a later client, or that is being moved.
func fit(s format.Source) error {
	if s.Dir != nil {
		if err := fitFiles(s.Dir); err != nil {
			return err
		}
	}
	return fitPlace(s.Path)
}

// maxWorkflow is the newest version of a workflow's state that is known.
const maxWorkflow = 4

func fitFiles(dir fs.FS) error {
	if data, err := format.ReadSmall(dir, summaryName, maxSummary); err == nil {
		if o, ok := openObject(data); ok {
			if _, err := chatVersion(o); err != nil {
				return format.Refuse(-1, "the summary gives the history a version that is not known: %s", o.get("chat_format_version"))
			}
		}
	}
	entries, _ := fs.ReadDir(dir, "compaction_checkpoints")
	for _, e := range entries {
		name := "compaction_checkpoints/" + e.Name()
		if n := versionIn(dir, name, "schema_version"); n > 1 {
			return format.Refuse(-1, "%s is of version %d, which is newer than this sessfix knows", name, n)
		}
	}
	entries, _ = fs.ReadDir(dir, "workflows")
	for _, e := range entries {
		name := "workflows/" + e.Name() + "/state.json"
		if n := versionIn(dir, name, "version"); n > maxWorkflow {
			return format.Refuse(-1, "%s is of version %d, which is newer than this sessfix knows", name, n)
		}
	}
	return nil
}

// versionIn is the version that a file says it is of, 0 where it says none.
func versionIn(dir fs.FS, name, key string) int {
	data, err := format.ReadSmall(dir, name, maxCheckpoint)
	if err != nil {
		return 0
	}
	o, ok := openObject(data)
	if !ok {
		return 0
	}
	n, _ := strconv.Atoi(string(o.get(key)))
	return n
}

// fitPlace looks for the note that the client keeps of a session while it moves it to another folder.
func fitPlace(at string) error {
	abs, err := filepath.Abs(at)
	if err != nil {
		return nil
	}
	dir := filepath.Dir(abs)
	if !inHome(dir) {
		return nil
	}
	home := filepath.Dir(filepath.Dir(filepath.Dir(dir)))
	name := filepath.Base(dir) + ".json"
	data, err := format.ReadSmall(os.DirFS(home), "relocations/"+name, maxSummary)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return fmt.Errorf("relocations/%s: %w", name, err)
	}
	var j struct{ Phase string }
	if json.Unmarshal(data, &j) != nil {
		return format.Refuse(-1, "relocations/%s cannot be read: the client may be moving the session to another folder", name)
	}
	if j.Phase != "committed" && j.Phase != "rolled_back" {
		return format.Refuse(-1, "the client was moving the session to another folder and has not come to an end (%q): open it once with the client", j.Phase)
	}
	return nil
}

var (
	_ format.Upgrader = Format{}
	_ format.Aged     = Format{}
)
