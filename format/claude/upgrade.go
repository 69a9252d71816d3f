package claude

import (
	"path/filepath"
	"slices"

	"github.com/sessfix/sessfix/format"
)

// The generations of transcripts. They have no version of their own: each node says which release wrote it, and one file holds
// nodes of several. So they are told by what records there are; first is roughly the first release of each.
const (
	g1 = "G1" // 0.2: talk and summaries
	g2 = "G2" // 2.0: a queue of prompts, copies of files; sub-agents have flat logs beside the sessions
	g3 = "G3" // 2.1.0: results hang under their calls; progress records; sub-agents' logs lie in their session's folder
	g4 = "G4" // 2.1.7x: last-prompt
	g5 = "G5" // 2.1.145: last-prompt names the leaf
	g6 = "G6" // 2.1.3xx: what was sent, and what it cost

	g2Agent = "G2-agent" // the log of a sub-agent that lies beside its session
	g3Agent = "G3-agent" // in its session's folder
)

// Upgrades are two: the newest client reads all generations as they are. So nothing is done to results that hang under each other,
// to sub-agents' talk inside a transcript and to progress records, which are links; nor to sessions-index.json, of which
// the newest client takes no notice.
func (Format) Upgrades() []format.Upgrade {
	return []format.Upgrade{
		{From: g4, To: g5, About: "a last-prompt record names the leaf to go on from", Begin: beginPointer},
		{
			From: g2Agent, To: g3Agent, About: "the log moves into the folder of its session and gets a header",
			Beside: nested, Moves: true, Also: headers, Begin: beginNested,
		},
	}
}

// signs are types of records that only releases of a generation and later ones write.
var signs = map[string]string{
	"queue-operation": g2, "file-history-snapshot": g2,
	"progress":    g3,
	"last-prompt": g4,
	"mode":        g5, "attachment": g5,
	"api-request": g6, "api-request-shape": g6, "api-request-blob": g6, "cost-state": g6, "tools-used": g6, "file-history-delta": g6,
}

// Age tells the generation by the newest sign. A transcript with last-prompt records is of the fifth as soon as one names a
// leaf, and of the fourth only where there is something to name.
func (Format) Age(s format.Source) (string, error) {
	if agentNames.MatchString(filepath.Base(s.Path)) {
		if spawner(filepath.Dir(s.Path)) == "" {
			return g2Agent, nil
		}
		return g3Agent, nil
	}
	age, talk := g1, false
	for l, err := range s.Records() {
		if err != nil {
			return "", err
		}
		f, err := read(l.Raw)
		if err != nil {
			return "", format.Refuse(l.N, "the record cannot be read")
		}
		if err := measured(l.N, f); err != nil {
			return "", err
		}
		typ := string(f.Str(kType))
		sign := signs[typ]
		switch {
		case typ == "last-prompt" && f.Kind(kLeaf) == '"':
			sign = g5
		case f.Has(kSourceUUID):
			sign = g3
		}
		age = max(age, sign)
		talk = talk || isSpoken(f)
	}
	if age == g4 && !talk {
		age = g3
	}
	return age, nil
}

// isSpoken tells the records that a client may go on from.
func isSpoken(f *fields) bool {
	return f.Kind(kUUID) == '"' && !f.True(kSide) && slices.Contains([]string{"user", "assistant"}, string(f.Str(kType)))
}

// measured refuses a record of a release that is newer than all that were measured.
func measured(n int64, f *fields) error {
	newest, _ := format.RankOf(Newest)
	if rank, ok := format.RankOf(string(f.Str(kVersion))); ok && rank > newest {
		return format.Refuse(n, "release %s wrote the record, and %s is the newest that sessfix knows", f.Str(kVersion), Newest)
	}
	return nil
}

// copying hands records on as they are.
type copying struct{}

func (copying) Record(l format.Line, out format.Out) error { return out.Put(l) }
func (copying) End(format.Out) error                       { return nil }
