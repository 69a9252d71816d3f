package fork

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// read finds the sessions below a directory.
func read(ctx context.Context, dir string, o store.Options) (*store.Found, error) {
	found, err := store.Open(ctx, []string{dir}, o)
	if err != nil {
		return nil, err
	}
	if len(found.Troubles) > 0 {
		found.Close()
		return nil, format.Refuse(-1, "the child cannot be read: %v", found.Troubles[0].Err)
	}
	return found, nil
}

// closeAt ends in a copy what is open in the child, as a repair does. There is no copy where the format has ended it itself.
func closeAt(ctx context.Context, dir, to string, o store.Options) ([]repair.Closer, error) {
	found, err := read(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var closers []repair.Closer
	for _, g := range found.Groups() {
		ro := repair.Options{Output: filepath.Join(to, g[0].Rel), Env: o.Env}
		if g[0].Folder() != "" {
			ro.Output = filepath.Dir(ro.Output)
		}
		outs, err := repair.All(ctx, g, ro)
		if err != nil {
			return nil, err
		}
		for _, out := range outs {
			if out.Before == nil || out.Before.Verdict == verify.Refused {
				return nil, format.Refuse(-1, "what is open there cannot be closed")
			}
			closers = append(closers, out.Closers...)
		}
	}
	return closers, nil
}

// prove reads the child as its client would, and as verify does.
func prove(ctx context.Context, c *Child, dir, root string, o store.Options) error {
	found, err := read(ctx, dir, o)
	if err != nil {
		return err
	}
	defer found.Close()
	groups := found.Groups()
	if len(groups) != 1 {
		return fmt.Errorf("the child would be %d sessions", len(groups))
	}
	for _, s := range groups[0] {
		res, err := verify.File(ctx, s)
		if err != nil {
			return err
		}
		for i := range res.Findings {
			if f := &res.Findings[i]; f.Damage() {
				return format.Refuse(-1, "the child would have %s at %d of %s: %s", f.Code, f.Off, filepath.Base(s.Path), f.Message)
			}
		}
		if s.Part().Role == format.Primary && c.Records == 0 {
			c.Records = res.Records
		}
	}
	at, rel := groups[0][0].Path, ""
	if folder := groups[0][0].Folder(); folder != "" {
		at = folder
	}
	if rel, err = filepath.Rel(dir, at); err != nil {
		return err
	}
	c.Path = filepath.Join(root, rel)
	return nil
}
