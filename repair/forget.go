package repair

import (
	"context"
	"fmt"

	"github.com/sessfix/sessfix/database"
	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/store"
)

// forget takes the rows of databases out that know of bytes which are about to change. The client makes them again; left
// as they are it would go on to show what is there no more.
func forget(ctx context.Context, s store.Session, path string, o Options, r *edit.Result) error {
	p, ok := s.Format.(format.Projector)
	if !ok {
		return nil
	}
	env := o.Env
	if env == nil {
		env = func(string) string { return "" }
	}
	from := int64(0)
	if s.Medium == scan.Lines && len(r.Removed) > 0 {
		from = r.Removed[0].Off
	}
	for _, rows := range p.Projections(path, env) {
		if _, err := database.Forget(ctx, rows, from); err != nil {
			return &LiveError{path, fmt.Sprintf("its database %s cannot be written", rows.Path), err}
		}
	}
	return nil
}
