package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/jsonout"
)

// SARIF 2.1.0, as far as findings need it: docs.oasis-open.org/sarif/sarif/v2.1.0. A report is one run. Its rules are the
// catalogue's entries of the codes that occur.

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	homePage    = "https://github.com/sessfix/sessfix"
	findingPage = homePage + "/blob/main/docs/findings.md"
	// sourceRoot stands for the directory that sessfix ran in. GitHub takes it for the root of the repository.
	sourceRoot = "%SRCROOT%"
	// fingerprint is the name of ours. It has a version, as the standard wants.
	fingerprint = "sessfix/v1"
	// lineHash is the only one that GitHub looks at. Where a line is known, its uploader makes it itself, of the line's text, and
	// complains of another.
	lineHash = "primaryLocationLineHash"
	// mostResults is how many GitHub takes before it turns the whole report away.
	mostResults = 25_000
)

type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool        sarifTool         `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	Results     []sarifResult     `json:"results"`
	ColumnKind  string            `json:"columnKind"`
	Properties  struct {
		Summary Summary `json:"summary"`
	} `json:"properties"`
}

type sarifTool struct {
	Driver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	} `json:"driver"`
}

type sarifRule struct {
	ID      string        `json:"id"`
	Name    string        `json:"name"`
	Short   *sarifMessage `json:"shortDescription,omitempty"`
	Full    *sarifMessage `json:"fullDescription,omitempty"`
	Help    *sarifMessage `json:"help,omitempty"`
	HelpURI string        `json:"helpUri"`
	Default struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
	Properties struct {
		Tags []string `json:"tags"`
	} `json:"properties"`
}

type sarifMessage struct {
	Text     string `json:"text"`
	Markdown string `json:"markdown,omitempty"`
}

type sarifResult struct {
	RuleID       string            `json:"ruleId"`
	RuleIndex    int               `json:"ruleIndex"`
	Level        string            `json:"level"`
	Message      sarifMessage      `json:"message"`
	Locations    []sarifLocation   `json:"locations"`
	Related      []sarifLocation   `json:"relatedLocations,omitempty"`
	Fingerprints map[string]string `json:"partialFingerprints"`
	Fixes        []sarifFix        `json:"fixes,omitempty"`
	Properties   sarifProperties   `json:"properties"`
}

// sarifProperties are what the standard has no place for.
type sarifProperties struct {
	Agent   string  `json:"agent,omitempty"`
	Session string  `json:"session,omitempty"`
	Verdict string  `json:"verdict"`
	Because string  `json:"because,omitempty"`
	CallID  *string `json:"callId,omitempty"`
	// Frame and LogicalLine narrow the place in a compressed file.
	Frame       int64 `json:"frame,omitempty"`
	LogicalLine int64 `json:"logicalLine,omitempty"`
	// TextOffset and TextLength take the place of a region where the session lies in a database: they count the text that its
	// rows stand for.
	TextOffset *int64 `json:"textOffset,omitempty"`
	TextLength *int64 `json:"textLength,omitempty"`
}

type sarifLocation struct {
	ID       int           `json:"id,omitempty"`
	Physical sarifPhysical `json:"physicalLocation"`
	Message  *sarifMessage `json:"message,omitempty"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"`
}

type sarifArtifact struct {
	URI  string `json:"uri"`
	Base string `json:"uriBaseId,omitempty"`
}

// sarifRegion names bytes, and the line that they begin in where the file has lines.
type sarifRegion struct {
	StartLine  int64 `json:"startLine,omitempty"`
	EndLine    int64 `json:"endLine,omitempty"`
	ByteOffset int64 `json:"byteOffset"`
	ByteLength int64 `json:"byteLength"`
}

type sarifInvocation struct {
	Successful    bool                `json:"executionSuccessful"`
	Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Level     string          `json:"level"`
	Message   sarifMessage    `json:"message"`
	Locations []sarifLocation `json:"locations,omitempty"`
}

