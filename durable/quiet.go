package durable

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// clock is what Quiet needs of time, so that tests need not wait.
type clock struct {
	now   func() time.Time
	sleep func(ctx context.Context, d time.Duration) error
}

var wall = clock{now: time.Now, sleep: sleep}

// Quiet returns nil when none of the files has been written for the length of window, which it waits for if it must.
// It returns ErrChanged if one of them changes, appears or vanishes while it waits.
func Quiet(ctx context.Context, fsys FS, paths []string, window time.Duration) error {
	return wall.quiet(ctx, fsys, paths, window)
}

func (c clock) quiet(ctx context.Context, fsys FS, paths []string, window time.Duration) error {
	before := make([]Token, len(paths))
	var wait time.Duration
	now := c.now()
	for i, path := range paths {
		t, mtime, err := look(fsys, path)
		if err != nil {
			return err
		}
		before[i] = t
		if t == (Token{}) {
			continue
		}
		// A time in the future says nothing about the past: such a file is watched for the whole window.
		wait = max(wait, min(window-now.Sub(mtime), window))
	}
	if wait <= 0 {
		return ctx.Err()
	}
	if err := c.sleep(ctx, wait); err != nil {
		return err
	}
	for i, path := range paths {
		after, _, err := look(fsys, path)
		if err != nil {
			return err
		}
		if after != before[i] {
			return fmt.Errorf("wait for %s to be quiet: %w", path, ErrChanged)
		}
	}
	return nil
}

// look returns the zero Token for a file that does not exist.
func look(fsys FS, path string) (Token, time.Time, error) {
	fi, err := fsys.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Token{}, time.Time{}, nil
	}
	if err != nil {
		return Token{}, time.Time{}, fmt.Errorf("wait for %s to be quiet: %w", path, err)
	}
	return TokenOf(fi), fi.ModTime(), nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
