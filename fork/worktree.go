package fork

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Worktree is a git worktree that a child works in.
type Worktree struct {
	// Dir is the worktree, and CWD the place in it that the session's working directory has in its repository.
	Dir, CWD string
	// Commit is what it holds.
	Commit string
	repo   string
}

// AddWorktree makes a worktree of the repository that cwd lies in, at the commit that is checked out there. dir must not exist, or
// be empty. Nothing that cwd holds is changed.
func AddWorktree(ctx context.Context, cwd, dir string) (*Worktree, error) {
	if cwd == "" {
		return nil, errors.New("--worktree: the session does not say in which directory it works")
	}
	if fi, err := os.Stat(cwd); err != nil || !fi.IsDir() {
		return nil, fmt.Errorf("--worktree: the session's working directory %s is not there", cwd)
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	top, err := git(ctx, cwd, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("--worktree: %s: %w", cwd, err)
	}
	commit, err := git(ctx, cwd, "rev-parse", "--verify", "HEAD")
	if err != nil {
		return nil, fmt.Errorf("--worktree: %s: %w", cwd, err)
	}
	below, err := git(ctx, cwd, "rev-parse", "--show-prefix")
	if err != nil {
		return nil, fmt.Errorf("--worktree: %s: %w", cwd, err)
	}
	if _, err := git(ctx, cwd, "worktree", "add", "--quiet", "--detach", abs, commit); err != nil {
		return nil, fmt.Errorf("--worktree: %w", err)
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil {
		abs = real
	}
	return &Worktree{Dir: abs, CWD: filepath.Join(abs, filepath.FromSlash(below)), Commit: commit, repo: top}, nil
}

// Remove takes the worktree away again.
func (w *Worktree) Remove(ctx context.Context) error {
	if _, err := git(ctx, w.repo, "worktree", "remove", "--force", w.Dir); err != nil {
		return fmt.Errorf("take the worktree %s away: %w", w.Dir, err)
	}
	return nil
}

// git runs git in a directory and gives the line that it prints.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	var out, complaint bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaint
	// What the environment says of a repository is about another one.
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "GIT_") {
			c.Env = append(c.Env, v)
		}
	}
	if err := c.Run(); err != nil {
		if text := strings.TrimSpace(complaint.String()); text != "" {
			return "", fmt.Errorf("git: %s", strings.TrimPrefix(text, "fatal: "))
		}
		return "", fmt.Errorf("git: %w", err)
	}
	return strings.TrimRight(out.String(), "\n"), nil
}
