package claude

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
)

// asking is a call for a sub-agent. Texts are JSON, nil where they are not there.
type asking struct {
	id, kind, about []byte
	done            bool
}

// askedFor finds the call that a sub-agent's log belongs to: its result in the session's transcript names the agent (measured
// with 2.0.76 and 2.1.328). It is nil where there is none.
func askedFor(s format.Source, session string) (*asking, error) {
	agent := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(s.Path), "agent-"), ".jsonl")
	var c *asking
	err := eachBlock(s, session, func(b *askingBlock) {
		if string(b.agent) == agent && b.call != nil {
			c = &asking{id: bytes.Clone(b.call), done: string(b.status) == "completed"}
		}
	})
	if err != nil || c == nil {
		return nil, err
	}
	return c, eachBlock(s, session, func(b *askingBlock) {
		if bytes.Equal(b.id, c.id) {
			c.kind, c.about = bytes.Clone(b.kind), bytes.Clone(b.about)
		}
	})
}

// header is what <log>.meta.json says of it, in the client's own words.
func (c *asking) header() string {
	var b strings.Builder
	for _, m := range []struct {
		name  string
		value []byte
	}{{"agentType", c.kind}, {"description", c.about}} {
		if m.value != nil {
			b.WriteString(`"` + m.name + `":` + string(m.value) + ",")
		}
	}
	b.WriteString(`"toolUseId":` + string(c.id))
	if c.done {
		b.WriteString(`,"finished":true`)
	}
	return "{" + b.String() + "}"
}

// askingBlock is one block of a message, with what its record says of a sub-agent.
type askingBlock struct {
	agent, status         []byte
	call, id, kind, about []byte
}

const (
	aAgent = iota
	aStatus
	aBlock
	aCall
	aID
	aKind
	aAbout
)

var askings = scan.NewSingle([]string{
	aAgent: "toolUseResult.agentId", aStatus: "toolUseResult.status", aBlock: "message.content[]",
	aCall: "message.content[].tool_use_id", aID: "message.content[].id",
	aKind: "message.content[].input.subagent_type", aAbout: "message.content[].input.description",
})

// eachBlock goes over the blocks of a session's transcript that lies beside a log. Lines that are no record are left out.
func eachBlock(s format.Source, session string, yield func(b *askingBlock)) error {
	f, err := s.Dir.Open(session + ".jsonl")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	for line, err := range linesOf(f) {
		if err != nil {
			return err
		}
		raw, caps, ok := askings.Take(line)
		if !ok {
			continue
		}
		var blocks []askingBlock
		var of askingBlock
		for _, c := range caps {
			value := raw[c.Off : c.Off+c.Len]
			if c.Key == aBlock {
				blocks = append(blocks, askingBlock{})
			}
			if c.Kind != '"' {
				continue
			}
			b := &of
			if c.Key > aBlock {
				b = &blocks[len(blocks)-1]
			}
			switch c.Key {
			case aAgent:
				b.agent = value[1 : len(value)-1]
			case aStatus:
				b.status = value[1 : len(value)-1]
			case aCall:
				b.call = value
			case aID:
				b.id = value
			case aKind:
				b.kind = value
			case aAbout:
				b.about = value
			}
		}
		for i := range blocks {
			blocks[i].agent, blocks[i].status = of.agent, of.status
			yield(&blocks[i])
		}
	}
	return nil
}
