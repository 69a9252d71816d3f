package cmd

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// junitShape is what the schema of Jenkins' xunit plugin (junit-10.xsd) allows, as far as reports use it: the attributes of each
// element, those that it must have marked with !, and the elements inside it.
var junitShape = map[string]struct{ attributes, children string }{
	"testsuites": {"name time tests failures errors", "testsuite"},
	"testsuite":  {"name! tests! failures! errors! time skipped", "testcase"},
	"testcase":   {"name! time classname", "failure error system-out"},
	"failure":    {"type message", ""},
	"error":      {"type message", ""},
	"system-out": {"", ""},
}

// fitsJUnit holds a report against that shape, and its counts against its cases.
func fitsJUnit(data []byte) error {
	d := xml.NewDecoder(strings.NewReader(string(data)))
	type open struct {
		name   string
		attr   map[string]string
		counts map[string]int
	}
	path := []open{{name: "", counts: map[string]int{}}}
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		switch x := token.(type) {
		case xml.StartElement:
			name, up := x.Name.Local, path[len(path)-1]
			shape, ok := junitShape[name]
			if !ok || up.name != "" && !slices.Contains(strings.Fields(junitShape[up.name].children), name) || up.name == "" && name != "testsuites" {
				return fmt.Errorf("<%s> in <%s>", name, up.name)
			}
			o := open{name, map[string]string{}, map[string]int{}}
			allowed := strings.Fields(shape.attributes)
			for _, a := range x.Attr {
				if !slices.Contains(allowed, a.Name.Local) && !slices.Contains(allowed, a.Name.Local+"!") {
					return fmt.Errorf("<%s> has %s", name, a.Name.Local)
				}
				o.attr[a.Name.Local] = a.Value
			}
			for _, a := range allowed {
				if must, ok := strings.CutSuffix(a, "!"); ok {
					if _, ok := o.attr[must]; !ok {
						return fmt.Errorf("<%s> lacks %s", name, must)
					}
				}
			}
			for _, p := range path {
				p.counts[name]++
			}
			path = append(path, o)
		case xml.EndElement:
			o := path[len(path)-1]
			path = path[:len(path)-1]
			for _, c := range []struct{ attr, element string }{{"tests", "testcase"}, {"failures", "failure"}, {"errors", "error"}} {
				if said, ok := o.attr[c.attr]; ok && said != strconv.Itoa(o.counts[c.element]) {
					return fmt.Errorf("<%s> says %s=%s and holds %d", o.name, c.attr, said, o.counts[c.element])
				}
			}
			if o.name == "testcase" && o.counts["failure"]+o.counts["error"] > 1 {
				return errors.New("a case fails twice")
			}
		}
	}
	if path[0].counts["testsuites"] != 1 {
		return errors.New("no report")
	}
	return nil
}
