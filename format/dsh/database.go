package dsh

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/sessfix/sessfix/database"
	"github.com/sessfix/sessfix/format"
)

// The SQLite backend of 0.1.0 and 0.1.1 keeps all sessions in one database, wherever the user's configuration says
// (packages/session/session-persistence-sqlite). Only version 0 of the format was ever kept so.
const (
	databaseID     = 0x44534850
	databaseSchema = 17
	databaseFormat = 0
)

// Databases are none by name: the user chooses it.
func (Format) Databases() []string { return nil }

// Holds knows a database by the application id in its head (www.sqlite.org/fileformat2.html).
func (Format) Holds(head []byte) bool {
	return len(head) >= 72 && strings.HasPrefix(string(head), "SQLite format 3\x00") && binary.BigEndian.Uint32(head[68:]) == databaseID
}

// ReadOnly is empty: a database may be written.
func (Format) ReadOnly() string { return "" }

// List lists the sessions of a database, and those of which only events are left.
func (f Format) List(ctx context.Context, c *database.Copy) ([]format.StoredSession, error) {
	if err := f.Exact(ctx, c); err != nil {
		return nil, err
	}
	rows, err := c.QueryContext(ctx, "select "+headerColumns+", incarnation, revision from sessions order by id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []format.StoredSession
	for rows.Next() {
		var h headerRow
		var incarnation string
		var revision int64
		if err := rows.Scan(append(h.columns(), &incarnation, &revision)...); err != nil {
			return nil, fmt.Errorf("the client cannot list the sessions: %w", err)
		}
		s := format.StoredSession{ID: h.id, First: string(h.line())}
		if why := unlisted(h.version, incarnation, revision); why != "" {
			s.Unknown = &format.VersionError{Version: num(h.version), Why: why}
		}
		out = append(out, s)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return strays(ctx, c, out)
}

// unlisted says why the client does not read a session, or cannot even list those of the database.
func unlisted(version int64, incarnation string, revision int64) string {
	switch {
	case version != databaseFormat:
		return fmt.Sprintf("the row of the session says version %d; a database holds version %d only", version, databaseFormat)
	case !uuids.MatchString(incarnation):
		return "the incarnation of the session is no UUID: the client cannot list the sessions of this database"
	case revision < 0 || revision > maxSafe:
		return fmt.Sprintf("the revision of the session is %d: the client cannot list the sessions of this database", revision)
	}
	return ""
}

// strays adds the sessions of which only events are left.
func strays(ctx context.Context, c *database.Copy, out []format.StoredSession) ([]format.StoredSession, error) {
	rows, err := c.QueryContext(ctx, "select distinct session_id from events where session_id not in (select id from sessions) order by 1")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s format.StoredSession
		if err := rows.Scan(&s.ID); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// Text is the log of a session as the JSONL backend would have it.
func (f Format) Text(ctx context.Context, c *database.Copy, id string) ([]byte, error) {
	var out textSink
	err := f.Lines(ctx, c, id, &out)
	return out.b, err
}

// textSink takes a log into memory.
type textSink struct{ b []byte }

// maxText bounds a log that is read into memory in one piece.
const maxText = 1 << 30

func (l *textSink) Write(p []byte) (int, error) {
	if len(l.b)+len(p) > maxText {
		return 0, fmt.Errorf("the session's log is longer than %d bytes", maxText)
	}
	l.b = append(l.b, p...)
	return len(p), nil
}

// Owners find a process that has the database open. The client opens it when it is first asked for a session, and keeps it open; it
// knows no lock but those of SQLite.
func (Format) Owners(path string) []format.Guard {
	out := []format.Guard{{Kind: format.OpenFile, Path: path}, {Kind: format.OpenFile, Path: path + "-wal"}}
	dir := filepath.Dir(path)
	for _, home := range []string{dir, filepath.Dir(dir)} {
		out = append(out, format.Guard{Kind: format.Running, Path: home, Names: []string{"dsh"}, Home: homeOf})
	}
	return append(out, format.Guard{Kind: format.Quiet, Path: path}, format.Guard{Kind: format.Quiet, Path: path + "-wal"})
}

var (
	_ format.Holder     = Format{}
	_ format.Rewritable = Format{}
)
