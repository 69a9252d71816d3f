package dsh

import (
	"bytes"
	"math"
	"strconv"
)

// maxSafe is the largest integer that the client holds exactly.
const maxSafe = 1<<53 - 1

// integer reads a JSON number that is a safe integer and not -0. 3.0 and 3e0 are integers, as
// they are for the client.
func integer(raw []byte) (int64, bool) {
	if len(raw) == 0 || len(raw) > 400 {
		return 0, false
	}
	neg, digits := false, raw
	if raw[0] == '-' {
		neg, digits = true, raw[1:]
	}
	var v int64
	if len(digits) <= 16 {
		for i, c := range digits {
			if c < '0' || c > '9' {
				if i == 0 {
					return 0, false
				}
				return fractional(raw)
			}
			v = v*10 + int64(c-'0')
		}
	} else {
		return fractional(raw)
	}
	if v > maxSafe || neg && v == 0 {
		return 0, false
	}
	if neg {
		v = -v
	}
	return v, true
}

func fractional(raw []byte) (int64, bool) {
	if bytes.ContainsAny(raw, `"{[tfn`) {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || x != math.Trunc(x) || math.Abs(x) > maxSafe || x == 0 && math.Signbit(x) {
		return 0, false
	}
	return int64(x), true
}

// seqList reads a list of numbers; ranges, where allowed, are pairs [first,last]. Each number
// must be below limit and, rising or not, stand once; a range may not be longer than the log.
// It appends them to dst.
func seqList(dst []int64, raw []byte, ranges bool, limit, length int64) ([]int64, string) {
	begin := len(dst)
	inner := bytes.TrimSpace(raw[1 : len(raw)-1])
	rising := true
	for len(inner) > 0 {
		var item []byte
		if inner[0] == '[' {
			end := bytes.IndexByte(inner, ']')
			if !ranges || end < 0 {
				return dst, "sourceEventSeqs must be a plain list of numbers"
			}
			item, inner = inner[:end+1], bytes.TrimLeft(inner[end+1:], " \t\r\n,")
			pair, bad := seqList(nil, item, false, limit, length)
			if bad != "" || len(pair) != 2 || pair[0] >= pair[1] || pair[1]-pair[0] > length {
				return dst, "sourceEventSeqs holds a range that is none"
			}
			for v := pair[0]; v <= pair[1]; v++ {
				rising = rising && (len(dst) == begin || v > dst[len(dst)-1])
				dst = append(dst, v)
			}
			continue
		}
		if end := bytes.IndexByte(inner, ','); end >= 0 {
			item, inner = inner[:end], bytes.TrimLeft(inner[end+1:], " \t\r\n")
		} else {
			item, inner = inner, nil
		}
		v, ok := integer(bytes.TrimSpace(item))
		if !ok || v < 0 {
			return dst, "sourceEventSeqs holds something that is no record number"
		}
		if v >= limit {
			return dst, "sourceEventSeqs names a record that is not earlier: " + strconv.FormatInt(v, 10)
		}
		rising = rising && (len(dst) == begin || v > dst[len(dst)-1])
		dst = append(dst, v)
	}
	if !rising && repeats(dst[begin:]) {
		return dst, "sourceEventSeqs names a record twice"
	}
	return dst, ""
}

func repeats(list []int64) bool {
	seen := make(map[int64]bool, len(list))
	for _, v := range list {
		if seen[v] {
			return true
		}
		seen[v] = true
	}
	return false
}
