package pi

import (
	"bytes"
	"strconv"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/format/pi/harness"
	"github.com/sessfix/sessfix/session"
)

// Upgrades are the client's own steps, which it takes when it opens a session, and the way out of AgentHarness, which the client does
// not read.
func (Format) Upgrades() []format.Upgrade {
	return append([]format.Upgrade{
		{
			From: strconv.Itoa(linear), To: strconv.Itoa(hooked), Begin: beginTree,
			About: "entries get ids and hang under each other, and what the header says of model, thinking level and origin becomes what the client reads",
		},
		{
			From: strconv.Itoa(hooked), To: strconv.Itoa(newest), Begin: beginCustom,
			About: "messages of hooks get the role custom",
		},
	}, harness.Upgrades()...)
}

// Age is the generation of a session, by its header and by its entries: forks of version 1 and 2 have a header of version 3 in front of
// entries that are none (all releases up to 1.6.0, which copy them as they are).
func (Format) Age(s format.Source) (string, error) {
	var (
		generation   = newest
		first        = true
		named, bare  int64
		lacks, hooks bool
		nameless     int64 // the first entry without id
	)
	for l, err := range s.Records() {
		if err != nil {
			return "", err
		}
		f, err := recordOf(l)
		if first {
			first = false
			if harness.Own(l.Raw) || harness.Shaped(l.Raw) {
				d, err := harness.Dialect(l.Raw)
				if err != nil {
					return "", err
				}
				return d.Version(), nil
			}
			if err != nil || !f.header() {
				return "", format.Refuse(l.N, "the log does not begin with a header")
			}
			if f.Kind(kVersion) == '"' {
				return "", format.Refuse(l.N, "the header's version is a text, %.40s, and no number: which generation it is cannot be said", f.Value(kVersion))
			}
			if generation = generationOf(f); generation > newest {
				return "", &format.VersionError{Version: string(f.Value(kVersion)), Newer: true}
			}
			continue
		}
		switch {
		case err != nil:
			return "", err
		case string(f.Str(kType)) == "session", !f.Has(kType) && !f.Has(kID) && !f.Has(kMessage):
		case f.Has(kID):
			named++
		default:
			if !lacks {
				lacks, nameless = true, l.N
			}
			bare++
		}
		hooks = hooks || f.hook()
	}
	switch {
	case named > 0 && bare > 0:
		return "", mixed(nameless)
	case bare > 0:
		return strconv.Itoa(linear), nil
	case generation == linear && named > 0, generation == newest:
		generation = newest
		if hooks {
			generation = hooked
		}
	}
	return strconv.Itoa(generation), nil
}

// recordOf reads a record on its way.
func recordOf(l format.Line) (*fields, error) {
	f, err := read(l.Raw)
	if err != nil || !bytes.HasPrefix(bytes.TrimLeft(l.Raw, " \t\r"), []byte("{")) {
		return nil, format.Refuse(l.N, "the record is no object that can be read")
	}
	return f, nil
}

// mixed refuses a session of which only some entries have ids.
func mixed(n int64) error {
	return format.Refuse(n, "some entries have ids and this one has none: whether the session is a tree or a line cannot be said")
}

// hook tells a message of a hook in the words of version 2.
func (f *fields) hook() bool {
	return string(f.Str(kType)) == "message" && string(f.Str(kRole)) == "hookMessage"
}

// origin gives a header the name of its parent as the client reads it today: up to 0.30 it is called branchedFrom, and no release takes it
// over. The old name stays beside it.
func origin(f *fields, old session.Capture) []splice {
	if f.Kind(kParentSession) == '"' || old.Kind != '"' || old.Len == 2 {
		return nil
	}
	return []splice{f.child(string(f.Of(old)))}
}

// child gives a header the name of its parent, as JSON. The client writes that behind the working directory.
func (f *fields) child(parent string) splice {
	if c := f.At(kCWD); c.Len > 0 && !f.Has(kParentSession) {
		return splice{at: c.Off + c.Len, ins: `,"` + keys[kParentSession] + `":` + parent}
	}
	return f.stands(kParentSession, parent)
}

var (
	_ format.Upgrader = Format{}
	_ format.Aged     = Format{}
)