// SARIF writes the document as one run. Paths below base are told as from there.
func (d *Document) SARIF(w io.Writer, base string) error {
	var run sarifRun
	driver := &run.Tool.Driver
	driver.Name, driver.Version, driver.InformationURI = d.Tool.Name, d.Tool.Version, homePage
	run.ColumnKind, run.Properties.Summary = "utf16CodeUnits", d.Summary

	told := d.told(base)
	left := len(told) - mostResults
	if left > 0 {
		told = worstFirst(told)[:mostResults]
	}
	var index map[string]int
	driver.Rules, index = rules(told)
	seen := map[string]int{}
	run.Results = []sarifResult{}
	for _, t := range told {
		run.Results = append(run.Results, t.result(index, seen))
	}
	run.Invocations = []sarifInvocation{{Successful: d.Summary.Failed == 0, Notifications: d.notifications(base, left)}}
	return jsonout.Write(w, sarifLog{sarifSchema, "2.1.0", []sarifRun{run}}, true)
}

// rules are those that occur, in the catalogue's order, and where each stands.
func rules(told []told) ([]sarifRule, map[string]int) {
	occurs := map[string]bool{}
	for _, t := range told {
		occurs[t.f.Code] = true
	}
	out, index := []sarifRule{}, map[string]int{}
	for _, e := range finding.All() {
		if occurs[string(e.Code)] {
			index[string(e.Code)] = len(out)
			out = append(out, ruleOf(e))
		}
	}
	return out, index
}

func ruleOf(e finding.Entry) sarifRule {
	r := sarifRule{
		ID: string(e.Code), Name: pascal(string(e.Code)), HelpURI: findingPage + "#" + strings.ToLower(string(e.Code)),
		Short: &sarifMessage{Text: sentence(e.Title)}, Full: &sarifMessage{Text: e.Means},
	}
	text, markdown := "Repair: "+e.Repair+".", "**Repair:** "+e.Repair+"."
	if e.Never != "" {
		text, markdown = text+"\nNever: "+e.Never+".", markdown+"\n\n**Never:** "+e.Never+"."
	}
	r.Help = &sarifMessage{Text: text, Markdown: markdown + "\n\n[What it means](" + r.HelpURI + ")"}
	r.Default.Level = string(e.Severity)
	r.Properties.Tags = []string{"session", stageTags[e.Stage]}
	return r
}

var stageTags = [...]string{
	finding.StageBytes: "bytes", finding.StageHeader: "header", finding.StageNumbers: "numbers", finding.StageTree: "tree",
	finding.StageCalls: "calls", finding.StageTurns: "turns", finding.StageHome: "home",
}

// pascal makes TornTail of TORN_TAIL.
func pascal(code string) string {
	var b strings.Builder
	for _, word := range strings.Split(code, "_") {
		b.WriteString(word[:1] + strings.ToLower(word[1:]))
	}
	return b.String()
}

// sentence makes one of a phrase.
func sentence(phrase string) string {
	if phrase == "" {
		return ""
	}
	return strings.ToUpper(phrase[:1]) + phrase[1:] + "."
}

