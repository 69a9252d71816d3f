package claude

import (
	"bufio"
	"bytes"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/sessfix/sessfix/format"
)

// Releases up to 2.0.76 wrote the log of a sub-agent beside its session, those from 2.1.29 on into the session's folder.

// nested is where the log of a sub-agent goes; where that cannot be told it is where it is, and beginNested says why.
func nested(name string) string {
	f, err := os.Open(name)
	if err != nil {
		return name
	}
	defer f.Close()
	id, err := lastSession(linesOf(f))
	if err != nil || id == "" {
		return name
	}
	return filepath.Join(filepath.Dir(name), id, "subagents", filepath.Base(name))
}

// linesOf are the lines of a file, one of which is kept in memory.
func linesOf(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadBytes('\n')
			if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 && !yield(line, nil) {
				return
			}
			if err != nil {
				if err != io.EOF {
					yield(nil, err)
				}
				return
			}
		}
	}
}

// recordsOf are the records of a source.
func recordsOf(s format.Source) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for l, err := range s.Records() {
			if !yield(l.Raw, err) {
				return
			}
		}
	}
}

// lastSession is the session that the last record names which names one: the first record may name that of the client's start. It
// is empty where that is no session's id.
func lastSession(lines iter.Seq2[[]byte, error]) (string, error) {
	id := ""
	for raw, err := range lines {
		if err != nil {
			return "", err
		}
		if f, err := peel(raw); err == nil && f.Kind(cSession) == '"' {
			id = string(f.Str(cSession))
		}
	}
	if !sessionNames.MatchString(id + ".jsonl") {
		return "", nil
	}
	return id, nil
}

// beginNested keeps the records as they are.
func beginNested(s format.Source) (format.Stage, error) {
	id, err := lastSession(recordsOf(s))
	if err != nil {
		return nil, err
	}
	for l, err := range s.Records() {
		if err != nil {
			return nil, err
		}
		f, err := read(l.Raw)
		if err != nil {
			return nil, format.Refuse(l.N, "the record cannot be read")
		}
		if err := measured(l.N, f); err != nil {
			return nil, err
		}
	}
	switch {
	case id == "":
		return nil, format.Refuse(-1, "no record says which session the sub-agent worked for")
	case filepath.Base(filepath.Dir(filepath.Dir(nested(s.Path)))) != id:
		return nil, format.Refuse(-1, "the log is damaged, and does not say the same before and after a repair of which session the sub-agent worked for: repair it first")
	}
	if fi, err := fs.Stat(s.Dir, id+".jsonl"); err != nil || !fi.Mode().IsRegular() {
		return nil, format.Refuse(-1, "the transcript of its session, %s.jsonl, does not lie beside the log, which would be all that is left of that session", id)
	}
	call, err := askedFor(s, id)
	return moving{noted: call == nil}, err
}

// moving is a log on its way.
type moving struct {
	copying
	noted bool
}

// End says why there is no header.
func (m moving) End(out format.Out) error {
	if m.noted {
		out.Note(-1, "no call of the session asked for this sub-agent, so that nothing is known for a header")
	}
	return nil
}

// headers are the header of a sub-agent's log, as far as the call tells it that asked for the sub-agent.
func headers(s format.Source) ([]format.NewFile, error) {
	id, err := lastSession(recordsOf(s))
	if err != nil || id == "" {
		return nil, err
	}
	c, err := askedFor(s, id)
	if err != nil || c == nil {
		return nil, err
	}
	name := path.Join(id, "subagents", strings.TrimSuffix(filepath.Base(s.Path), ".jsonl")+headerEnd)
	return []format.NewFile{{Name: name, Write: func(w io.Writer) error {
		_, err := io.WriteString(w, c.header())
		return err
	}}}, nil
}
