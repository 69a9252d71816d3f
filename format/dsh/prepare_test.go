package dsh_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// unfit is a log that the upgrade refuses as it is.
type unfit struct {
	name, header, text, word string
	from, to                 []int
}

// readUnfit reads the recipes that the oracle reads too.
func readUnfit(t testing.TB) []unfit {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "oracle", "dsh", "unfit.txt"))
	if err != nil {
		t.Fatal(err)
	}
	pieces := map[string]string{}
	piece := ""
	var out []unfit
	for line := range strings.SplitSeq(string(data), "\n") {
		switch {
		case line == "" || strings.HasPrefix(line, "# "):
		case strings.HasPrefix(line, "== "):
			piece = line[3:]
		case strings.HasPrefix(line, "-- "):
			f := strings.Split(line[3:], " | ")
			u := unfit{name: f[0], word: f[3]}
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
func (u unfit) log(version int) string {
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

// TestPrepare: what the upgrade refuses is mended, and is then what it takes.
func TestPrepare(t *testing.T) {
	for _, u := range readUnfit(t) {
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
