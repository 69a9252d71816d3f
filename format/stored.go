package format

import (
	"context"

	"github.com/sessfix/sessfix/database"
)

// Stored is a format that keeps sessions in databases as well. These are read from a private copy, and written only where the format is
// Rewritable.
type Stored interface {
	Format
	// Databases are the names of their files.
	Databases() []string
	// List lists the sessions in one.
	List(ctx context.Context, c *database.Copy) ([]StoredSession, error)
	// Text is the log of one of them, a record a line.
	Text(ctx context.Context, c *database.Copy, id string) ([]byte, error)
	// ReadOnly says what is to be done instead of writing, "" where it may be written.
	ReadOnly() string
}

// StoredSession is a session in a database, with its first record.
type StoredSession struct {
	ID, First string
	// Unknown is set where its version is none that the client reads from databases.
	Unknown *VersionError
}
