package claude

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// slugs are the names that the client makes of absolute paths: each unit that is no letter and no digit becomes "-".
var slugs = regexp.MustCompile(`^(-|[A-Za-z]--)[A-Za-z0-9-]*$`)

// Root is the home that a transcript lies in, or whose directory of projects the path is.
func (Format) Root(path string) string {
	if root, _ := placeOf(path); root != "" {
		return root
	}
	if abs, err := filepath.Abs(path); err == nil && filepath.Base(abs) == "projects" {
		return filepath.Dir(abs)
	}
	return ""
}

// Survey finds sessions of which only side files are left, and transcripts that the client will delete for their
// age. Neither says anything about the other sessions, so it looks only where the whole home was asked for.
func (Format) Survey(s format.Survey) []finding.Finding {
	if !s.Whole {
		return nil
	}
	h := home{Survey: s, days: keepDays(s.Root)}
	projects, _ := fs.ReadDir(s.Root, "projects")
	for _, e := range projects {
		if slugs.MatchString(e.Name()) {
			h.project(path.Join("projects", e.Name()))
		}
	}
	return h.findings()
}

// home is what a survey of a home finds.
type home struct {
	format.Survey
	days float64 // how long the client keeps a transcript
	old  []dated
	// Husks are directories of sessions without transcript; expired ones are old enough for the client to have
	// deleted it, with so many logs and results left.
	husks         []finding.Finding
	expired       []dated
	logs, results int
}

// dated is a path below the home and when it was last changed.
type dated struct {
	path string
	at   time.Time
}

// older tells what was last changed more than a share of the client's time ago. Without a clock nothing is.
func (h *home) older(at time.Time, share float64) bool {
	return at.Before(h.Now.Add(-time.Duration(h.days * share * 24 * float64(time.Hour))))
}

// project looks through one directory of transcripts.
func (h *home) project(dir string) {
	entries, _ := fs.ReadDir(h.Root, dir)
	there := map[string]bool{}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".jsonl")
		if !ok || e.IsDir() || !sessionNames.MatchString(e.Name()) {
			continue
		}
		there[id] = true
		if h.Now.IsZero() || !e.Type().IsRegular() {
			continue
		}
		if fi, err := e.Info(); err == nil && h.older(fi.ModTime(), 0.75) {
			h.old = append(h.old, dated{path.Join(dir, e.Name()), fi.ModTime()})
		}
	}
	for _, e := range entries {
		if e.IsDir() && sessionNames.MatchString(e.Name()+".jsonl") && !there[e.Name()] {
			h.husk(path.Join(dir, e.Name()))
		}
	}
}

// husk counts what is left of a session without transcript.
func (h *home) husk(dir string) {
	logs, results := 0, 0
	left := dated{path: dir}
	count := func(below string, named *regexp.Regexp) (n int) {
		fs.WalkDir(h.Root, path.Join(dir, below), func(p string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || named != nil && !named.MatchString(e.Name()) {
				return nil
			}
			n++
			if fi, err := e.Info(); err == nil && fi.ModTime().After(left.at) {
				left.at = fi.ModTime()
			}
			return nil
		})
		return n
	}
	logs, results = count("subagents", agentNames), count("tool-results", nil)
	switch {
	case logs+results == 0:
	case h.older(left.at, 1):
		h.expired = append(h.expired, left)
		h.logs += logs
		h.results += results
	default:
		f := finding.New(finding.SessionHusk)
		f.Message = fmt.Sprintf("%s holds %s, and its transcript is gone", dir, remains(logs, results))
		h.husks = append(h.husks, f)
	}
}

// findings tells what was found: each husk that its age does not explain, and the rest in one finding each.
func (h *home) findings() []finding.Finding {
	out := h.husks
	if len(h.expired) > 0 {
		f := finding.New(finding.SessionHusk)
		f.Where = "expired"
		f.Message = fmt.Sprintf("of %s the transcript is gone, at an age at which the client deletes it, and %s left: %s",
			counted(len(h.expired), "session"), remains(h.logs, h.results)+are(h.logs+h.results), some(h.expired))
		out = append(out, f)
	}
	for i := range out {
		out[i].Repair = "nothing: the talk is not in what is left. Bring the transcript back from a backup; the logs of sub-agents can still be read, and history.jsonl may hold the prompts"
	}
	if len(h.old) > 0 {
		f := finding.New(finding.RetentionNear)
		f.Message = fmt.Sprintf("the client keeps transcripts for %g days, and %s more than three quarters of that old: %s", h.days, counted(len(h.old), "transcript")+are(len(h.old)), some(h.old))
		if h.days == 0 {
			f.Message = fmt.Sprintf("the client is told to keep no transcripts, and %s there: %s", counted(len(h.old), "transcript")+are(len(h.old)), some(h.old))
		}
		f.Repair = "nothing: raise cleanupPeriodDays in settings.json, or copy the transcripts elsewhere"
		out = append(out, f)
	}
	return out
}

// told is how many paths a finding names.
const told = 5

// some names the oldest of a list, each with the day on which it was last changed.
func some(list []dated) string {
	slices.SortFunc(list, func(a, b dated) int {
		if c := a.at.Compare(b.at); c != 0 {
			return c
		}
		return strings.Compare(a.path, b.path)
	})
	var out []string
	for _, d := range list[:min(told, len(list))] {
		out = append(out, fmt.Sprintf("%s (last changed %s)", d.path, d.at.UTC().Format(time.DateOnly)))
	}
	if n := len(list) - told; n > 0 {
		out = append(out, fmt.Sprintf("and %d more", n))
	}
	return strings.Join(out, ", ")
}

func remains(logs, results int) string {
	switch {
	case results == 0:
		return counted(logs, "sub-agent log")
	case logs == 0:
		return counted(results, "spilled result")
	}
	return counted(logs, "sub-agent log") + " and " + counted(results, "spilled result")
}

func counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

func are(n int) string {
	if n == 1 {
		return " is"
	}
	return " are"
}

// The client's own time, a bound that keeps sums within their range, and one on the size of its settings.
const (
	usualDays   = 30
	mostDays    = 36_500
	maxSettings = 1 << 20
)

// keepDays is how many days after its last change the client keeps a transcript.
func keepDays(root fs.FS) float64 {
	days := float64(usualDays)
	for _, name := range []string{"settings.json", "settings.local.json"} {
		data, err := format.ReadSmall(root, name, maxSettings)
		if err != nil {
			continue
		}
		var v struct {
			Days *float64 `json:"cleanupPeriodDays"`
		}
		if json.Unmarshal(data, &v) == nil && v.Days != nil && *v.Days >= 0 {
			days = min(*v.Days, mostDays)
		}
	}
	return days
}
