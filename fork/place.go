package fork

import (
	"fmt"
	"strconv"
	"strings"
)

// The ways to name a place.
const (
	Last = "last"
	Turn = "turn"
	Seq  = "seq"
	Line = "line"
	ID   = "id"
)

// Place names the record that a cut stands behind, or in front of.
type Place struct {
	By     string
	N      int64
	ID     string
	Before bool
}

// ParsePlace reads last, turn:N, seq:N, line:N or id:ID.
func ParsePlace(text string, before bool) (Place, error) {
	by, value, _ := strings.Cut(text, ":")
	p := Place{By: by, Before: before}
	switch by {
	case Last:
		if text != Last {
			return p, fmt.Errorf("%q is no place: last takes no number", text)
		}
		return p, nil
	case ID:
		if p.ID = value; value == "" {
			return p, fmt.Errorf("%q is no place: id: needs an id", text)
		}
		return p, nil
	case Turn, Seq, Line:
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 || n == 0 && by == Line {
			return p, fmt.Errorf("%q is no place: %s: needs a number", text, by)
		}
		p.N = n
		return p, nil
	}
	return p, fmt.Errorf("%q is no place: last, turn:N, seq:N, line:N or id:ID", text)
}

// String is the place as it was given.
func (p Place) String() string {
	switch p.By {
	case Last:
		return p.By
	case ID:
		return p.By + ":" + p.ID
	}
	return p.By + ":" + strconv.FormatInt(p.N, 10)
}

// FitID tells whether an id can be the name of a file.
func FitID(id string) bool {
	if len(id) > 200 || id == "" || id[0] == '.' || id[0] == '-' {
		return false
	}
	for _, c := range id {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}
