package repair_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"

	"github.com/sessfix/sessfix/internal/damage/trial"
)

// The heads of a PNG of 9000 x 10 pixels, and of one of 3000 x 10.
const (
	png9000 = "iVBORw0KGgoAAAANSUhEUgAAIygAAAAKCAIAAABWhmLR"
	png3000 = "iVBORw0KGgoAAAANSUhEUgAAC7gAAAAKCAIAAACrcoSq"
)

// What one and the same log means depends on the release that opens it next.
func TestClients(t *testing.T) {
	pictures := func(png string, n int) func(string) string {
		one := `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + png + `"}},`
		return replaced(`[{"tool_use_id":"toolu_ladder","type":"tool_result","content":"behind the shed"`,
			`[{"tool_use_id":"toolu_ladder","type":"tool_result","content":[`+strings.TrimSuffix(strings.Repeat(one, n), ",")+`]`)
	}
	unknown := func(log string) string {
		return strings.Replace(log, `"type":"attachment","uuid"`, `"type":"weather","uuid"`, 1)
	}
	for _, c := range []struct {
		name, log, client string
		damage            func(string) string
		want              string // findings, but for notes without place
		gone              bool   // after the repair nothing is left of it
	}{
		{"unknown type", "orchard", "2.1.328", unknown, "EVENT_UNKNOWN note node", false},
		{"unknown type", "orchard", "2.1.81", unknown, "EVENT_UNKNOWN note node, CHAIN_CUT error opaque", false},
		{"progress", "middle", "2.1.81", nil, "", false},
		{"progress", "middle", "2.0.76", nil, "CHAIN_CUT error opaque", true},
		{"parallel results", "orchard", "2.1.328", nil, "", false},
		{"parallel results", "orchard", "2.1.29", nil, "UNREACHABLE_WORK note parallel", false},
		{"snapshot first", "orchard", "2.1.5", nil, "EVENT_INVALID note side-first, UNREACHABLE_WORK note parallel", false},
		{"many pixels", "orchard", "2.1.328", pictures(png9000, 1), "PROVIDER_REJECTS note image-pixels", false},
		{"many pixels", "orchard", "2.1.81", pictures(png9000, 1), "PROVIDER_REJECTS error image-pixels", true},
		{"many pixels for many images", "orchard", "2.1.81", pictures(png3000, 21), strings.Repeat("PROVIDER_REJECTS error image-many, ", 20) + "PROVIDER_REJECTS error image-many", true},
		{"many pixels for few images", "orchard", "2.1.81", pictures(png3000, 20), "", true},
		{"no image", "orchard", "2.1.81", pictures("AAAAAAAA", 1), "PROVIDER_REJECTS error image-data", true},
		{"U+0000", "orchard", "2.1.328", replaced(`12 pears`, `12\u0000pears`), "PROVIDER_REJECTS note nul-char", false},
		{"U+0000", "orchard", "2.1.270", replaced(`12 pears`, `12\u0000pears`), "PROVIDER_REJECTS error nul-char", true},
	} {
		t.Run(c.name+" "+c.client, func(t *testing.T) {
			data, err := os.ReadFile("../testdata/sessions/claude-code/" + c.log + ".jsonl")
			if err != nil {
				t.Fatal(err)
			}
			if c.damage != nil {
				before := string(data)
				if data = []byte(c.damage(before)); string(data) == before {
					t.Fatal("nothing is damaged")
				}
			}
			in, res := judgedBy(t, c.client, data)
			if got := placed(res); got != c.want {
				t.Fatalf("%s, want %s", got, c.want)
			}
			if res.Verdict == verify.Clean {
				return
			}
			plan, err := repair.MakePlan(t.Context(), in, res)
			if err != nil {
				t.Fatal(err)
			}
			done, err := plan.Apply(in.R, in.Size)
			if err != nil {
				t.Fatal(err)
			}
			after, err := repair.Prove(t.Context(), in, done)
			if err != nil {
				t.Fatal(err)
			}
			if got := placed(after); c.gone && got != "" {
				t.Errorf("%s is left", got)
			}
			var out bytes.Buffer
			if _, err := done.WriteTo(&out); err != nil || !bytes.HasPrefix(out.Bytes(), data) {
				t.Errorf("the repair does not only append: %v", err)
			}
			if _, again := judgedBy(t, "2.1.328", out.Bytes()); again.Verdict != verify.Clean {
				t.Errorf("the newest release finds %s", placed(again))
			}
		})
	}
}

func replaced(old, with string) func(string) string {
	return func(log string) string { return strings.Replace(log, old, with, 1) }
}

// judgedBy verifies a log as a release reads it.
func judgedBy(t *testing.T, client string, data []byte) (verify.Input, *verify.Result) {
	t.Helper()
	o := trial.Options()
	o.Client = client
	r := bytes.NewReader(data)
	s, err := store.Recognise(t.Context(), transcriptPath, r, r.Size(), o)
	if err != nil {
		t.Fatal(err)
	}
	in := verify.InputOf(s, r, r.Size())
	res, err := verify.Session(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return in, res
}

// placed lists findings with severity and place; notes about ids told anew are what repairs leave.
func placed(res *verify.Result) string {
	var out []string
	for _, f := range res.Findings {
		if f.Code != finding.IDConflict {
			out = append(out, fmt.Sprintf("%s %s %s", f.Code, f.Severity, f.Where))
		}
	}
	return strings.Join(out, ", ")
}
