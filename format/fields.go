package format

import "github.com/sessfix/sessfix/session"

// Fields are a record's captures by key, for up to 64 keys that a record names once; of one that it names twice the last.
type Fields struct {
	Raw  []byte
	have uint64
	caps [64]session.Capture
}

// Reset begins another record.
func (f *Fields) Reset(raw []byte) { f.Raw, f.have = raw, 0 }

// Put notes a capture.
func (f *Fields) Put(c session.Capture) {
	f.have |= 1 << c.Key
	f.caps[c.Key] = c
}

// Has tells whether the record has a key.
func (f *Fields) Has(key int) bool { return f.have>>key&1 == 1 }

// At is the capture of a key, the zero one where the record has none.
func (f *Fields) At(key int) session.Capture {
	if !f.Has(key) {
		return session.Capture{}
	}
	return f.caps[key]
}

// Kind is the first byte of the value, '0' for a number, ' ' where the key is absent.
func (f *Fields) Kind(key int) byte {
	if !f.Has(key) {
		return ' '
	}
	return f.caps[key].Kind
}

// True tells whether the value is true.
func (f *Fields) True(key int) bool { return f.Kind(key) == 't' && f.caps[key].Len == 4 }

// Value is the text of a value, nil where there is none.
func (f *Fields) Value(key int) []byte {
	if !f.Has(key) {
		return nil
	}
	return f.Of(f.caps[key])
}

// Of is the text of a capture.
func (f *Fields) Of(c session.Capture) []byte { return f.Raw[c.Off : c.Off+c.Len] }

// Str is the inside of a string, nil where the key is absent or no string.
func (f *Fields) Str(key int) []byte { return f.Inside(f.At(key)) }

// Inside is the inside of a captured string, nil for anything else.
func (f *Fields) Inside(c session.Capture) []byte {
	if c.Kind != '"' {
		return nil
	}
	return f.Raw[c.Off+1 : c.Off+c.Len-1]
}

// Sub is where the inside of a string stands.
func (f *Fields) Sub(key int) session.Sub { return f.At(key).Sub() }
