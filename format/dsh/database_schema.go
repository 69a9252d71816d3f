package dsh

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/sessfix/sessfix/database"
)

// schemaTables are all that a database of schema 17 may hold besides what SQLite itself keeps, in the order of their names. The
// client compares the text of their definitions, runs of blanks taken as one, and refuses the whole database where a word
// differs (schema.ts, validateRequiredSchema), so that the words are its own.
var schemaTables = []struct{ name, columns, make string }{
	{"events", "session_id, seq, type, time, data, source_event_seqs, surface_op, ignorable", "CREATE TABLE events (" +
		" session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE," +
		" seq INTEGER NOT NULL," +
		" type TEXT NOT NULL," +
		" time INTEGER NOT NULL," +
		" data ANY NOT NULL," +
		" source_event_seqs ANY," +
		" surface_op TEXT," +
		" ignorable INTEGER CHECK (ignorable IS NULL OR ignorable IN (0, 1))," +
		" PRIMARY KEY (session_id, seq) ) STRICT"},
	{"persistence_state", "singleton, store_id", "CREATE TABLE persistence_state (" +
		" singleton INTEGER PRIMARY KEY CHECK (singleton = 1)," +
		" store_id TEXT NOT NULL ) STRICT"},
	{"sessions", headerColumns + ", incarnation, revision", "CREATE TABLE sessions (" +
		" id TEXT PRIMARY KEY," +
		" version INTEGER NOT NULL," +
		" created_at INTEGER NOT NULL," +
		" cwd TEXT," +
		" parent_session TEXT," +
		" seed_length INTEGER," +
		" origin TEXT," +
		" delegation_depth INTEGER," +
		" agent_preset TEXT," +
		" incarnation TEXT NOT NULL," +
		" revision INTEGER NOT NULL ) STRICT"},
}

var (
	schemaBlanks = regexp.MustCompile(`\s+`)
	uuids        = regexp.MustCompile(`(?i)^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
)

// Exact is an error where the client of schema 17 would refuse the database, whatever the session.
func (Format) Exact(ctx context.Context, q database.Reader) error {
	var application, schema int64
	var encoding string
	for _, p := range []struct {
		name string
		to   any
	}{{"application_id", &application}, {"user_version", &schema}, {"encoding", &encoding}} {
		if err := q.QueryRowContext(ctx, "pragma "+p.name).Scan(p.to); err != nil {
			return fmt.Errorf("read the database's %s: %w", p.name, err)
		}
	}
	switch {
	case application != databaseID:
		return fmt.Errorf("the database's application id is %d, that of dsh is %d", application, databaseID)
	case schema != databaseSchema:
		return fmt.Errorf("schema %d of the database is not known here: only %d is", schema, databaseSchema)
	case encoding != "UTF-8":
		return fmt.Errorf("the database's text is %s: dsh makes it UTF-8", encoding)
	}
	if err := schemaObjects(ctx, q); err != nil {
		return err
	}
	var store string
	if err := q.QueryRowContext(ctx, "select store_id from persistence_state where singleton = 1").Scan(&store); err != nil {
		return fmt.Errorf("read the database's own id: %w", err)
	}
	if !uuids.MatchString(store) {
		return fmt.Errorf("the database's own id is no UUID: the client refuses all of its sessions")
	}
	return nil
}

// schemaObjects holds what the database defines against what it should.
func schemaObjects(ctx context.Context, q database.Reader) error {
	rows, err := q.QueryContext(ctx, "select type, name, coalesce(sql, '') from sqlite_schema where name not glob 'sqlite_*' order by name")
	if err != nil {
		return fmt.Errorf("read the database's schema: %w", err)
	}
	defer rows.Close()
	want := schemaTables
	for rows.Next() {
		var kind, name, text string
		if err := rows.Scan(&kind, &name, &text); err != nil {
			return err
		}
		switch {
		case len(want) == 0 || kind != "table" || name < want[0].name:
			return fmt.Errorf("the %s %q is no part of schema %d: the client refuses the database while it is there", kind, name, databaseSchema)
		case name > want[0].name:
			return fmt.Errorf("the database has no table %q", want[0].name)
		case strings.TrimSpace(schemaBlanks.ReplaceAllString(text, " ")) != want[0].make:
			return fmt.Errorf("the table %q is another one than that of schema %d: the client refuses the database", name, databaseSchema)
		}
		want = want[1:]
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("read the database's schema: %w", err)
	}
	if len(want) > 0 {
		return fmt.Errorf("the database has no table %q", want[0].name)
	}
	return nil
}
