package export

import "strings"

// quoted is a text as a quote, with nothing in it that is markup, that loads, or that ends it. What is surely code stays as it is.
func quoted(text string) string {
	var (
		b     strings.Builder
		fence string // that is open
		loose bool   // a backtick of the paragraph may begin code that goes on
		doubt bool   // an indented fence begins code or ends that of a list: from there on nothing is sure
	)
	for i, line := range strings.Split(strings.TrimRight(visible(text), "\n"), "\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("> ")
		mark, rest := fenceOf(line)
		switch {
		case fence != "":
			if mark != "" && mark[0] == fence[0] && len(mark) >= len(fence) && strings.TrimSpace(rest) == "" {
				fence, loose = "", false
			}
			b.WriteString(line)
		case mark != "" && line[0] == ' ':
			doubt = true
			b.WriteString(harmless(line, false))
		case mark != "" && !doubt && (mark[0] != '`' || !strings.Contains(rest, "`")):
			fence = mark
			b.WriteString(harmless(line, false))
		default:
			if strings.TrimSpace(line) == "" {
				loose = false
			}
			b.WriteString(harmless(line, !loose && !doubt))
			loose = loose || odd(line)
		}
	}
	return b.String()
}

// fenceOf is the fence that a line begins with, "" where it begins with none, and what stands behind it.
func fenceOf(line string) (mark, rest string) {
	inner := strings.TrimLeft(line, " ")
	if len(line)-len(inner) > 3 || inner == "" || inner[0] != '`' && inner[0] != '~' {
		return "", ""
	}
	rest = strings.TrimLeft(inner, inner[:1])
	mark = inner[:len(inner)-len(rest)]
	if len(mark) < 3 {
		return "", ""
	}
	return mark, rest
}

// harmless takes tags and images out of a line. Where code is sure to be code, that stays as it is. Cells of tables end code wherever
// they end.
func harmless(line string, sure bool) string {
	if !strings.ContainsAny(line, "<!") {
		return line
	}
	sure = sure && !strings.Contains(line, "|")
	var b strings.Builder
	for i := 0; i < len(line); {
		switch {
		case line[i] == '\\' && i+1 < len(line) && line[i+1] != '<' && line[i+1] != '!':
			b.WriteString(line[i : i+2])
			i += 2
			continue
		case line[i] == '`':
			n := run(line[i:])
			end := closing(line[i+n:], n)
			if end < 0 || !sure {
				b.WriteString(line[i : i+n])
				i += n
				continue
			}
			b.WriteString(line[i : i+n+end])
			i += n + end
			continue
		case line[i] == '<':
			b.WriteString("&lt;")
			i++
			continue
		case strings.HasPrefix(line[i:], "!["):
			b.WriteString("!\\")
			i++
			continue
		}
		b.WriteByte(line[i])
		i++
	}
	return b.String()
}

// odd tells whether a line has a backtick that may begin code that goes on in the next line.
func odd(line string) bool {
	for i := 0; i < len(line); {
		switch {
		case line[i] == '\\' && i+1 < len(line):
			i += 2
		case line[i] == '`':
			n := run(line[i:])
			end := closing(line[i+n:], n)
			if end < 0 {
				return true
			}
			i += n + end
		default:
			i++
		}
	}
	return false
}

// run is how many backticks a text begins with.
func run(text string) int { return len(text) - len(strings.TrimLeft(text, "`")) }

// closing is the place behind the next run of exactly n backticks, -1 where there is none.
func closing(text string, n int) int {
	for at := 0; at < len(text); {
		if text[at] != '`' {
			at++
			continue
		}
		k := run(text[at:])
		at += k
		if k == n {
			return at
		}
	}
	return -1
}
