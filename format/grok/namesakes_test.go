package grok_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/verify"
)

// Two sessions of one id: the client lists neither, and which of them is the true one nobody knows.
func TestNamesakes(t *testing.T) {
	whole := folder{logName: updates("user:0:a", "say:b", "end:end_turn"), historyName: history("system", "user:0:a", "answer:b"), summaryName: goodSummary}
	for _, c := range []struct {
		name  string
		other string // where a file lies beside, from the home on
		want  bool
	}{
		{"in another group", "sessions/%2Fother/" + id + "/summary.json", true},
		{"without a summary", "sessions/%2Fother/" + id + "/updates.jsonl", false},
		{"out of the way", "sessions/%2Fother/." + id + "/summary.json", false},
		{"another session", "sessions/%2Fother/01900000-0000-7000-8000-000000000002/summary.json", false},
	} {
		for _, moved := range []bool{false, true} {
			dir := whole.put(t, place)
			home := filepath.Join(dir, "..", "..", "..")
			files := []string{c.other}
			if moved {
				files = append(files, "relocations/"+id+".json")
			}
			for _, name := range files {
				path := filepath.Join(home, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(goodSummary), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			m := plan(t, dir)
			if found := strings.Contains(m.found, "updates SESSION_ID_DUPLICATE group"); found != (c.want && !moved) || found != (m.verdict == verify.Refused) {
				t.Errorf("%s, moved %t: %s, %s", c.name, moved, m.verdict, m.found)
			}
			if strings.Count(m.found, "SESSION_ID_DUPLICATE") > 1 {
				t.Errorf("%s: it is said more than once: %s", c.name, m.found)
			}
		}
	}
	// A copy elsewhere is nobody's namesake.
	if m := plan(t, whole.put(t, "copies/%2Fw/"+id)); m.verdict != verify.Clean {
		t.Errorf("a copy: %s", m.found)
	}
}
