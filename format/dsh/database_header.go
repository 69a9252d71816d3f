package dsh

import (
	"context"
	"database/sql"
	"errors"
	"unicode/utf8"

	"github.com/sessfix/sessfix/database"
	"github.com/sessfix/sessfix/format"
)

// headerColumns are those of the sessions table that say what a header line says, and headerRow holds them.
const headerColumns = "id, version, created_at, cwd, parent_session, seed_length, origin, delegation_depth, agent_preset"

type headerRow struct {
	id                          string
	version, created            int64
	cwd, parent, origin, preset sql.NullString
	seed, depth                 sql.NullInt64
}

// columns are where the columns go, in their order.
func (h *headerRow) columns() []any {
	return []any{&h.id, &h.version, &h.created, &h.cwd, &h.parent, &h.seed, &h.origin, &h.depth, &h.preset}
}

// values are what goes into the columns.
func (h *headerRow) values() []any {
	return []any{h.id, h.version, h.created, h.cwd, h.parent, h.seed, h.origin, h.depth, h.preset}
}

// headerOf reads the header of a session; ok is false where the database has none.
func headerOf(ctx context.Context, q database.Reader, id string) (h headerRow, ok bool, err error) {
	err = q.QueryRowContext(ctx, "select "+headerColumns+" from sessions where id = ?", id).Scan(h.columns()...)
	if errors.Is(err, sql.ErrNoRows) {
		return h, false, nil
	}
	return h, err == nil, err
}

// line is the header as the JSONL backend writes it. That one writes a depth of 0 where the session has none.
func (h *headerRow) line() []byte {
	b := append([]byte(`{"type":"session","version":`), num(h.version)...)
	b = appendText(append(b, `,"id":`...), h.id)
	b = append(append(b, `,"createdAt":`...), num(h.created)...)
	text := func(name string, s sql.NullString) {
		if s.Valid {
			b = appendText(append(b, `,"`+name+`":`...), s.String)
		}
	}
	text("cwd", h.cwd)
	text("parentSession", h.parent)
	if h.seed.Valid {
		b = append(append(b, `,"seedLength":`...), num(h.seed.Int64)...)
	}
	text("origin", h.origin)
	b = append(append(b, `,"delegationDepth":`...), num(h.depth.Int64)...)
	text("agentPreset", h.preset)
	return append(b, '}')
}

// headerRowOf reads a header line. What has no column is refused.
func headerRowOf(line []byte) (h headerRow, err error) {
	list, err := pairsOf(line)
	if err != nil {
		return h, format.Refuse(0, "the header is %v", err)
	}
	refuse := func(name, what string) error { return format.Refuse(0, "the header's %s is %s", name, what) }
	typ := ""
	for _, m := range list {
		var to *sql.NullString
		var number *int64
		switch m.name {
		case "type":
			typ, _ = plainText(m.raw)
		case "id":
			if h.id, err = plainText(m.raw); err != nil || h.id == "" {
				return h, refuse(m.name, "no text that a database holds")
			}
		case "version":
			number = &h.version
		case "createdAt":
			number = &h.created
		case "seedLength":
			h.seed.Valid, number = true, &h.seed.Int64
		case "delegationDepth":
			h.depth.Valid, number = true, &h.depth.Int64
		case "cwd":
			to = &h.cwd
		case "parentSession":
			to = &h.parent
		case "origin":
			to = &h.origin
		case "agentPreset":
			to = &h.preset
		default:
			return h, format.Refuse(0, "a database has no column for the header member %q", short([]byte(m.name)))
		}
		if to != nil {
			to.Valid = true
			if to.String, err = plainText(m.raw); err != nil {
				return h, refuse(m.name, "no text that a database holds")
			}
		}
		if number != nil {
			v, ok := integer(m.raw)
			if !ok || v < 0 {
				return h, refuse(m.name, "no whole number from 0")
			}
			*number = v
		}
	}
	switch {
	case typ != "session" || h.id == "":
		return h, format.Refuse(0, "the first line is no session header")
	case h.version != databaseFormat:
		return h, format.Refuse(0, "a database holds sessions of version %d only, and this one is of version %d", databaseFormat, h.version)
	case h.cwd.Valid && !absolute(h.cwd.String):
		return h, refuse("cwd", "no absolute path")
	case h.origin.Valid && h.origin.String != "subagent":
		return h, refuse("origin", "something else than subagent")
	}
	return h, nil
}

// appendText appends a text as JSON, as the client's runtime writes it (ECMA-262, JSON.stringify).
func appendText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for len(s) > 0 {
		c := s[0]
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\b':
			b = append(b, `\b`...)
		case c == '\f':
			b = append(b, `\f`...)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c < ' ':
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c < utf8.RuneSelf:
			b = append(b, c)
		default:
			r, n := utf8.DecodeRuneInString(s)
			b = utf8.AppendRune(b, r)
			s = s[n:]
			continue
		}
		s = s[1:]
	}
	return append(b, '"')
}
