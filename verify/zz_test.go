package verify

import (
	"context"
	"os"
	"testing"

	"github.com/sessfix/sessfix/format/dsh"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/format"
)

func BenchmarkZZ(b *testing.B) {
	for _, p := range []string{"/tmp/d100.jsonl", "/tmp/d100.jsonl.zstd"} {
		b.Run(p[5:], func(b *testing.B) {
			f, _ := os.Open(p)
			st, _ := f.Stat()
			s, err := store.Recognise(context.Background(), p, f, st.Size(), store.Options{Formats: []format.Format{dsh.Format{}}})
			if err != nil { b.Fatal(err) }
			b.SetBytes(104857759)
			for b.Loop() {
				r, err := Session(context.Background(), InputOf(s, f, st.Size()))
				if err != nil || r.Verdict != Clean { b.Fatal(err, r) }
			}
		})
		b.Run("scan-"+p[5:], func(b *testing.B) {
			f, _ := os.Open(p)
			st, _ := f.Stat()
			s, _ := store.Recognise(context.Background(), p, f, st.Size(), store.Options{Formats: []format.Format{dsh.Format{}}})
			b.SetBytes(104857759)
			for b.Loop() {
				sc, _ := scan.New(context.Background(), f, st.Size(), scan.Options{Medium: s.Medium, Framing: s.Dialect.Framing()})
				for sc.Next() {}
			}
		})
	}
}
