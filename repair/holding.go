package repair

import (
	"context"
	"errors"
	"path/filepath"
	"time"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/format"
)

// holding are the agent's locks while repair has them.
type holding struct {
	fsys   durable.FS
	last   format.Guard // the one that was taken or asked for last
	locks  []*durable.Lock
	swept  []string // files of locks that go with them
	shared []format.Guard
	brief  []*durable.Lock // of shared, which are held only while others are taken or swept
}

// take takes one more.
func (h *holding) take(ctx context.Context, g format.Guard) error {
	h.last = g
	if g.Kind == format.Claim {
		if err := claim(h.fsys, g); err != nil {
			return err
		}
		h.swept = append(h.swept, g.Path)
		return nil
	}
	l, err := lock(ctx, h.fsys, g)
	switch {
	case err != nil:
		return err
	case g.Wait:
		h.shared, h.brief = append(h.shared, g), append(h.brief, l)
		return nil
	case g.Sweep:
		h.swept = append(h.swept, g.Path)
	}
	h.locks = append(h.locks, l)
	return nil
}

// letGo gives those back that all share.
func (h *holding) letGo() {
	for _, l := range h.brief {
		l.Unlock()
	}
	h.brief = nil
}

// release gives all locks back. Their files go while nobody else can take them; where that cannot be had they stay, and
// the agent takes them away.
func (h *holding) release() {
	defer h.letGo()
	for _, g := range h.shared[len(h.brief):] {
		if len(h.swept) == 0 {
			break
		}
		l, err := lock(context.Background(), h.fsys, g)
		if err != nil {
			h.swept = nil
			break
		}
		h.brief = append(h.brief, l)
	}
	for _, path := range h.swept {
		h.fsys.Remove(path)
	}
	for i := len(h.locks) - 1; i >= 0; i-- {
		h.locks[i].Unlock()
	}
	h.locks, h.swept = nil, nil
}

// lockWait is how long a lock is waited for that others hold for moments only.
const lockWait = 2 * time.Second

// lock takes an agent's lock.
func lock(ctx context.Context, fsys durable.FS, g format.Guard) (*durable.Lock, error) {
	if g.Make {
		if err := durable.MkdirAllSync(fsys, filepath.Dir(g.Path)); err != nil {
			return nil, err
		}
	}
	for until := time.Now().Add(lockWait); ; {
		l, err := durable.Flock(g.Path, g.Prefix)
		if !g.Wait || !errors.Is(err, durable.ErrLocked) || time.Now().After(until) {
			return l, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}
