package codex

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/sessfix/sessfix/database"
)

// databases is the folder of the client's databases: $CODEX_SQLITE_HOME, else the home itself.
func databases(root string, env func(string) string) string {
	if env == nil {
		return root
	}
	if h := env("CODEX_SQLITE_HOME"); h != "" {
		return h
	}
	return root
}

// newest is the database of a kind with the highest generation: a release that changes its shape begins a new one
// and leaves the old.
func newest(dir, kind string) string {
	name := regexp.MustCompile(`^` + kind + `_(\d+)\.sqlite$`)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	best, path := -1, ""
	for _, e := range entries {
		if m := name.FindStringSubmatch(e.Name()); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil && n > best {
				best, path = n, filepath.Join(dir, e.Name())
			}
		}
	}
	return path
}

// Projections are the rows of the client's history of turns and items: they hold offsets in the rollout, and are made
// again at the next resume.
func (Format) Projections(path string, env func(string) string) []database.Rows {
	n, ok := nameOf(path)
	root := rootOf(path)
	if !ok || root == "" {
		return nil
	}
	db := newest(databases(root, env), "thread_history")
	if db == "" {
		return nil
	}
	return []database.Rows{{
		Path: db, Key: n.thread,
		Counts: "select next_rollout_byte_offset from thread_history_projection_state where thread_id = ?",
		Forget: []string{
			"delete from thread_items where thread_id = ?",
			"delete from thread_turns where thread_id = ?",
			"delete from thread_history_projection_state where thread_id = ?",
		},
	}}
}
