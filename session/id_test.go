package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/session"
)

func TestTreeMakeID(t *testing.T) {
	const uuid = "0123abcd-4567-89ab-cdef-0123456789ab"
	if got := session.MakeID([]byte(uuid)); got != (session.ID{Hi: 0x0123abcd456789ab, Lo: 0xcdef0123456789ab}) {
		t.Errorf("a UUID is %x", got)
	}
	if session.MakeID(nil) != (session.ID{}) || session.MakeID([]byte{}) != (session.ID{}) {
		t.Error("no text has an id")
	}
	// Each of these is an id of its own, and none is the zero one.
	texts := []string{
		uuid, strings.ToUpper(uuid), strings.Replace(uuid, "a", "A", 1), strings.ReplaceAll(uuid, "-", ""), "{" + uuid + "}", uuid + " ", uuid[1:],
		strings.ReplaceAll(uuid, "-", "0"), strings.Replace(uuid, "-", "_", 1), strings.Replace(uuid, "0", "g", 1), strings.Replace(uuid, "3a", "-3", 1),
		"00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001", "ffffffff-ffff-ffff-ffff-ffffffffffff",
		strings.Repeat("-", 36), strings.Repeat("0", 36), "0", "a", "A", " ", "\x00", "\\u0061", "é", "\xff",
	}
	for i := range 10_000 {
		texts = append(texts, fmt.Sprint("toolu_", i), fmt.Sprintf("%08x-0000-4000-8000-%012x", i, i))
	}
	seen := map[session.ID]string{}
	for _, s := range texts {
		id := session.MakeID([]byte(s))
		if id == (session.ID{}) {
			t.Errorf("%q has no id", s)
		}
		if other, ok := seen[id]; ok {
			t.Errorf("%q and %q have one id", s, other)
		}
		seen[id] = s
		if id != session.MakeID([]byte(s)) {
			t.Errorf("%q has two ids", s)
		}
	}
}

// Of an id that is no UUID one bit is always set, so that a hash is never taken for none.
func TestTreeHashedID(t *testing.T) {
	for i := range 1000 {
		if id := session.MakeID(fmt.Append(nil, "x", i)); id.Hi&1 == 0 {
			t.Fatalf("x%d is %x", i, id)
		}
	}
}

func FuzzTreeMakeID(f *testing.F) {
	f.Add([]byte("0123abcd-4567-89ab-cdef-0123456789ab"), []byte("0123ABCD-4567-89ab-cdef-0123456789ab"))
	f.Add([]byte("a"), []byte(""))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		x, y := session.MakeID(a), session.MakeID(b)
		if (x == session.ID{}) != (len(a) == 0) || (x == y) != (string(a) == string(b)) {
			t.Errorf("%q is %x, %q is %x", a, x, b, y)
		}
	})
}
