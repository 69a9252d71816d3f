package durable_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sessfix/sessfix/durable"
)

func TestQuiet(t *testing.T) {
	const window = 2 * time.Second
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name      string
		age       time.Duration
		slept     time.Duration
		meanwhile func(file, other string) error
		want      error
	}{
		{"old", 3 * time.Second, 0, nil, nil},
		{"young", 500 * time.Millisecond, 1500 * time.Millisecond, nil, nil},
		{"in the future", -time.Hour, window, nil, nil},
		{"written", 0, window, func(file, _ string) error { return appendTheirs(file) }, durable.ErrChanged},
		{"touched", 0, window, func(file, _ string) error { return os.Chtimes(file, now, now.Add(time.Second)) }, durable.ErrChanged},
		{"removed", 0, window, func(file, _ string) error { return os.Remove(file) }, durable.ErrChanged},
		{"appeared", 0, window, func(_, other string) error { return os.WriteFile(other, nil, 0o600) }, durable.ErrChanged},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			file, other := join(dir, "log"), join(dir, "log-wal")
			put(t, file, oldLog)
			if err := os.Chtimes(file, now, now.Add(-c.age)); err != nil {
				t.Fatal(err)
			}
			var slept time.Duration
			sleep := func(_ context.Context, d time.Duration) error {
				slept += d
				if c.meanwhile == nil {
					return nil
				}
				return c.meanwhile(file, other)
			}
			clock := func() time.Time { return now }
			err := durable.QuietWith(clock, sleep, context.Background(), durable.Disk, []string{other, file}, window)
			if !errors.Is(err, c.want) || slept != c.slept {
				t.Errorf("slept %v, error %v", slept, err)
			}
			if err != nil && !strings.Contains(err.Error(), file) {
				t.Errorf("error does not name the file: %v", err)
			}
		})
	}
}

func TestQuietCancelled(t *testing.T) {
	file := join(t.TempDir(), "log")
	put(t, file, oldLog)
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := durable.Quiet(ctx, durable.Disk, []string{file}, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestToken(t *testing.T) {
	file := join(t.TempDir(), "log")
	put(t, file, oldLog)
	look := func() durable.Token {
		fi, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		return durable.TokenOf(fi)
	}
	first := look()
	if !first.Equal(look()) || first.Size != int64(len(oldLog)) || strings.Count(first.String(), ":") != 4 {
		t.Errorf("token is %v", first)
	}
	if err := appendTheirs(file); err != nil {
		t.Fatal(err)
	}
	if first.Equal(look()) {
		t.Error("a grown file has the same token")
	}
	if durable.TokenOf(nil) != (durable.Token{}) {
		t.Error("no file has a token")
	}
}
