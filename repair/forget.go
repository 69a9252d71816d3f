package repair

import (
	"context"
	"fmt"

	"github.com/sessfix/sessfix/database"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/store"
)

// forget takes the rows of databases out that know of bytes which are about to change. The client makes them again; left
// as they are it would go on to show what is there no more. What stands in front of from stays as it is.
func forget(ctx context.Context, s store.Session, path string, o Options, from int64) error {
	p, ok := s.Format.(format.Projector)
	if !ok {
		return nil
	}
	env := o.Env
	if env == nil {
		env = func(string) string { return "" }
	}
	for _, rows := range p.Projections(path, env) {
		if _, err := database.Forget(ctx, rows, from); err != nil {
			return &LiveError{path, fmt.Sprintf("its database %s cannot be written", rows.Path), err}
		}
	}
	return nil
}
