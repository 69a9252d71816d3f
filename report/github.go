package report

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/sessfix/sessfix/finding"
)

// Annotations of GitHub Actions: commands that its runner reads from the output of a step. A line that is a command is read as
// nothing else, so that what it says of a hostile name cannot become another command; what is no command here holds no names.

// eachKind is how many annotations of a kind GitHub shows of one step.
const eachKind = 10

// annotation is one command.
type annotation struct {
	kind, file, title, message string
	line                       int64
}

// GitHub writes the annotations, the worst of each kind first, and no more than are shown. Paths below base are told as from there.
func (d *Document) GitHub(w io.Writer, base string) error {
	var list []annotation
	for _, e := range d.Errors {
		list = append(list, annotation{kind: "error", file: inside(base, e.Path), title: "sessfix could not look", message: Safe(e.Error)})
	}
	for _, t := range worstFirst(d.told(base)) {
		list = append(list, t.annotation())
	}
	shown, left := map[string]int{}, map[string]int{}
	for _, a := range list {
		if shown[a.kind] == eachKind {
			left[a.kind]++
			continue
		}
		shown[a.kind]++
		if _, err := io.WriteString(w, a.command()); err != nil {
			return err
		}
	}
	line := d.Summary.line(Style{}, d.Faulty())
	for _, kind := range []string{"error", "warning", "notice"} {
		if n := left[kind]; n > 0 {
			line += fmt.Sprintf("; %s more", plural(n, kind))
		}
	}
	_, err := fmt.Fprintln(w, "sessfix: "+line)
	return err
}

// annotation is what GitHub shows beside the file.
func (t told) annotation() annotation {
	kind := t.level()
	if kind == string(finding.Note) {
		kind = "notice"
	}
	name, rows := t.file()
	a := annotation{kind: kind, file: name, title: t.f.Code, message: t.advice()}
	if !rows {
		a.line = t.f.Line
	}
	if a.line == 0 && !t.s.root {
		a.message = t.at() + ": " + a.message
	}
	return a
}

// command is the annotation as the runner reads it.
func (a annotation) command() string {
	var b strings.Builder
	b.WriteString("::" + a.kind + " file=" + property(filepath.ToSlash(a.file)))
	if a.line > 0 {
		fmt.Fprintf(&b, ",line=%d", a.line)
	}
	b.WriteString(",title=" + property(a.title) + "::" + data(a.message) + "\n")
	return b.String()
}

// data escapes what would end a command.
func data(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

// property escapes what would end a property as well.
func property(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(Safe(text)))
}
