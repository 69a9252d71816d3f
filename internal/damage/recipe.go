package damage

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

// Recipe is one case: the head that says what must come of it, and the steps.
type Recipe struct {
	Name  string
	What  string // what happened, in one sentence
	From  string // the report or the row of a damage table that it comes from
	Agent string
	// File is the path of the damaged session below the recipe's own folder.
	File    string
	Verdict string
	// Findings are all findings, notes included; no other may be reported.
	Findings []Finding
	// Closers are codes with call ids, or kinds of structural closers, in order.
	Closers []string
	// Result is what the text holds after the repair, without the closers: see Parse.
	Result string
	// Results are those of the files that change, where the session is a folder.
	Results map[string]string
	// Holds are pieces of text that the repaired session must hold.
	Holds []string
	// Aside are pieces of the damaged file that must lie in quarantine.
	Aside []string
	Steps []Step
}

// Finding is one expected finding. Place is evaluated against the damaged part: numbers, L<n> and
// F<n> for the offset of a line or frame, end, and sums of those; length may also be line, frame
// or rest. In a folder, file is the one that is damaged.
type Finding struct {
	Code  string
	Place map[string]string
}

// Step is one line of a recipe.
type Step struct {
	Verb string
	Args []string
	line int
}

// String writes a step as recipes do.
func (s Step) String() string {
	words := []string{s.Verb}
	for _, a := range s.Args {
		if a == "" || strings.ContainsAny(a, " \"\\") || strconv.Quote(a) != `"`+a+`"` {
			a = strconv.Quote(a)
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

// Parse reads a recipe. An empty line ends the head; # begins a comment line. The result is a
// list: 3-7 are lines of the healthy session, d4 is line 4 of the damaged text, * is a line that
// neither of them held, c are the closers, which come last where the list does not name them. The
// name of a file stands in front of the list where the session is a folder; one that is no log has
// no list.
func Parse(name, text string) (*Recipe, error) {
	r := &Recipe{Name: name, File: "session.jsonl"}
	head := true
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		var err error
		switch {
		case strings.HasPrefix(line, "#"):
		case line == "":
			head = head && r.Verdict == ""
		case head:
			err = r.headLine(line)
		default:
			var s Step
			s, err = ParseStep(line)
			s.line = n + 1
			r.Steps = append(r.Steps, s)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", name, n+1, err)
		}
	}
	switch {
	case r.What == "" || r.From == "" || r.Agent == "":
		return nil, fmt.Errorf("%s: a recipe says what, source and agent", name)
	case len(r.Steps) == 0 || r.Steps[0].Verb != "from" || len(r.Steps[0].Args) == 0:
		return nil, fmt.Errorf("%s: a recipe begins with a healthy session", name)
	case r.Verdict == "repairable" && r.Result == "" && r.Results == nil:
		return nil, fmt.Errorf("%s: a repairable case says what its result is", name)
	}
	if r.Folder() {
		r.File = "."
	}
	return r, nil
}

func (r *Recipe) headLine(line string) error {
	key, value, ok := strings.Cut(line, ":")
	value = strings.TrimSpace(value)
	if !ok {
		return fmt.Errorf("a head line is KEY: VALUE, not %q", line)
	}
	switch key {
	case "what":
		r.What = strings.TrimSpace(r.What + " " + value)
	case "source":
		r.From = value
	case "agent":
		r.Agent = value
	case "file":
		r.File = value
	case "verdict":
		r.Verdict = value
		if value != "clean" && value != "repairable" && value != "refuse" {
			return fmt.Errorf("no verdict: %q", value)
		}
	case "finding":
		w := strings.Fields(value)
		f := Finding{Code: w[0], Place: map[string]string{}}
		for _, p := range w[1:] {
			k, v, ok := strings.Cut(p, "=")
			if !ok {
				return fmt.Errorf("no place: %q", p)
			}
			f.Place[k] = v
		}
		r.Findings = append(r.Findings, f)
	case "closer":
		r.Closers = append(r.Closers, value)
	case "result":
		file, list, _ := strings.Cut(value, " ")
		if !strings.Contains(file, ".") {
			r.Result = value
			break
		}
		if r.Results == nil {
			r.Results = map[string]string{}
		}
		r.Results[file] = list
	case "holds", "aside":
		s, err := strconv.Unquote(value)
		if err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
		if key == "holds" {
			r.Holds = append(r.Holds, s)
		} else {
			r.Aside = append(r.Aside, s)
		}
	default:
		return fmt.Errorf("unknown key %q", key)
	}
	return nil
}

// ParseStep reads one step: a verb and its arguments, quoted as in Go where they hold spaces.
func ParseStep(line string) (Step, error) {
	var words []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimLeft(line, " ") {
		if line[0] == '"' || line[0] == '`' {
			q, err := strconv.QuotedPrefix(line)
			if err != nil {
				return Step{}, err
			}
			s, _ := strconv.Unquote(q)
			words = append(words, s)
			line = line[len(q):]
			continue
		}
		w, rest, _ := strings.Cut(line, " ")
		words = append(words, w)
		line = rest
	}
	return Step{Verb: words[0], Args: words[1:]}, nil
}

// Make follows the steps. Paths of from are looked up in fsys. Beside are further files, by name.
func (r *Recipe) Make(fsys fs.FS) (p *Part, beside map[string][]byte, err error) {
	beside = map[string][]byte{}
	for _, s := range r.Steps {
		switch s.Verb {
		case "from":
			var data []byte
			if data, err = fs.ReadFile(fsys, s.Args[0]); err == nil {
				p, err = NewPart(data)
			}
		case "beside":
			beside[s.Args[0]], err = fs.ReadFile(fsys, s.Args[1])
		default:
			err = p.Do(s)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%s: line %d: %s: %w", r.Name, s.line, s, err)
		}
	}
	return p, beside, nil
}

// Eval computes a place in the damaged part.
func (p *Part) Eval(expr string) (int64, error) {
	total, sign := 0, 1
	for expr != "" {
		end := strings.IndexAny(expr, "+-")
		term := expr
		if end >= 0 {
			term = expr[:end]
		}
		v, err := p.term(term)
		if err != nil {
			return 0, err
		}
		total += sign * v
		if end < 0 {
			break
		}
		sign = 1
		if expr[end] == '-' {
			sign = -1
		}
		expr = expr[end+1:]
	}
	return int64(total), nil
}

func (p *Part) term(t string) (v int, err error) {
	switch {
	case t == "end":
		return len(p.Bytes()), nil
	case strings.HasPrefix(t, "len(L"):
		if v, err = strconv.Atoi(strings.TrimSuffix(t[5:], ")")); err == nil {
			_, v, err = p.lineAt(v)
		}
		return v, err
	case strings.HasPrefix(t, "len(F"):
		if v, err = strconv.Atoi(strings.TrimSuffix(t[5:], ")")); err == nil {
			_, v, err = p.FrameOffset(v)
		}
		return v, err
	case strings.HasPrefix(t, "L"):
		if v, err = strconv.Atoi(t[1:]); err == nil {
			v, _, err = p.lineAt(v)
		}
		return v, err
	case strings.HasPrefix(t, "F"):
		if v, err = strconv.Atoi(t[1:]); err == nil {
			v, _, err = p.FrameOffset(v)
		}
		return v, err
	}
	return strconv.Atoi(t)
}
