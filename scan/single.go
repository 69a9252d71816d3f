package scan

import (
	"errors"
	"sync"

	"github.com/sessfix/sessfix/session"
)

// ErrNoRecord says that bytes are no whole record.
var ErrNoRecord = errors.New("no whole record")

// Single takes single records apart, with the same keys each time.
type Single struct {
	// machines are used again: to make one costs more than to scan a record with it.
	machines sync.Pool
}

// NewSingle makes one for constant keys; it panics where they are faulty.
func NewSingle(keys []string) *Single {
	return &Single{machines: sync.Pool{New: func() any {
		m, err := NewMachine(keys)
		if err != nil {
			panic(err)
		}
		return m
	}}}
}

// Take gives a copy of a record and its captures. It may hold bytes in strings that no strict parser takes; ok is false
// where it is broken otherwise.
func (s *Single) Take(raw []byte) (record []byte, caps []session.Capture, ok bool) {
	m := s.machines.Get().(*Machine)
	defer s.machines.Put(m)
	buf := append(append(make([]byte, 0, len(raw)+Pad), raw...), make([]byte, Pad)...)
	_, f := m.Tolerant(buf, 0, len(raw))
	return buf[:len(raw)], append([]session.Capture(nil), m.Caps...), f.Cause == OK && len(raw) > 0
}
