package export

import (
	"bufio"
	"context"
	"io"

	"github.com/sessfix/sessfix/jsonout"
)

// pageLimits are what a page stays fluid with.
type pageLimits struct {
	records int64 // of a part; of those behind them the page holds the ones with findings
	said    int64 // bytes of texts and images; what is said behind them is told as lengths and hashes
}

var pageMost = pageLimits{records: 300_000, said: 64 << 20}

// WriteHTML writes one page about a session, as it lies on disk, with what a repair would do to it. The page needs nothing but
// itself. Equal sessions give equal bytes.
func WriteHTML(ctx context.Context, w io.Writer, s *Session, tool jsonout.Tool, o Options) error {
	return writeHTML(ctx, w, s, tool, o, pageMost)
}

func writeHTML(ctx context.Context, w io.Writer, s *Session, tool jsonout.Tool, o Options, most pageLimits) error {
	talk, err := s.Follow(ctx, false)
	if err != nil {
		return err
	}
	buf := bufio.NewWriterSize(w, 1<<16)
	sh, err := pageSheetOf()
	if err != nil {
		return err
	}
	if _, err := buf.WriteString(sh.above); err != nil {
		return err
	}
	if err := writeHead(buf, s, talk, tool, o); err != nil {
		return err
	}
	if _, err := buf.WriteString(sh.between); err != nil {
		return err
	}
	left := most.said
	for i, p := range s.Parts {
		r := &pageRows{out: buf, part: i, p: p, talk: talk, o: o, most: most.records, said: &left}
		if err := r.write(ctx); err != nil {
			return err
		}
	}
	if _, err := buf.WriteString(sh.below); err != nil {
		return err
	}
	return buf.Flush()
}
