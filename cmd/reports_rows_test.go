package cmd

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver
)

// A session in a database has no bytes of its own: its findings name the database, and say where they stand in the text that the
// rows make.
func TestSARIFOfRows(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.jsonl", []byte(sessionText("id-a", "/srv/app", "Bump the version.", "Bumped.")), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := inProcess(t, "", "migrate", "--medium", "sqlite", "--output", "out", "--case-dir", "cases", "a.jsonl"); code != 0 {
		t.Fatal(stderr)
	}
	db, err := sql.Open("sqlite", filepath.Join("out", "id-a.db"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec("DELETE FROM events WHERE seq >= 4")
	if e := db.Close(); err != nil || e != nil {
		t.Fatal(err, e)
	}
	for _, args := range [][]string{{"verify"}, {"repair", "-n"}} {
		out, _ := runReport(t, append(args, "--format", "sarif", "out")...)
		if err := fitsSARIF([]byte(out)); err != nil {
			t.Error(err)
		}
		for _, want := range []string{`"ruleId": "OPEN_TURN"`, `"uri": "out/id-a.db"`, `"textOffset": 106`, `"textLength": `, `"primaryLocationLineHash"`} {
			if !strings.Contains(out, want) {
				t.Errorf("%q: no %s in\n%s", args, want, out)
			}
		}
		for _, never := range []string{`"region"`, `"fixes"`, "id-a.db#"} {
			if strings.Contains(out, never) {
				t.Errorf("%q: %s in\n%s", args, never, out)
			}
		}
	}
	out, summary := runReport(t, "verify", "--format", "github", "out")
	if !strings.HasPrefix(out, "::warning file=out/id-a.db,title=OPEN_TURN::id-a.db, text offset 106") || !strings.Contains(summary, "id-a.db, text offset 106") {
		t.Errorf("%s\n%s", out, summary)
	}
}
