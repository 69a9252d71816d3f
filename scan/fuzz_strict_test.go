package scan

import (
	"bytes"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sessfix/sessfix/session"
)

func addSeeds(f *testing.F) {
	for _, s := range acceptedValues {
		f.Add([]byte(s))
	}
	for _, c := range refusedValues {
		f.Add([]byte(c.s))
	}
	f.Add([]byte(`{"a":{"b":[1,2,{"c":"\u0061"}],"d":"long enough to leave the first words é日🚀"},"a":[{"a":"x"}],"\u0061":7}`))
	f.Add([]byte(`[{"a":1,"b":[[1],[2,3]]},["x","y"],12345678901234,[7,8,9,10,11,12,13,14,15]]`))
}

var surrogateEscape = regexp.MustCompile(`\\u[dD][89a-fA-F]..`)

// FuzzStrict compares the verdict with that of jsontext, the fast scan with the careful one, and
// the tolerant one with both.
func FuzzStrict(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		m := everything(t)
		s := string(data)
		end, fault := judgeBoth(t, m, s)

		ok := fault.Cause == OK && skipSpace(data, end, len(data)) == len(data)
		if bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) < 10_000 {
			// jsontext refuses lone surrogates, which are legal.
			tame := surrogateEscape.ReplaceAllFunc(data, func(e []byte) []byte {
				if hexValue[e[4]]|hexValue[e[5]] < 0 {
					return e
				}
				return []byte(`\u0041`)
			})
			if want := jsontext.Value(tame).IsValid(jsontext.AllowDuplicateNames(true)); ok != want {
				t.Fatalf("%q: %d %v, jsontext says %v", data, end, fault, want)
			}
		}

		// Everything in front of a fault could still become a value.
		if fault.Cause == Truncated && fault.Off != len(data) {
			t.Fatalf("%q: %v", data, fault)
		}
		if fault.Cause > Truncated {
			if e, before := judgeBoth(t, m, s[:fault.Off]); before.Cause > Truncated {
				t.Fatalf("%q: %v, but its head %d %v", data, fault, e, before)
			}
		}

		buf, from, to := paddedText(s, "\n")
		m.Value(buf, from, to)
		caps := append([]session.Capture{}, m.Caps...)
		e, g := m.Tolerant(buf, from, to)
		if fault.Cause != Control && fault.Cause != BadUTF8 {
			if g.Cause != OK {
				g.Off -= from
			}
			if e-from != end || g != fault || len(m.Flaws) > 0 || !reflect.DeepEqual(caps, append([]session.Capture{}, m.Caps...)) {
				t.Fatalf("%q: %d %v %v, tolerant %d %v %v %v", data, end, fault, caps, e-from, g, m.Caps, m.Flaws)
			}
			return
		}
		if g.Cause == Control || g.Cause == BadUTF8 {
			t.Fatalf("%q: tolerant gives %v", data, g)
		}
		if len(m.Flaws) == 0 {
			// Only inside an escape does tolerance not reach a control byte.
			if g.Cause != Syntax || g.Off-from != fault.Off {
				t.Fatalf("%q: %v, tolerant gives %v", data, fault, g)
			}
			return
		}
		if w := m.Flaws[0]; w.Off-from != fault.Off || w.Cause != fault.Cause {
			t.Fatalf("%q: %v, first flaw %v", data, fault, w)
		}
		// With its flaws painted over, the text is what Tolerant said it is.
		caps = append(caps[:0], m.Caps...)
		dup := m.Dup
		last := from
		for _, w := range m.Flaws {
			if w.Off < last || w.Len < 1 {
				t.Fatalf("%q: flaws %v", data, m.Flaws)
			}
			last = w.Off + w.Len
			for x := w.Off; x < last; x++ {
				buf[x] = '~'
			}
		}
		e2, g2 := m.Value(buf, from, to)
		if e2 != e || g2 != g && g2.Cause != Control {
			t.Fatalf("%q: tolerant %d %v, painted %d %v", data, e, g, e2, g2)
		}
		// Painting may spell a captured key only if paint can.
		if m.Dup != dup || !reflect.DeepEqual(caps, append([]session.Capture{}, m.Caps...)) {
			t.Fatalf("%q: tolerant %v, painted %v", data, caps, m.Caps)
		}
	})
}

