package repair

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime"
	"sort"
	"strconv"
	"strings"

	"github.com/sessfix/sessfix/durable"
	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/finding"
)

// The ways of publishing.
const (
	ModeAppend  = "append"
	ModeReplace = "replace"
	ModeCreate  = "create" // there was no file
	ModeRemove  = "remove" // there is no file any more
)

// Closer is a synthetic record as receipts and reports name it.
type Closer struct {
	Code   string `json:"code,omitempty"`
	CallID string `json:"callId,omitempty"`
	Kind   string `json:"kind"`
	Place  string `json:"place"`
}

// Case is what a repair is about to do, or did: enough to finish or undo it, and to check with
// other tools that every byte is accounted for.
type Case struct {
	Version int            `json:"version"`
	Agent   string         `json:"agent"`
	Session string         `json:"session"`
	Path    string         `json:"path"`
	Mode    string         `json:"mode"`
	Size    [2]int64       `json:"size"`   // before, after
	SHA256  [2]string      `json:"sha256"` // before, after
	Account edit.Account   `json:"account"`
	Removed []edit.Removed `json:"removed,omitempty"`
	Files   []string       `json:"files,omitempty"` // of Removed, in quarantine/
	Closers []Closer       `json:"closers,omitempty"`
	Cures   []finding.Code `json:"cures"`
	// KeepTime: the file keeps the time at which its agent last wrote it.
	KeepTime bool `json:"keepTime,omitempty"`
	// Folder is that of a session of several files, and Run counts its repairs: undo takes back what one of them did.
	Folder string `json:"folder,omitempty"`
	Run    int    `json:"run,omitempty"`
	// Row is the id of a session that lies in a database, and Stamps are what its client tells writes by, before and after.
	Row    string     `json:"row,omitempty"`
	Stamps *[2]string `json:"stamps,omitempty"`

	keep func(w io.Writer) error // gives the original, where it is no file
}

const caseVersion = 1

// DefaultCaseDir is where sessfix keeps its cases: $SESSFIX_CASE_DIR, else the system's place for
// state.
func DefaultCaseDir(env func(string) string) (string, error) {
	if d := env("SESSFIX_CASE_DIR"); d != "" {
		return d, nil
	}
	if runtime.GOOS == "windows" {
		if d := env("LOCALAPPDATA"); d != "" {
			return filepath.Join(d, "sessfix", "cases"), nil
		}
	}
	if d := env("XDG_STATE_HOME"); d != "" {
		return filepath.Join(d, "sessfix", "cases"), nil
	}
	home := env("HOME")
	if home == "" {
		home = env("USERPROFILE")
	}
	if home == "" {
		return "", errors.New("no home directory: name a place for originals with --case-dir")
	}
	return filepath.Join(home, ".local", "state", "sessfix", "cases"), nil
}

// caseHome is the directory of all cases of one file.
func caseHome(caseDir, path string) string {
	sum := sha256.Sum256([]byte(path))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, filepath.Base(path))
	return filepath.Join(caseDir, name[:min(len(name), 80)]+"-"+hex.EncodeToString(sum[:6]))
}

// realPath is the path under which a file's cases are kept: absolute, links resolved.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if r, err := filepath.EvalSymlinks(abs); err == nil {
		return r, nil
	}
	return abs, nil
}

// stored is a case on disk.
type stored struct {
	Case
	dir           string
	done, settled bool // a receipt was written; it was undone or given up
}

// cases lists a file's cases, oldest first.
func cases(fsys durable.FS, home string) ([]stored, error) {
	entries, err := fsys.ReadDir(home)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []stored
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil || !e.IsDir() {
			continue
		}
		s, err := readCase(fsys, filepath.Join(home, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // killed before its intent was written: nothing was done
		}
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].dir < out[j].dir })
	return out, nil
}

func readCase(fsys durable.FS, dir string) (stored, error) {
	s := stored{dir: dir}
	data, err := fsys.ReadFile(filepath.Join(dir, "case.json"))
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(data, &s.Case); err != nil {
		return s, fmt.Errorf("read %s: %w", filepath.Join(dir, "case.json"), err)
	}
	if s.Case.Version != caseVersion {
		return s, fmt.Errorf("%s: version %d of the case is not known", dir, s.Case.Version)
	}
	_, err = fsys.Stat(filepath.Join(dir, "receipt.json"))
	s.done = err == nil
	_, err = fsys.Stat(filepath.Join(dir, "undone.json"))
	s.settled = err == nil
	return s, nil
}

