package durable

import (
	"context"
	"time"
)

// QuietWith is Quiet with a clock of the test.
func QuietWith(now func() time.Time, sleep func(context.Context, time.Duration) error,
	ctx context.Context, fsys FS, paths []string, window time.Duration) error {
	return clock{now, sleep}.quiet(ctx, fsys, paths, window)
}
