package repair

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/format"
)

// claimed databases: repairs of one take turns, and each knows what the one before left.
var databases struct {
	sync.Mutex
	list map[string]*ownDatabase
}

type ownDatabase struct {
	sync.Mutex
	left [3]durable.Token // the files as our own last transaction left them
	ours bool
}

// databaseFiles are the tokens of a database and of what belongs to it.
func databaseFiles(path string) (out [3]durable.Token, err error) {
	for i, suffix := range []string{"", "-wal", "-journal"} {
		fi, err := os.Lstat(path + suffix)
		switch {
		case errors.Is(err, fs.ErrNotExist) && i > 0:
		case err != nil:
			return out, err
		default:
			out[i] = durable.TokenOf(fi)
		}
	}
	return out, nil
}

// claimDatabase looks for live owners of a database. Its own lock is that of the transaction. That we wrote to it a moment
// ago does not make it one that is written to.
func claimDatabase(ctx context.Context, fsys durable.FS, path, name string, guards []format.Guard) (release func(), err error) {
	databases.Lock()
	if databases.list == nil {
		databases.list = map[string]*ownDatabase{}
	}
	own := databases.list[path]
	if own == nil {
		own = &ownDatabase{}
		databases.list[path] = own
	}
	databases.Unlock()
	own.Lock()
	now, err := databaseFiles(path)
	if err != nil {
		own.Unlock()
		return nil, err
	}
	var all []format.Guard
	for _, g := range guards {
		switch {
		case g.Kind == format.Quiet && own.ours && now == own.left:
		case g.Kind == format.OpenFile && absent(g.Path):
		default:
			all = append(all, g)
		}
	}
	free, err := guard(ctx, fsys, name, all)
	if err != nil {
		own.Unlock()
		return nil, err
	}
	return func() {
		free()
		own.left, err = databaseFiles(path)
		own.ours = err == nil
		own.Unlock()
	}, nil
}

func absent(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}
