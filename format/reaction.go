package format

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sessfix/sessfix/finding"
)

// Reaction is what clients do with a kind of fault: one row of a format's reactions.txt.
//
//	# code      where  dialect  does   loses     cure    severity
//	TORN_TAIL   tail   -        cut    fragment  auto    error
//
// Where and dialect narrow the row; "-" stands for any. Where is a place, or the name of a generation of the format.
// Dialect is a range of format versions, or of releases as the format ranks them: "0-1", "4". The first row that fits wins, so that narrow rows stand in front.
type Reaction struct {
	Code        finding.Code
	Where       string
	From, To    int // dialect versions, -1 = any
	Does, Loses string
	Cure        finding.Cure
	Severity    finding.Severity
}

// Does and loses are closed sets with one sentence each.
var does = map[string]string{
	"load":    "the client loads the session",
	"cut":     "the client cuts the file there when it opens it",
	"refuse":  "the client refuses to open the session",
	"fail":    "the client crashes on it",
	"hide":    "the client does not list the session",
	"block":   "the client fails to list or open any session of this root",
	"discard": "the client throws the whole last record away",
	"reject":  "the client loads it, but the provider refuses every request of the session",
	"delete":  "the client deletes the file when it starts, once it is old enough",
	"import":  "the client takes over only the records in front of it",
	"settle":  "the client settles it when it resumes: a call that is only planned it runs then",
	"adjoin":  "the client puts the real result behind its call, in what it sends",
	"over":    "the client writes a new, empty session over the file",
	"remint":  "the client gives every entry a new id and hangs each under the one in front of it",
	"answer":  "the client tells the model that no result was provided",
	"retry":   "the provider refuses the first request after each start, and the client leaves it out then",
	"close":   "the client closes it itself when it resumes",
	"replace": "the client reads U+FFFD in place of the bytes",
	"skip":    "the client passes over the line without a word",
	"glue":    "the client appends its next record to the unfinished line",
	"lose":    "the client does not see what it cuts off",
	"guess":   "the client hangs the record under whatever it finds",
	"hang":    "the client hangs for ever",
	"drop":    "the client drops it from the next request without a word",
	"first":   "the client takes the first",
	"last":    "the client takes the last",
	"unshown": "the client leaves it out of what it shows",
	"abort":   "the client tells the model that the call was aborted",
	"order":   "the client sends it where it stands",
	"both":    "the client sends both, which the provider may refuse",
	"ends":    "the client shows the turn as interrupted",
	"aside":   "the client moves it aside and makes it again",
	"believe": "the client believes it",
	"other":   "the client knows the session by the id in its header, and not by that of its file",
	"plain":   "the client opens the plain file and leaves the other",
	"newer":   "a newer client opens the later generation, an older one this file",
	"purge":   "the client takes the line out when it opens the session",
	"empty":   "the client opens the session, and shows nothing of it",
	"cancel":  "the client tells the model that the user cancelled the call, and that it did not run",
	"tells":   "the client ends the turn when it opens the session, and tells the model that work may be lost",
	"untrim":  "the client passes over the line, and from then on no rewind trims the file",
	"forget":  "the client does without it",
	"revive":  "the client shows what was taken back",
	"twice":   "the client shows both",
	"split":   "both writers go on, and the next start refuses the log",
}

var loses = map[string]string{
	"-":        "",
	"fragment": "the unfinished part is lost",
	"record":   "a whole record is lost",
	"pair":     "two whole records are lost",
	"records":  "all records behind it are lost",
	"session":  "the history cannot be reached",
	"next":     "the next record is lost with it",
	"above":    "the history in front of it is forgotten",
	"branch":   "the newer work is forgotten",
	"call":     "the model never learns that the tool may have run",
	"item":     "the model does not know of it",
	"result":   "the model never sees the real result",
	"tree":     "branches run together, and what names an entry names none",
	"names":    "names and pins are lost",
	"root":     "no session of this root can be reached",
	"text":     "the original bytes are lost at the next rewrite",
}

// Reactions is a parsed table.
type Reactions []Reaction

// ParseReactions reads a table; it fails on a word that is not in the closed sets or a code
// that is not in the catalogue.
func ParseReactions(text string) (Reactions, error) {
	var out Reactions
	for n, line := range strings.Split(text, "\n") {
		if i := strings.IndexByte(line, '#'); i >= 0 {
			line = line[:i]
		}
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		r, err := parseReaction(w)
		if err != nil {
			return nil, fmt.Errorf("reactions line %d: %w", n+1, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func parseReaction(w []string) (Reaction, error) {
	if len(w) != 7 {
		return Reaction{}, fmt.Errorf("%d columns, want 7", len(w))
	}
	r := Reaction{Code: finding.Code(w[0]), Where: w[1], From: -1, To: -1, Does: w[3], Loses: w[4],
		Cure: finding.Cure(w[5]), Severity: finding.Severity(w[6])}
	if _, ok := finding.Lookup(r.Code); !ok {
		return r, fmt.Errorf("unknown code %s", w[0])
	}
	if _, ok := does[r.Does]; !ok {
		return r, fmt.Errorf("unknown reaction %q", r.Does)
	}
	if _, ok := loses[r.Loses]; !ok {
		return r, fmt.Errorf("unknown loss %q", r.Loses)
	}
	switch r.Cure {
	case finding.Auto, finding.Leave, finding.Refuse:
	default:
		return r, fmt.Errorf("unknown cure %q", r.Cure)
	}
	switch r.Severity {
	case finding.Note, finding.Warning, finding.Error:
	default:
		return r, fmt.Errorf("unknown severity %q", r.Severity)
	}
	if w[2] != "-" {
		from, to, ranged := strings.Cut(w[2], "-")
		var err error
		if r.From, err = strconv.Atoi(from); err != nil {
			return r, err
		}
		r.To = r.From
		if ranged {
			if r.To, err = strconv.Atoi(to); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// Find returns the first row that fits a fault at a place, or anywhere in a generation of the format.
func (rs Reactions) Find(code finding.Code, where, generation string, version int) (Reaction, bool) {
	for _, r := range rs {
		if r.Code == code && (r.Where == "-" || r.Where == where || r.Where == generation) && (r.From < 0 || r.From <= version && version <= r.To) {
			return r, true
		}
	}
	return Reaction{}, false
}

// Sentence says what the client does next and what is lost by it.
func (r Reaction) Sentence() string {
	if l := loses[r.Loses]; l != "" {
		return does[r.Does] + "; " + l
	}
	return does[r.Does]
}