// Pending tells whether an earlier repair of the file was interrupted.
func Pending(fsys durable.FS, caseDir, path string) (string, bool) {
	if caseDir == "" {
		return "", false
	}
	at, err := casePath(path)
	if err != nil {
		return "", false
	}
	list, err := cases(fsys, caseHome(caseDir, at))
	if err != nil || len(list) == 0 {
		return "", false
	}
	last := list[len(list)-1]
	return last.dir, !last.done && !last.settled
}

// openCase makes the folder of a new case and writes into it all that undo or another run needs.
func openCase(fsys durable.FS, caseDir string, c Case, src io.ReaderAt, appendix []byte) (string, error) {
	home := caseHome(caseDir, c.Path)
	list, err := fsys.ReadDir(home)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	n := 1
	for _, e := range list {
		if v, err := strconv.Atoi(e.Name()); err == nil && v >= n {
			n = v + 1
		}
	}
	dir := filepath.Join(home, fmt.Sprintf("%04d", n))
	if err := durable.MkdirAllSync(fsys, filepath.Join(dir, "quarantine")); err != nil {
		return "", err
	}
	if c.keep != nil {
		if err := durable.WriteNew(fsys, filepath.Join(dir, "original"), c.keep); err != nil {
			return "", fmt.Errorf("keep the original: %w", err)
		}
	}
	if c.Mode == ModeReplace || c.Mode == ModeRemove {
		err := durable.WriteNew(fsys, filepath.Join(dir, "original"), func(w io.Writer) error {
			_, err := io.Copy(w, io.NewSectionReader(src, 0, c.Size[0]))
			return err
		})
		if err != nil {
			return "", fmt.Errorf("keep the original: %w", err)
		}
	}
	if c.Mode == ModeAppend {
		err := durable.WriteNew(fsys, filepath.Join(dir, "appendix"), func(w io.Writer) error {
			_, err := w.Write(appendix)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	for i, m := range c.Removed {
		if m.Len == 0 && len(m.Data) == 0 {
			c.Files = append(c.Files, "")
			continue
		}
		name := fmt.Sprintf("%04d-at-%d.bin", i+1, m.Off)
		err := durable.WriteNew(fsys, filepath.Join(dir, "quarantine", name), func(w io.Writer) error {
			if m.Data != nil {
				_, err := w.Write(m.Data)
				return err
			}
			_, err := io.Copy(w, io.NewSectionReader(src, m.Off, m.Len))
			return err
		})
		if err != nil {
			return "", fmt.Errorf("keep the bytes at %d: %w", m.Off, err)
		}
		c.Files = append(c.Files, name)
	}
	return dir, writeState(fsys, filepath.Join(dir, "case.json"), c)
}

func writeState(fsys durable.FS, name string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return err
	}
	return durable.WriteState(fsys, name, append(data, '\n'))
}

// mark writes the last word on a case. What it says was done already, so that a directory that
// cannot be synced does not make it untrue: another run would find the same.
func mark(fsys durable.FS, dir, name string, c Case) error {
	err := writeState(fsys, filepath.Join(dir, name), c)
	if errors.Is(err, durable.ErrUnsynced) {
		return nil
	}
	return err
}

// hashOf is the SHA-256 of the first n bytes of r, in hex.
func hashOf(r io.ReaderAt, n int64) (string, error) {
	h := sha256.New()
	got, err := io.Copy(h, io.NewSectionReader(r, 0, n))
	if err != nil {
		return "", err
	}
	if got != n {
		return "", io.ErrUnexpectedEOF
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// fileHash is the size and hash of a file.
func fileHash(fsys durable.FS, path string) (int64, string, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return 0, "", err
	}
	h, err := hashOf(f, fi.Size())
	return fi.Size(), h, err
}

// lastRun is the highest number of a repair that the files of a folder had.
func lastRun(fsys durable.FS, caseDir string, paths []string) (int, error) {
	run := 0
	for _, p := range paths {
		path, err := realPath(p)
		if err != nil {
			return 0, err
		}
		list, err := cases(fsys, caseHome(caseDir, path))
		if err != nil {
			return 0, fmt.Errorf("%s: read its earlier repairs: %w", p, err)
		}
		for _, c := range list {
			run = max(run, c.Run)
		}
	}
	return run, nil
}
