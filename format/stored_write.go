package format

import (
	"context"
	"database/sql"
	"io"
	"iter"

	"github.com/sessfix/sessfix/database"
)

// Holder is a Stored of which the databases may have any name, and are known by how their files begin.
type Holder interface {
	Stored
	// Holds tells that by the first 100 bytes.
	Holds(head []byte) bool
}

// Rewritable is a Stored of which the sessions can be written as well: what a repair makes of the log that Lines gives goes back into
// the rows. All statements of one repair run in one transaction.
type Rewritable interface {
	Stored
	// Owners say how to find a live owner of the database at a path. Its own locks are left to the transaction.
	Owners(path string) []Guard
	// Exact is an error where the database is not in all of its schema what is known, so that it may not be written.
	Exact(ctx context.Context, q database.Reader) error
	// Stamp changes whenever rows of the session do. A database or a session of the same name that is another one has another.
	Stamp(ctx context.Context, q database.Reader, id string) (string, error)
	// Lines writes the log of a session, a row a line. A row that the client cannot read becomes a line that is no record.
	Lines(ctx context.Context, q database.Reader, id string, w io.Writer) error
	// Rewrite makes the rows of a session say what the first size bytes of text do. Rows of which the line is the same
	// stay as they are. It changes the stamp. A record that rows cannot hold gives a *RefusedError.
	Rewrite(ctx context.Context, tx *sql.Tx, id string, text io.ReaderAt, size int64) error
	// Keep writes the rows of a session, as they are, into a new database.
	Keep(ctx context.Context, q database.Reader, id, path string) error
	// PutBack makes the rows of a session those that Keep wrote. It changes the stamp.
	PutBack(ctx context.Context, tx *sql.Tx, id string, kept *database.Copy) error
	// NewDatabase writes a log into a new database of its own: the header, then the records, lines without their newline.
	NewDatabase(ctx context.Context, path string, header []byte, records iter.Seq2[[]byte, error]) error
}
