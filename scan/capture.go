package scan

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
)

// node is one place in the tree of key paths. A place is open at most once at any
// moment of a scan, so what is known of the open object can live here.
type node struct {
	key   int32 // index of the path that ends here, or -1
	star  int32 // index of the path that ends in "*" below here, or -1
	elem  *node // each element of the array found here
	kids  []*slot
	table []slot // kids by hash; a slot with n < 0 is empty
	mul   uint64
	shift uint8
	epoch uint64 // one more for each object that opens here
}

// slot is a named member of the object at a node.
type slot struct {
	word   uint64 // the first 8 bytes of the name, zero behind its end
	epoch  uint64 // of the object that had this member last; equal to the node's: seen before
	node   *node
	name   string
	n      int32 // length of the name
	next   int32 // another slot with the same hash, or -1
	lo, hi int32 // captures of the member's last value; kept by the careful scan only
}

// compileKeys turns key paths into a tree.
func compileKeys(keys []string) (*node, error) {
	if len(keys) > 1<<16 {
		return nil, fmt.Errorf("scan: %d key paths are too many", len(keys))
	}
	root := newNode()
	for k, path := range keys {
		if err := root.add(path, int32(k)); err != nil {
			return nil, err
		}
	}
	root.finish()
	return root, nil
}

func newNode() *node { return &node{key: -1, star: -1} }

func (nd *node) add(path string, key int32) error {
	bad := func(why string) error { return fmt.Errorf("scan: key path %.80q: %s", path, why) }
	parts := strings.Split(path, ".")
	for x, part := range parts {
		if part == "*" {
			if x != len(parts)-1 {
				return bad(`"*" is not the last part`)
			}
			if nd.star >= 0 {
				return bad("listed twice")
			}
			nd.star = key
			return nil
		}
		name := part
		for strings.HasSuffix(name, "[]") {
			name = name[:len(name)-2]
		}
		if strings.ContainsAny(name, "[]") {
			return bad("stray bracket")
		}
		if name == "*" {
			return bad(`"*" cannot have elements`)
		}
		// A bare "[]" means the elements of the record itself, so it can only come first.
		if name == "" && (x > 0 || part == "") {
			return bad("empty part")
		}
		if name != "" {
			nd = nd.kid(name)
		}
		for range (len(part) - len(name)) / 2 {
			if nd.elem == nil {
				nd.elem = newNode()
			}
			nd = nd.elem
		}
	}
	if nd.key >= 0 {
		return bad("listed twice")
	}
	nd.key = key
	return nil
}

func (nd *node) kid(name string) *node {
	for _, s := range nd.kids {
		if s.name == name {
			return s.node
		}
	}
	var head [8]byte
	copy(head[:], name)
	s := &slot{word: binary.LittleEndian.Uint64(head[:]), n: int32(len(name)), name: name, node: newNode()}
	nd.kids = append(nd.kids, s)
	return s.node
}

// finish builds the hash tables. It looks for a multiplier without collisions; names of one
// length that begin with the same 8 bytes always collide, which next takes care of.
func (nd *node) finish() {
	if nd.elem != nil {
		nd.elem.finish()
	}
	for _, s := range nd.kids {
		s.node.finish()
	}
	size := max(2, 1<<bits.Len(uint(len(nd.kids))))
	nd.shift = uint8(64 - bits.Len(uint(size)-1))
	best := len(nd.kids) + 1
	seed := uint64(0x9E3779B97F4A7C15)
	used := make([]bool, size)
	for range 200 {
		clear(used)
		clash := 0
		for _, s := range nd.kids {
			h := hashKey(s.word, int(s.n), seed, nd.shift)
			if used[h] {
				clash++
			}
			used[h] = true
		}
		if clash < best {
			best, nd.mul = clash, seed
		}
		if best == 0 {
			break
		}
		seed = seed*6364136223846793005 + 1442695040888963407 | 1
	}
	nd.table = make([]slot, size, size+len(nd.kids))
	for x := range nd.table {
		nd.table[x].n, nd.table[x].next = -1, -1
	}
	for _, s := range nd.kids {
		h := hashKey(s.word, int(s.n), nd.mul, nd.shift)
		s.next = -1
		if nd.table[h].n >= 0 {
			s.next = nd.table[h].next
			nd.table[h].next = int32(len(nd.table))
			nd.table = append(nd.table, *s)
			continue
		}
		nd.table[h] = *s
	}
}

func hashKey(word uint64, n int, mul uint64, shift uint8) uint64 {
	return (word ^ uint64(n)) * mul >> (shift & 63)
}

// find looks for the member named buf[p:q]; 8 bytes from p on must be readable.
func (nd *node) find(buf []byte, p, q int) *slot {
	n := q - p
	w := binary.LittleEndian.Uint64(buf[p:])
	if n < 8 {
		w &= 1<<(uint(n)*8&63) - 1
	}
	s := &nd.table[hashKey(w, n, nd.mul, nd.shift)]
	for {
		if s.word == w && int(s.n) == n && (n <= 8 || string(buf[p+8:q]) == s.name[8:]) {
			return s
		}
		if s.next < 0 {
			return nil
		}
		s = &nd.table[s.next]
	}
}
