package repair_test

import (
	"os"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// Of a session in a database rows are records. A write-ahead log that nobody has taken in leaves it open what else was written.
func TestCommittedRows(t *testing.T) {
	b := newRowBed(t)
	ask := func(q verify.Question) *verify.Commitment {
		s, done := b.open()
		defer done()
		parts := []store.Session{s}
		c, err := repair.Committed(t.Context(), parts, q, b.cases)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	got := ask(verify.Question{Seq: 3, Numbered: true, Owner: nobody})
	if got.Outcome != verify.Stored || got.Where[0].Row == 0 {
		t.Errorf("a row that is there: %+v", got)
	}
	if got := ask(verify.Question{Seq: 9999, Numbered: true, Owner: nobody}); got.Outcome != verify.Absent {
		t.Errorf("a row that is not there: %+v", got)
	}
	b.exec("delete from events where session_id = 's1' and seq = 3")
	if got := ask(verify.Question{Seq: 3, Numbered: true, Owner: nobody}); got.Outcome != verify.Unsure {
		t.Errorf("a row that is lost between others: %+v", got)
	}
	if err := os.WriteFile(b.path+"-wal", []byte("a log"), 0o600); err != nil {
		t.Fatal(err)
	}
	got = ask(verify.Question{Seq: 9999, Numbered: true, Owner: nobody})
	if got.Outcome != verify.Unsure || !strings.Contains(strings.Join(got.Why, "\n"), "write-ahead log") {
		t.Errorf("a write-ahead log: %+v", got)
	}
}
