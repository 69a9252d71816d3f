package openclaw

import (
	"context"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/sessfix/sessfix/database"
	"github.com/sessfix/sessfix/format"
)

// What is known of the database of one agent (measured with 2026.9.6).
const (
	databaseName = "openclaw-agent.sqlite"
	schema       = 23
	firstStored  = "2026.9.6" // the release that is meant where none is named
	maxRow       = 4 << 20    // of a row, decompressed
)

// Databases are the names of the agents' databases.
func (Format) Databases() []string { return []string{databaseName} }

// ReadOnly says what to do instead of writing to a database.
func (Format) ReadOnly() string {
	return "none here: the client's database is read and never written. Stop the gateway and let openclaw doctor look at it"
}

// List lists the sessions of a database. Those that were put away keep no rows: they are in an archive of their own.
func (Format) List(ctx context.Context, c *database.Copy) ([]format.StoredSession, error) {
	var marker, written int
	if err := c.QueryRowContext(ctx, "pragma user_version").Scan(&marker); err != nil {
		return nil, err
	}
	if err := c.QueryRowContext(ctx, "select schema_version from schema_meta where meta_key = 'primary'").Scan(&written); err != nil {
		return nil, err
	}
	if marker != schema || written != schema {
		return nil, fmt.Errorf("schema %d of the database, which says %d of itself, is not known here: only %d is", marker, written, schema)
	}
	rows, err := c.QueryContext(ctx, "select session_id, coalesce(event_json, '') from transcript_events e where seq = (select min(seq) from transcript_events where session_id = e.session_id) order by session_id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []format.StoredSession
	for rows.Next() {
		var s format.StoredSession
		if err := rows.Scan(&s.ID, &s.First); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, rows.Err()
}

// Text is the log of a session, a row a line. Rows of some length are compressed; one that cannot be read becomes a line that is
// no record.
func (Format) Text(ctx context.Context, c *database.Copy, id string) ([]byte, error) {
	rows, err := c.QueryContext(ctx, "select seq, event_json, event_zstd, event_utf8_bytes from transcript_events where session_id = ? order by seq", id)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxRow))
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	var out []byte
	for rows.Next() {
		var seq int64
		var plain *string
		var packed []byte
		var size *int64
		if err := rows.Scan(&seq, &plain, &packed, &size); err != nil {
			return nil, err
		}
		switch {
		case plain != nil:
			out = append(out, *plain...)
		default:
			text, err := dec.DecodeAll(packed, nil)
			if err != nil || size != nil && int64(len(text)) != *size {
				text = fmt.Appendf(nil, "row %d cannot be decompressed", seq)
			}
			out = append(out, text...)
		}
		out = append(out, '\n')
	}
	return out, rows.Err()
}

var _ format.Stored = Format{}
