package main_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/sessfix/sessfix"

// packages are the imports of each directory's Go files, tests left out; "" is the root. Platform
// files count whatever the platform.
func packages(t *testing.T) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	goFiles(t, func(name string) {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		dir := path.Dir(filepath.ToSlash(name))
		if dir == "." {
			dir = ""
		}
		for _, i := range f.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			if !slices.Contains(out[dir], p) {
				out[dir] = append(out[dir], p)
			}
		}
	})
	if len(out) < 10 {
		t.Fatalf("only %d packages: the test does not run at the module's root", len(out))
	}
	return out
}

// goFiles calls each with every Go file of the module that is no test.
func goFiles(t *testing.T, each func(name string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); name != "." && (strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules") {
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			each(name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// below lists, for each room, the rooms that it may import: those below it. Each line is one level;
// rooms of one level do not import each other.
var levels = [][]string{
	{"session"},
	{"finding"},
	{"scan"},
	{"edit", "provider", "database", "jsonout"},
	{"format"},
	{"store"},
	{"verify"},
	{"repair"},
	{"report", "export", "migrate", "fork"},
	{"cmd"},
	{""},
}

func level(room string) int {
	for i, l := range levels {
		if slices.Contains(l, room) {
			return i
		}
	}
	return -1
}

// arrows finds the imports that are not allowed, one line each.
func arrows(pkgs map[string][]string) []string {
	var bad []string
	for dir, imports := range pkgs {
		room, rest, _ := strings.Cut(dir, "/")
		for _, imp := range imports {
			to, ours := strings.CutPrefix(imp, module)
			to = strings.TrimPrefix(to, "/")
			forbid := func(why string) { bad = append(bad, "/"+dir+" imports "+imp+": "+why) }
			toRoom, toRest, _ := strings.Cut(to, "/")
			standard := !strings.Contains(strings.SplitN(imp, "/", 2)[0], ".")
			switch {
			case room == "internal", room == "bench":
				// Tools of the tests; that nobody else imports them is checked below.
			case room == "durable":
				if !standard && imp != module+"/durable" && !strings.HasPrefix(imp, "golang.org/x/sys/") {
					forbid("durable needs the standard library and x/sys only")
				}
			case !ours:
			case toRoom == "internal":
				forbid("only tests import internal packages")
			case toRoom == "durable":
				if to != "durable" || room != "repair" && room != "cmd" && room != "fork" && room != "migrate" && room != "export" {
					forbid("only repair and the commands write")
				}
			case to == "format/all":
				if room != "cmd" {
					forbid("only cmd knows the list of formats")
				}
			case room == "format" && rest == "all":
				if toRoom != "format" {
					forbid("the list names formats only")
				}
			case toRoom == "format" && toRest != "":
				if room != "format" || !strings.HasPrefix(to+"/", dir+"/") && !(rest == "openclaw" && toRest == "pi") {
					forbid("a format is imported by the list alone")
				}
			case toRest != "":
				forbid("rooms have one package")
			case room == "format" && rest != "":
				if level(toRoom) > level("format") {
					forbid("upwards")
				}
			case level(room) < 0:
				forbid("a room without a level")
			case level(toRoom) < 0 || level(toRoom) >= level(room) && room != toRoom:
				forbid("upwards")
			case room == "" && toRoom != "cmd":
				forbid("main calls cmd and nothing else")
			}
		}
	}
	sort.Strings(bad)
	return bad
}

// Arrows point downwards: cmd → report … → repair → verify → store → format → edit → scan →
// finding → session, with durable beside them under repair.
func TestArrows(t *testing.T) {
	for _, line := range arrows(packages(t)) {
		t.Error(line)
	}
}

// The check above must be able to fail.
func TestArrowsCanFail(t *testing.T) {
	for dir, imp := range map[string]string{
		"session": "finding", "finding": "scan", "scan": "edit", "edit": "format", "format": "store", "store": "verify",
		"verify": "repair", "repair": "report", "report": "cmd", "export": "report", "format/dsh": "format/toy", "format/toy": "verify",
		"scan/deep": "format", "durable": "session", "cmd": "format/dsh", "": "verify", "unheard": "session", "format/all": "scan",
	} {
		if got := arrows(map[string][]string{dir: {module + "/" + imp}}); len(got) != 1 {
			t.Errorf("/%s may import %s", dir, imp)
		}
	}
	for dir, imp := range map[string]string{"durable": "github.com/klauspost/compress/zstd", "verify": module + "/durable", "scan": module + "/internal/x", "format": module + "/format/all"} {
		if got := arrows(map[string][]string{dir: {imp}}); len(got) != 1 {
			t.Errorf("/%s may import %s", dir, imp)
		}
	}
	for dir, imp := range map[string]string{"durable": "golang.org/x/sys/windows", "durable/faultfs": module + "/durable", "repair": module + "/durable", "cmd": module + "/format/all", "format/all": module + "/format/dsh", "format/dsh": module + "/edit"} {
		if got := arrows(map[string][]string{dir: {imp}}); len(got) != 0 {
			t.Errorf("%v", got)
		}
	}
}

// agents as words. Names that are also words of the language are left out.
var agents = regexp.MustCompile(`(?i)\b(dsh|deepseek|codex|claude|openclaw|grok|copilot|gemini|qwen|kimi|opencode|cline)\b|\b(pi|Pi)\b`)

// exempt are lines that cannot do without: the list of formats, and what the manual pages show
// as an example of a path.
var exempt = regexp.MustCompile(`~/\.dsh/sessions`)

// No agent is named outside of its own folder, in no code and no sentence: neither by the shared
// rooms nor by the catalogue of findings.
func TestNoAgentNamed(t *testing.T) {
	seen := 0
	goFiles(t, func(name string) {
		slash := filepath.ToSlash(name)
		if strings.HasPrefix(slash, "format/") || strings.HasPrefix(slash, "internal/") || strings.HasPrefix(slash, "bench/") || strings.HasPrefix(slash, "oracle/") || strings.HasPrefix(slash, "docs/") {
			return
		}
		seen++
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(data), "\n") {
			if word := agents.FindString(exempt.ReplaceAllString(line, "")); word != "" {
				t.Errorf("%s:%d: names %s", slash, n+1, word)
			}
		}
	})
	if seen < 50 {
		t.Errorf("only %d files were looked at", seen)
	}
	for line, want := range map[string]bool{
		"the dsh client": true, "// Claude": true, "pi": true, "dsh-session": true, "pier": false, "API": false, "dshell": false, "a copied line": false,
	} {
		if agents.MatchString(line) != want {
			t.Errorf("%q counts as naming an agent: %t", line, !want)
		}
	}
}
