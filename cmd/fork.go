package cmd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sessfix/sessfix/fork"
	"github.com/sessfix/sessfix/report"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

type forkOptions struct {
	at, id, output, worktree string
	before, close, list      bool
}

func (a *app) forkCmd() *cobra.Command {
	var o forkOptions
	c := &cobra.Command{
		Use:   "fork [--at PLACE] PATH",
		Short: "Make a session of its own that begins with part of another",
		Long: `Fork copies a session up to a place where nothing is open: no turn, no call without its result, no
compaction. The child gets an identity of its own, says whose child it is where its agent knows
such a thing, and lies where its agent finds it. It is proved to be clean before it is put there. The
parent is read and never written, and nothing that exists is written over.

PLACE is last (the last place where a cut is legal), turn:N, seq:N, line:N or id:ID. The cut stands
behind it, with --before in front of it. --list shows the places.

Only the session is branched: files that the agent changed stay as they are. --worktree DIR also
makes a git worktree of the session's working directory, at the commit that is checked out there now,
and the child works in it.`,
		Example: `  sessfix fork --list session.jsonl
  sessfix fork --at turn:3 session.jsonl
  sessfix fork --at line:40 --before --output /tmp/child session.jsonl
  sessfix fork --at last --close --worktree ../attempt session.jsonl`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return errors.New("name one session")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return a.fork(c.Context(), args[0], o) },
	}
	f := c.Flags()
	f.StringVar(&o.at, "at", fork.Last, "where to cut: last, turn:N, seq:N, line:N or id:ID")
	f.BoolVar(&o.before, "before", false, "cut in front of the place, not behind it")
	f.BoolVar(&o.close, "close", false, "end what is open at the place with records that say so, where that can be")
	f.BoolVarP(&o.list, "list", "l", false, "list the places, make nothing")
	f.StringVar(&o.id, "id", "", "the child's id (default: a new one)")
	f.StringVarP(&o.output, "output", "o", "", "put the child below this directory, not beside its parent")
	f.StringVar(&o.worktree, "worktree", "", "also make a git worktree here for the child to work in")
	return c
}

func (a *app) fork(ctx context.Context, path string, o forkOptions) error {
	if path == "-" {
		return errors.New("standard input cannot be forked: name a file")
	}
	place, err := fork.ParsePlace(o.at, o.before)
	if err != nil {
		return err
	}
	if o.id != "" && !fork.FitID(o.id) {
		return fmt.Errorf("%q cannot be an id: letters, digits, . _ and - only", o.id)
	}
	parts, found, err := a.one(ctx, path)
	if err != nil {
		return err
	}
	defer found.Close()
	out := &forked{Version: report.Version, Tool: tool(), Path: path, Agent: parts[0].Format.Name(), ID: parts[0].ID}
	if o.list {
		cuts, err := fork.List(ctx, parts)
		for _, c := range cuts {
			out.Places = append(out.Places, placeOf(c))
		}
		return a.forkDone(out, err)
	}
	opt := fork.Options{Place: place, Close: o.close, ID: o.id, Now: time.Now(), Random: rand.Reader, Output: o.output, Store: a.options()}
	if a.io.Now != nil {
		opt.Now = a.io.Now()
	}
	if a.io.Random != nil {
		opt.Random = a.io.Random
	}
	var tree *fork.Worktree
	if o.worktree != "" {
		cwd := ""
		for _, s := range parts {
			if cwd == "" {
				cwd = s.CWD
			}
		}
		for _, s := range parts { // some say it further down only
			if cwd != "" {
				break
			}
			if res, err := verify.File(ctx, s); err == nil {
				cwd = res.CWD
			}
		}
		if tree, err = fork.AddWorktree(ctx, cwd, o.worktree); err != nil {
			return err
		}
		opt.CWD = tree.CWD
	}
	child, err := fork.Make(ctx, parts, opt)
	if err != nil {
		if tree != nil {
			err = errors.Join(err, tree.Remove(context.WithoutCancel(ctx)))
		}
		return a.forkDone(out, err)
	}
	out.Child = &forkedChild{Path: child.Path, ID: child.ID, Files: child.Files, Records: child.Records, At: placeOf(child.Cut), Closers: child.Closers, Notes: child.Notes}
	if tree == nil {
		out.Child.Notes = append(out.Child.Notes, "only the session was branched: files that the agent changed stay as they are")
	} else {
		out.Child.Worktree = tree.Dir
		out.Child.Notes = append(out.Child.Notes, fmt.Sprintf("%s holds commit %s, and nothing that was not committed; files are not rewound to the place of the cut", tree.Dir, tree.Commit))
	}
	return a.forkDone(out, nil)
}

// one opens the session at a path, with all its parts.
func (a *app) one(ctx context.Context, path string) ([]store.Session, *store.Found, error) {
	found, err := store.Open(ctx, []string{path}, a.options())
	if err != nil {
		return nil, nil, err
	}
	groups := found.Groups()
	switch {
	case len(found.Troubles) > 0:
		err = found.Troubles[0]
	case len(groups) != 1:
		err = fmt.Errorf("%s holds %d sessions: name one of them", path, len(groups))
	}
	if err != nil {
		found.Close()
		return nil, nil, err
	}
	return groups[0], found, nil
}
