package grok

import (
	_ "embed"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/sessfix/sessfix/format"
)

// Format is grok-build.
type Format struct{}

//go:embed reactions.txt
var reactions string

// Newest is the newest release whose behaviour was measured.
const Newest = "1.0.41"

// The files of a session that are logs.
const (
	historyName = "chat_history.jsonl"
	updatesName = "updates.jsonl"
	eventsName  = "events.jsonl"
	pointsName  = "rewind_points.jsonl"
)

// Name is "grok".
func (Format) Name() string { return "grok" }

// Reactions is the damage table of the format.
func (Format) Reactions() string { return reactions }

// Detect knows the files of a session by their names, and by what their records hold.
func (Format) Detect(p format.Peek) format.Match {
	if isSummary(p.Path) || isPlan(p.Path) {
		return format.ByName
	}
	d, ok := dialectOf(p.Path)
	if !ok {
		return format.No
	}
	f, err := read(p.First)
	switch {
	case err == nil && d.own(f):
		return format.ByShape
	case err == nil && (d.file == eventsName || d.file == pointsName):
		return format.No // other agents have files of that name
	}
	return format.ByName
}

// Dialect is a file of a session as a release reads it, the newest one where none is named.
func (Format) Dialect(p format.Peek, client string) (format.Dialect, error) {
	if client == "" {
		client = Newest
	}
	rank, ok := format.RankOf(client)
	if !ok {
		return nil, fmt.Errorf("client version %q is not known", client)
	}
	if isSummary(p.Path) {
		return summary{rank}, nil
	}
	if isPlan(p.Path) {
		return plan{rank}, nil
	}
	d, ok := dialectOf(p.Path)
	if !ok {
		return nil, fmt.Errorf("%s is no file of a session", filepath.Base(p.Path))
	}
	d.rank, d.version = rank, "1"
	if f, err := read(p.First); err == nil && d.file == historyName && !f.Has(kType) && f.Has(kRole) {
		d.version = "0"
	}
	return d, nil
}

// isSummary tells a summary by its name and what lies beside it.
func isSummary(path string) bool {
	if filepath.Base(path) != summaryName {
		return false
	}
	dir := filepath.Dir(path)
	return exists(filepath.Join(dir, historyName)) || exists(filepath.Join(dir, updatesName))
}

// isPlan does so with a plan.
func isPlan(path string) bool {
	dir := filepath.Dir(path)
	return filepath.Base(path) == planName && exists(filepath.Join(dir, updatesName)) && (exists(filepath.Join(dir, summaryName)) || exists(filepath.Join(dir, historyName)))
}

// parts are in the order in which a repair takes them: the log is mended first, then the history, of what the log and the events
// say; the counters last.
var parts = []struct{ name, role string }{
	{updatesName, format.Primary}, {historyName, format.Primary}, {eventsName, format.Evidence}, {pointsName, format.Primary},
	{planName, format.Derived}, {summaryName, format.Primary},
}

// Part tells what a file of a session is.
func (Format) Part(path string) (format.Part, bool) {
	for i, p := range parts {
		if filepath.Base(path) == p.name {
			return format.Part{Order: i, Role: p.role}, true
		}
	}
	return format.Part{}, false
}

// Parts are their names.
func (Format) Parts() (names []string) {
	for _, p := range parts {
		names = append(names, p.name)
	}
	return names
}

// Lost are a summary, without which there is no session, and a history that the log can tell: of a folder in its place, or that
// is a session's in any case.
func (Format) Lost(path string, dir fs.FS) (names []string) {
	has := func(name string) bool { fi, err := fs.Stat(dir, name); return err == nil && fi.Mode().IsRegular() }
	home := inHome(filepath.Dir(path))
	if !has(summaryName) && (home || has(updatesName) && has(historyName)) {
		names = append(names, summaryName)
	}
	if !has(historyName) && has(updatesName) && (home || has(summaryName)) {
		names = append(names, historyName)
	}
	return names
}

// inHome tells whether a session's folder lies where the client looks for it.
func inHome(dir string) bool {
	abs, err := filepath.Abs(dir)
	group := filepath.Dir(abs)
	return err == nil && filepath.Base(filepath.Dir(group)) == "sessions" && folderOf(group) != ""
}

// dialectOf is the dialect of a file, by its name.
func dialectOf(path string) (dialect, bool) {
	switch name := filepath.Base(path); name {
	case historyName, updatesName, eventsName, pointsName:
		return dialect{file: name}, true
	}
	return dialect{}, false
}

// Homes is $GROK_HOME, else .grok in the user's home; sessions lie in the folder of that name below it.
func (Format) Homes(env func(string) string) []string {
	home := env("GROK_HOME")
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if h := env(name); home == "" && h != "" {
			home = filepath.Join(h, ".grok")
		}
	}
	if home == "" {
		return nil
	}
	return []string{filepath.Join(home, "sessions")}
}

var (
	_ format.Format     = Format{}
	_ format.Reactor    = Format{}
	_ format.Documented = Format{}
	_ format.Parted     = Format{}
)