// result is one finding. The counts in seen tell findings apart that are alike.
func (t told) result(index map[string]int, seen map[string]int) sarifResult {
	s, f := t.s, t.f
	verdict := s.Verdict
	if s.Repaired {
		verdict = s.outcome()
	}
	r := sarifResult{
		RuleID: f.Code, RuleIndex: index[f.Code], Level: t.level(), Message: sarifMessage{Text: plain(t.advice())},
		Properties: sarifProperties{
			Agent: s.Agent, Session: s.ID, Verdict: verdict, Because: f.Because, CallID: f.CallID, Frame: f.Frame, LogicalLine: f.LogicalLine,
		},
	}
	name, rows := t.file()
	place := sarifPhysical{Artifact: artifact(name)}
	switch {
	case s.root:
	case rows:
		r.Properties.TextOffset, r.Properties.TextLength = &f.Offset, &f.Length
	default:
		place.Region = &sarifRegion{StartLine: f.Line, ByteOffset: f.Offset, ByteLength: f.Length}
	}
	r.Locations = []sarifLocation{{Physical: place}}
	for i, b := range f.Branches {
		at := sarifPhysical{Artifact: place.Artifact}
		if place.Region != nil {
			at.Region = &sarifRegion{ByteOffset: b.Offset, ByteLength: b.Length}
			if f.Line > 0 {
				at.Region.StartLine, at.Region.EndLine = b.Lines[0], b.Lines[1]
			}
		}
		r.Related = append(r.Related, sarifLocation{ID: i + 1, Physical: at, Message: &sarifMessage{Text: b.String()}})
	}
	print := t.print(seen)
	r.Fingerprints = map[string]string{fingerprint: print}
	if place.Region == nil || place.Region.StartLine == 0 {
		r.Fingerprints[lineHash] = print
	}
	r.Fixes = t.fixes()
	return r
}

// print is the finding's fingerprint: of what stays when bytes come or go in front of it, so without offset and line. Findings
// that are alike in all of it are counted through the file.
func (t told) print(seen map[string]int) string {
	f := t.f
	name, _ := t.file()
	id := []string{f.Code, t.s.ID, f.Missing, strconv.FormatInt(f.Length, 10)}
	if f.CallID != nil {
		id = append(id, "call", *f.CallID)
	}
	if f.Got != nil {
		id = append(id, "number", strconv.FormatInt(*f.Expected, 10), strconv.FormatInt(*f.Got, 10))
	}
	key := strings.Join(id, "\x00")
	seen[name+"\x00"+key]++
	sum := sha256.Sum256([]byte(key + "\x00" + strconv.Itoa(seen[name+"\x00"+key])))
	return hex.EncodeToString(sum[:16])
}

// notifications tell what is no finding: paths that could not be looked at, and repairs that were refused.
func (d *Document) notifications(base string, left int) []sarifNotification {
	var out []sarifNotification
	for _, e := range d.Errors {
		out = append(out, sarifNotification{"error", sarifMessage{Text: plain(Safe(e.Error))}, []sarifLocation{{Physical: sarifPhysical{Artifact: artifact(inside(base, e.Path))}}}})
	}
	for i := range d.Sessions {
		if s := &d.Sessions[i]; s.Refusal != "" {
			out = append(out, sarifNotification{"warning", sarifMessage{Text: plain("not repaired: " + Safe(s.Refusal))}, []sarifLocation{{Physical: sarifPhysical{Artifact: artifact(inside(base, s.Path))}}}})
		}
	}
	if left > 0 {
		out = append(out, sarifNotification{Level: "warning", Message: sarifMessage{Text: fmt.Sprintf("%d findings of the least severity are left out: there are more than %d", left, mostResults)}})
	}
	return out
}

func artifact(name string) sarifArtifact {
	a := sarifArtifact{URI: uri(name, runtime.GOOS == "windows")}
	if relative(a.URI) {
		a.Base = sourceRoot
	}
	return a
}

// plain makes a text fit for a message: braces would be placeholders, and brackets in front of a parenthesis a link.
func plain(text string) string {
	return strings.NewReplacer("{", "{{", "}", "}}", "](", `\](`).Replace(text)
}

// worstFirst sorts by severity, and leaves the order as it is otherwise.
func worstFirst(list []told) []told {
	rank := map[string]int{string(finding.Error): 0, string(finding.Warning): 1}
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b told) int {
		ra, oka := rank[a.level()]
		rb, okb := rank[b.level()]
		if !oka {
			ra = 2
		}
		if !okb {
			rb = 2
		}
		return cmp.Compare(ra, rb)
	})
	return out
}
