package damage

import (
	"bytes"
	"math/rand/v2"
)

// Bend changes a few bytes of a line, or puts pieces into it where values stand.
func Bend(rnd *rand.Rand, line []byte, pieces []string) []byte {
	line = bytes.Clone(line)
	for range 1 + rnd.IntN(4) {
		if len(line) < 4 {
			break
		}
		i := rnd.IntN(len(line))
		switch rnd.IntN(4) {
		case 0:
			line[i] = byte(rnd.IntN(256))
		case 1:
			line = append(line[:i:i], line[min(i+1+rnd.IntN(8), len(line)):]...)
		default:
			p := pieces[rnd.IntN(len(pieces))]
			if k := bytes.IndexAny(line[i:], ":,[{"); k >= 0 {
				i += k + 1
			}
			line = append(line[:i:i], append([]byte(p), line[i:]...)...)
		}
	}
	return line
}
