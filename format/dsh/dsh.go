package dsh

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

// Format is DeepSeek Harness.
type Format struct{}

// Newest is the highest version known here.
const Newest = 4

//go:embed reactions.txt
var reactions string

// Name is "dsh".
func (Format) Name() string { return "dsh" }

// Reactions is the damage table of the format.
func (Format) Reactions() string { return reactions }

// Detect knows a log by its header, by the shape of its events, or by its name.
func (Format) Detect(p format.Peek) format.Match {
	if h, ok := readHeader(p.First); ok && p.FirstLine && h.own() {
		return format.ByHeader
	}
	if p.First != nil && eventShape(p.First) {
		return format.ByShape
	}
	if bytes.HasPrefix(p.Line, []byte(`{"type":"session","version":`)) && bytes.Contains(p.Line, []byte(`"createdAt":`)) {
		return format.ByShape
	}
	if _, _, ok := logName(base(p.Path)); ok || strings.HasSuffix(p.Path, ".jsonl.zstd") {
		return format.ByName
	}
	return format.No
}

// eventShape tells an event of this format: type, then seq and time, or seq0 and time0.
func eventShape(raw []byte) bool {
	if !bytes.HasPrefix(raw, []byte(`{"type":"`)) {
		return false
	}
	raw = raw[:min(len(raw), 200)]
	return bytes.Contains(raw, []byte(`,"seq":`)) && bytes.Contains(raw, []byte(`,"time":`)) ||
		bytes.Contains(raw, []byte(`,"seq0":`)) && bytes.Contains(raw, []byte(`,"time0":`))
}

// Dialect is chosen by the header's version, which must be a number from 0 to Newest. A log
// without readable header is read as the version that its name gives, else as version 0.
func (Format) Dialect(p format.Peek, client string) (format.Dialect, error) {
	reads := int64(Newest)
	if client != "" {
		v, ok := targetOf(client)
		if !ok {
			return nil, fmt.Errorf("client version %q is not known", client)
		}
		reads = int64(v)
	}
	h, ok := readHeader(p.First)
	if !ok || !h.has("version") {
		if v, _, ok := logName(base(p.Path)); ok && v <= Newest {
			return dialect{version: v}, nil
		}
		return dialect{}, nil
	}
	v, ok := integer(h.raw("version"))
	if !ok || v < 0 || v > Newest {
		return nil, &format.VersionError{Version: string(h.raw("version")), Newer: ok && v > Newest}
	}
	if v > reads {
		return nil, &format.VersionError{Version: string(h.raw("version")), Newer: true, Client: client}
	}
	return dialect{version: int(v)}, nil
}

// dialect is one version of the format.
type dialect struct {
	version int
	target  int // a release whose migration is asked about, 0 = none
}

func (d dialect) Version() string { return strconv.Itoa(d.version) }

func (d dialect) Rules() format.Rules {
	return format.Rules{Dense: true, Turns: true, Steps: true, Starts: true, Strict: d.version >= 4}
}

func (d dialect) Framing() session.Framing {
	return session.Framing{
		Keys:        keys[:],
		Starts:      [][]byte{[]byte(`{"type":"`)},
		Needs:       [][]string{{"type", "seq"}, {"type", "seq0"}, {"type", "createdAt"}},
		HeaderFrame: true,
	}
}

func (d dialect) NewDecoder(place format.Place) format.Decoder {
	return d.judged(&decoder{dialect: d, place: place, surface: surface{strict: true}})
}

// Title reads id and working directory off the header.
func (Format) Title(p format.Peek) format.Header {
	h, _ := readHeader(p.First)
	return format.Header{ID: h.text("id"), CWD: h.text("cwd"), Parent: h.text("parentSession")}
}
