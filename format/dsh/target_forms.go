package dsh

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// admitted compares with values as the table writes them: "#" stands in front of what is no text.
func admitted(v any, values []string) bool {
	for _, want := range values {
		lit, other := strings.CutPrefix(want, "#")
		switch v := v.(type) {
		case string:
			if !other && v == want {
				return true
			}
		case bool:
			if other && strconv.FormatBool(v) == lit {
				return true
			}
		case json.Number:
			if n, ok := whole(v); other && ok && strconv.FormatInt(n, 10) == lit {
				return true
			}
		}
	}
	return false
}

// value checks a value against a form.
func (p payload) value(form string, v any, where string) string {
	if inner, ok := strings.CutPrefix(form, "["); ok {
		return p.list(inner, v, where)
	}
	if form[0] == '@' {
		return p.record(form, v, where)
	}
	if want := scalar(form, v, p.seq); want != "" {
		return at(where, "is "+want)
	}
	return ""
}

// list checks a list; behind the bracket stands "+" for one or more elements, "1" for exactly one.
func (p payload) list(form string, v any, where string) string {
	form, many, _ := strings.Cut(form, "]")
	list, ok := v.([]any)
	switch {
	case !ok:
		return at(where, "is no list")
	case many == "+" && len(list) == 0:
		return at(where, "is empty")
	case many == "1" && len(list) != 1:
		return at(where, "does not hold exactly one element")
	}
	for i, e := range list {
		if problem := p.value(form, e, where+"["+strconv.Itoa(i)+"]"); problem != "" {
			return problem
		}
	}
	if form == "earlier" {
		seen := make([]int64, len(list))
		for i, e := range list {
			seen[i], _ = whole(e)
		}
		if repeats(seen) {
			return at(where, "names a record twice")
		}
	}
	return ""
}

// scalar says what a value should not be, "" where it has the form.
func scalar(form string, v any, seq int64) string {
	n, isWhole := whole(v)
	switch form {
	case "any":
		return ""
	case "object":
		return unless(isObject(v), "no object")
	case "string":
		_, ok := v.(string)
		return unless(ok, "no text")
	case "text", "trimmed":
		s, ok := v.(string)
		if form == "trimmed" && ok && s != strings.TrimFunc(s, jsSpace) {
			return "surrounded by space"
		}
		return unless(ok && s != "", "no text or empty")
	case "bool":
		_, ok := v.(bool)
		return unless(ok, "neither true nor false")
	case "integer":
		return unless(isWhole, "no whole number")
	case "count":
		return unless(isWhole && n >= 0, "no count")
	case "count|null":
		return unless(v == nil || isWhole && n >= 0, "neither a count nor null")
	case "positive":
		return unless(isWhole && n > 0, "no count above 0")
	case "earlier":
		return unless(isWhole && n >= 0 && n < seq, "not the number of an earlier record")
	case "status":
		return unless(isWhole && n >= 100 && n <= 599, "no status between 100 and 599")
	case "instant":
		s, ok := v.(string)
		return unless(ok && instant(s), "no UTC instant with milliseconds")
	}
	x, ok := finite(v)
	switch form {
	case "number":
		return unless(ok, "no number")
	case "above0":
		return unless(ok && x > 0, "no number above 0")
	case "duration":
		return unless(ok && x >= 0, "no number from 0 on")
	case "delay":
		return unless(ok && x >= 0 && x <= math.MaxInt32, "no delay that a timer can hold")
	}
	return "of a form that nothing explains"
}

// scalars are the forms that scalar knows.
var scalars = []string{"any", "object", "string", "text", "trimmed", "bool", "integer", "count", "count|null",
	"positive", "earlier", "status", "instant", "number", "above0", "duration", "delay"}

func unless(ok bool, problem string) string {
	if ok {
		return ""
	}
	return problem
}

func isObject(v any) bool { _, ok := v.(object); return ok }

// whole reads a safe integer that is not -0.
func whole(v any) (int64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	return integer([]byte(n))
}

func finite(v any) (float64, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	x, err := strconv.ParseFloat(string(n), 64)
	return x, err == nil && !(x == 0 && math.Signbit(x))
}

// instant accepts only the one way in which the client writes a time.
func instant(s string) bool {
	const layout = "2006-01-02T15:04:05.000Z"
	t, err := time.Parse(layout, s)
	return err == nil && t.Format(layout) == s && t.Year() > 0
}

// jsSpace is the white space that the client trims.
func jsSpace(r rune) bool {
	return slices.Contains([]rune("\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff"), r) || r >= 0x2000 && r <= 0x200a
}
