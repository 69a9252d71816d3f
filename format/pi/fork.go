package pi

import (
	"encoding/binary"
	"encoding/hex"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sessfix/sessfix/format"
)

// NewID is a UUID of version 7, as the client has them since 0.67.1: 48 bits of time in Unix ms, then chance.
func (Format) NewID(now time.Time, random io.Reader) (string, error) { return NewID(now, random) }

// NewID is the identity of a new session, of this client and of those built on it.
func NewID(now time.Time, random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[6:]); err != nil {
		return "", err
	}
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(now.UnixMilli()))
	copy(b[:6], ms[2:])
	b[6] = b[6]&0x0f | 0x70
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:], nil
}

// Forks tells what is not forked.
func (Format) Forks(d format.Dialect) error { return Forks(d) }

// Forks is for this client, and for those built on it: of older versions, and of AgentHarness, a session of the newest version is to be
// made first.
func Forks(d format.Dialect) error {
	if _, ok := d.(dialect); !ok {
		return format.Refuse(-1, "a session of AgentHarness, which the library that wrote it forks; or make a session of pi of it first: sessfix migrate --to %d", newest)
	}
	if v := d.Version(); v != strconv.Itoa(newest) {
		return format.Refuse(-1, "the session is of version %s: bring it to version %d first, with sessfix migrate", v, newest)
	}
	return nil
}

// Fork makes of the way from the root to the cut a session, as the client's own fork and clone do (1.6.0): beside the parent, or where the
// sessions of another working directory lie.
func (Format) Fork(q format.ForkRequest) (format.Child, error) {
	b, err := NewBranch(q)
	if err != nil {
		return format.Child{}, err
	}
	if q.Dir != nil {
		// The time in front makes another name of the same id.
		if names, err := fs.Glob(q.Dir, "*_*.jsonl"); err == nil && slices.ContainsFunc(names, func(n string) bool { return named(n) == q.ID }) {
			return format.Child{}, format.Refuse(-1, "a session with the id %q lies there already", q.ID)
		}
	}
	name := strings.NewReplacer(":", "-", ".", "-").Replace(stamp(q.Now)) + "_" + q.ID + ".jsonl"
	c := format.Child{Root: filepath.Dir(b.path), Notes: b.Notes()}
	if dir := filepath.Dir(b.path); filepath.Base(filepath.Dir(dir)) == "sessions" && strings.HasPrefix(filepath.Base(dir), "--") {
		folder := filepath.Base(dir)
		if q.CWD != "" {
			folder = folderOf(q.CWD)
		}
		c.Root, name = filepath.Dir(dir), folder+"/"+name
	}
	c.Files = []format.NewFile{{Name: name, Write: b.Write}}
	return c, nil
}

// stamp is a time as the client writes it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// ids are those that the client takes for a session (--session-id).
var ids = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$`)

var (
	_ format.Forker    = Format{}
	_ format.Selective = Format{}
)
