package format

import (
	"strconv"
	"strings"
)

// RankOf makes a number of a client's release that sorts as releases do: 2.1.81 is 2001081, and 0.142.3 is 142003.
func RankOf(release string) (rank int, ok bool) {
	parts := strings.Split(release, ".")
	if len(parts) != 3 {
		return 0, false
	}
	for i, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || v < 0 || v > 9999 || i > 0 && v > 999 {
			return 0, false
		}
		rank = rank*1000 + v
	}
	return rank, true
}