// FuzzCaptures compares captures with those found over the tokens of encoding/json.
func FuzzCaptures(f *testing.F) {
	addSeeds(f)
	sets := [][]string{
		{"a", "a.b", "a.b[]", "[]", "[].a", "[][]", "*", "a.*"},
		{"a.b.c", "a[].a", "[].b[][]", "a[].*"},
		{"a.a.a", "b"},
		{"type", "data", "data.turn", "data.dt", "data.dt[]", "data.texts", "*"},
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !utf8.Valid(data) || !json.Valid(data) || bytes.Count(data, []byte("\x00")) > 0 {
			return
		}
		buf, from, to := paddedText(string(data), "\n")
		for _, keys := range sets {
			m := mustMachine(t, keys...)
			if end, f := m.Value(buf, from, to); f.Cause != OK || skipSpace(buf, end, to) != to {
				t.Fatalf("%q: %d %v", data, end, f)
			}
			r := reader{dec: json.NewDecoder(bytes.NewReader(data)), data: data}
			r.dec.UseNumber()
			for _, k := range keys {
				r.keys = append(r.keys, strings.Split(strings.ReplaceAll(k, "[]", ".[]"), "."))
				if r.keys[len(r.keys)-1][0] == "" {
					r.keys[len(r.keys)-1] = r.keys[len(r.keys)-1][1:]
				}
			}
			want := r.value(nil)
			if got := append([]session.Capture{}, m.Caps...); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) || m.Dup != r.dup {
				t.Fatalf("%q of %q:\n got %+v %v\nwant %+v %v", keys, data, got, m.Dup, want, r.dup)
			}
		}
	})
}

// reader finds captures in the plainest way.
type reader struct {
	dec  *json.Decoder
	data []byte
	keys [][]string
	dup  bool
}

func (r *reader) token() (tok json.Token, off int) {
	off = int(r.dec.InputOffset())
	for strings.IndexByte(" \t\r\n,:", r.data[off]) >= 0 {
		off++
	}
	tok, err := r.dec.Token()
	if err != nil {
		panic(err)
	}
	return tok, off
}

func (r *reader) listed(path []string) int {
	for k, key := range r.keys {
		if reflect.DeepEqual(key, path) {
			return k
		}
	}
	return -1
}

func (r *reader) named(path []string) bool {
	for _, key := range r.keys {
		if len(key) >= len(path) && reflect.DeepEqual(key[:len(path)], path) {
			return true
		}
	}
	return false
}

func (r *reader) value(path []string) (caps []session.Capture) {
	tok, off := r.token()
	c := session.Capture{Off: uint32(off), Kind: r.data[off]}
	sub := func(part string) []string { return append(path[:len(path):len(path)], part) }
	switch tok {
	case json.Delim('['):
		for r.dec.More() {
			c.N++
			caps = append(caps, r.value(sub("[]"))...)
		}
		r.token()
	case json.Delim('{'):
		type member struct {
			name string
			caps []session.Capture
		}
		var members []member
		for r.dec.More() {
			c.N++
			tok, off := r.token()
			name := tok.(string)
			star := session.Capture{Off: uint32(off), Len: uint32(int(r.dec.InputOffset()) - off), Kind: '*'}
			star.Esc = bytes.IndexByte(r.data[off:off+int(star.Len)], '\\') >= 0
			// These names mean something else in a path.
			if name == "[]" || name == "*" {
				name = "\x00" + name
			}
			inner := r.value(sub(name))
			if !r.named(sub(name)) {
				inner = nil
				if k := r.listed(sub("*")); k >= 0 {
					star.Key = uint16(k)
					inner = []session.Capture{star}
				}
				name = ""
			} else {
				for x := range members {
					if members[x].name == name {
						r.dup = true
						members[x].caps = nil
					}
				}
			}
			members = append(members, member{name, inner})
		}
		for _, x := range members {
			caps = append(caps, x.caps...)
		}
		r.token()
	case nil, true, false:
	default:
		if c.Kind != '"' {
			c.Kind = '0'
		}
	}
	c.Len = uint32(int(r.dec.InputOffset()) - off)
	if c.Kind == '"' {
		c.Esc = bytes.IndexByte(r.data[off:off+int(c.Len)], '\\') >= 0
	}
	if k := r.listed(path); k >= 0 {
		c.Key = uint16(k)
		caps = append([]session.Capture{c}, caps...)
	}
	return caps
}
