package dsh_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// recipe is a log for the upgrade. The word "=" says that it is taken as it is, "!" that it is refused.
type recipe struct {
	name, header, text, word string
	from, to                 []int
}

// readRecipes reads the recipes that the oracle reads too.
func readRecipes(t testing.TB) []recipe {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "oracle", "dsh", "upgrades.txt"))
	if err != nil {
		t.Fatal(err)
	}
	pieces := map[string]string{}
	piece := ""
	var out []recipe
	for line := range strings.SplitSeq(string(data), "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "== "):
			piece = line[3:]
		case strings.HasPrefix(line, "-- "):
			f := strings.Split(line[3:], " | ")
			u := recipe{name: f[0], word: f[3]}
			for _, v := range strings.Fields(f[1]) {
				n, _ := strconv.Atoi(v)
				u.from = append(u.from, n)
			}
			for _, v := range strings.Fields(f[2]) {
				n, _ := strconv.Atoi(v)
				u.to = append(u.to, n)
			}
			out, piece = append(out, u), ""
		default:
			if name, ok := strings.CutPrefix(line, "@"); ok {
				if line = pieces[name]; line == "" {
					t.Fatalf("no piece %q", name)
				}
			} else {
				line += "\n"
			}
			if piece != "" {
				pieces[piece] += line
			} else if u := &out[len(out)-1]; line[0] == '"' {
				u.header = strings.TrimSpace(line)
			} else {
				u.text += line
			}
		}
	}
	return out
}

// log is the recipe as a log of a version.
func (u recipe) log(version int) string {
	text := u.text
	if version >= 2 {
		text = strings.ReplaceAll(text, `assistant/message {`, `assistant/message {"stream":[],`)
	}
	if version >= 3 {
		text = strings.NewReplacer(`"op":"replace","start":`, `"op":"replace","startSeq":`, `,"end":`, `,"endSeq":`).Replace(text)
		text = strings.Replace(text, `step/start {"turn":1,"step":1}`, `step/start {"turn":1,"step":1}`+"\n"+
			`system/message {"turn":1,"step":1,"message":{"id":"m-sys","role":"system","source":{"kind":"plugin","plugin":"@deepseek-ai/dsh-system-prompt"},"content":[]}} S`, 1)
	}
	return logOf(version, u.header, text)
}

// ways goes over all recipes with one of the words, from each version to each.
func ways(t *testing.T, words func(string) bool, run func(t *testing.T, u recipe, from, to int)) {
	n := 0
	for _, u := range readRecipes(t) {
		if !words(u.word) {
			continue
		}
		for _, from := range u.from {
			for _, to := range u.to {
				if to > from {
					n++
					t.Run(u.name+" "+strconv.Itoa(from)+" "+strconv.Itoa(to), func(t *testing.T) { run(t, u, from, to) })
				}
			}
		}
	}
	if n < 10 {
		t.Fatalf("%d ways", n)
	}
}

// TestPrepareTaken: what the upgrade takes is left alone.
func TestPrepareTaken(t *testing.T) {
	ways(t, func(w string) bool { return w == "=" }, func(t *testing.T, u recipe, from, to int) {
		log := u.log(from)
		for _, f := range refusals(t, log, "v"+strconv.Itoa(to)) {
			t.Errorf("refused: %s", f.Message)
		}
		if c, err := prepareOnly(log, from, to); err != nil || len(c.stages) > 0 {
			t.Errorf("mended: %v, %v", c.said(), err)
		}
		c, err := upgrade(log, from, to, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range refusals(t, c.out.String(), "") {
			t.Errorf("the result: %s", f.Message)
		}
	})
}

// TestPrepareRefused: what cannot be mended stays refused, whatever else is done to it.
func TestPrepareRefused(t *testing.T) {
	ways(t, func(w string) bool { return w == "!" }, func(t *testing.T, u recipe, from, to int) {
		log := u.log(from)
		if strings.HasPrefix(u.text, "mode/set") || strings.Contains(u.text, "turned {}\n") {
			return // verify refuses it without a target
		}
		if len(refusals(t, log, "v"+strconv.Itoa(to))) == 0 {
			t.Fatalf("taken as it is\n%s", log)
		}
		if _, err := upgrade(log, from, to, true); err != nil {
			return
		}
		c, err := prepareOnly(log, from, to)
		if err == nil && len(refusals(t, c.out.String(), "v"+strconv.Itoa(to))) == 0 {
			t.Errorf("taken once it is mended: %v\n%s", c.said(), c.out.String())
		}
	})
}

// TestPrepare: what the upgrade refuses is mended, and is then what it takes.
func TestPrepare(t *testing.T) {
	for _, u := range readRecipes(t) {
		if u.word == "=" || u.word == "!" {
			continue
		}
		for _, from := range u.from {
			for _, to := range u.to {
				if to <= from {
					continue
				}
				t.Run(u.name+" "+strconv.Itoa(from)+" "+strconv.Itoa(to), func(t *testing.T) {
					log := u.log(from)
					target := "v" + strconv.Itoa(to)
					if len(refusals(t, log, target)) == 0 {
						t.Fatalf("the log is taken as it is\n%s", log)
					}
					c, err := prepareOnly(log, from, to)
					if err != nil {
						t.Fatal(err)
					}
					mended := c.out.String()
					for _, f := range refusals(t, mended, target) {
						t.Errorf("still refused: %s\n%s", f.Message, mended)
					}
					if said := strings.Join(c.said(), "\n"); !strings.Contains(said, u.word) {
						t.Errorf("says %q, want a word of %q", said, u.word)
					}
					if again, err := prepareOnly(mended, from, to); err != nil || len(again.stages) > 0 {
						t.Errorf("what is mended is mended again: %v, %v", again.said(), err)
					}
					whole, err := upgrade(log, from, to, true)
					if err != nil {
						t.Fatalf("%v\n%s", err, mended)
					}
					for _, f := range refusals(t, whole.out.String(), "") {
						t.Errorf("the result: %s", f.Message)
					}
				})
			}
		}
	}
}

// TestPrepareNothing: a log that the upgrade takes is left alone.
func TestPrepareNothing(t *testing.T) {
	for _, c := range migrations {
		if c.name == "id of a made-up result" {
			continue // its good log goes beyond version 2 alone
		}
		log := logOf(c.from, c.header, c.good)
		if got, err := prepareOnly(log, c.from, c.to); err != nil || len(got.stages) > 0 {
			t.Errorf("%s: %v, %v", c.name, got.said(), err)
		}
	}
}
