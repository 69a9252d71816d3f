package cmd

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

// corruptCases are the damaged sessions that are shipped, as paths from the root of the repository.
func corruptCases(t *testing.T) []string {
	t.Helper()
	recipes, err := filepath.Glob(filepath.Join("testdata", "corrupt", "*.recipe"))
	if err != nil || len(recipes) < 100 {
		t.Fatalf("%d recipes, %v", len(recipes), err)
	}
	var out []string
	for _, r := range recipes {
		out = append(out, strings.TrimSuffix(r, ".recipe"))
	}
	return out
}

// looks say what damaged bytes look like, for faults of bytes that can be told without knowing whose log it is.
var looks = map[string]func(damaged []byte) bool{
	"TORN_TAIL":     func(b []byte) bool { return len(b) > 0 && !json.Valid(b) && !bytes.Contains(b, []byte("\n")) },
	"TORN_LINE":     func(b []byte) bool { return len(b) > 0 && !json.Valid(b) },
	"GLUED_TORN":    func(b []byte) bool { return len(b) > 0 && !json.Valid(b) },
	"NUL_TAIL":      nul,
	"NUL_LINE":      nul,
	"BAD_UTF8":      func(b []byte) bool { return !utf8.Valid(b) },
	"BOM":           func(b []byte) bool { return string(b) == "\ufeff" },
	"BLANK_LINE":    func(b []byte) bool { return len(bytes.TrimSpace(b)) == 0 },
	"NOT_OBJECT":    func(b []byte) bool { return json.Valid(b) && b[0] != '{' },
	"TORN_FRAME":    frame,
	"FRAME_GARBAGE": func(b []byte) bool { return len(b) > 0 && !frame(b) },
}

func nul(b []byte) bool   { return len(b) > 0 && len(bytes.Trim(b, "\x00")) == 0 }
func frame(b []byte) bool { return bytes.HasPrefix(b, []byte{0x28, 0xb5, 0x2f, 0xfd}[:min(4, len(b))]) }

// Regions of SARIF lie inside their files, begin in the line that they name, and hold the damage. A dry run's fixes, done by a
// program that knows nothing of sessions, make the file that repair would make.
func TestRegionsPointAtTheDamage(t *testing.T) {
	t.Chdir("..")
	seen, fixed := map[string]int{}, 0
	for _, path := range corruptCases(t) {
		out, _ := runReport(t, "repair", "-n", "--format", "sarif", path)
		if err := fitsSARIF([]byte(out)); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		report, err := sarif.FromString(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range report.Runs[0].Results {
			place := r.Locations[0].PhysicalLocation
			data := stored(t, place)
			for _, at := range append(slices.Clone(r.RelatedLocations), r.Locations...) {
				region := at.PhysicalLocation.Region
				if region == nil {
					continue
				}
				off, end := region.ByteOffset, region.ByteOffset+*region.ByteLength
				if off < 0 || end > len(data) {
					t.Errorf("%s: %s at %d to %d of %d bytes", path, *r.RuleID, off, end, len(data))
					continue
				}
				if region.StartLine != nil {
					if line := bytes.Count(data[:off], []byte("\n")) + 1; line != *region.StartLine {
						t.Errorf("%s: %s at %d is in line %d, not in %d", path, *r.RuleID, off, line, *region.StartLine)
					}
				}
			}
			region := place.Region
			if look := looks[*r.RuleID]; look != nil && region != nil && (frame(data) == strings.Contains(*r.RuleID, "FRAME")) {
				seen[*r.RuleID]++
				if b := data[region.ByteOffset : region.ByteOffset+*region.ByteLength]; !look(b) {
					t.Errorf("%s: %s at %d: these bytes are not damaged so: %.80q", path, *r.RuleID, region.ByteOffset, b)
				}
			}
		}
		fixed += holdFixes(t, path, report)
	}
	for code := range looks {
		if seen[code] == 0 {
			t.Errorf("no case shows %s", code)
		}
	}
	if fixed < 50 {
		t.Errorf("only %d fixes", fixed)
	}
}

// stored are the bytes of the file that a location names.
func stored(t *testing.T, place *sarif.PhysicalLocation) []byte {
	t.Helper()
	name, err := url.PathUnescape(*place.ArtifactLocation.URI)
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(name); err != nil || fi.IsDir() {
		return nil // a part that is missing, or a folder
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// holdFixes does what the fixes of a report say, and holds the result against the hash that the JSON report promises.
func holdFixes(t *testing.T, path string, report *sarif.Report) int {
	t.Helper()
	promised := map[string]bool{}
	out, _ := runReport(t, "repair", "-n", "--json", path)
	for _, after := range strings.Split(out, `"after": "`)[1:] {
		promised[after[:64]] = true
	}
	n := 0
	for _, r := range report.Runs[0].Results {
		for _, fix := range r.Fixes {
			change := fix.ArtifactChanges[0]
			data := stored(t, &sarif.PhysicalLocation{ArtifactLocation: change.ArtifactLocation})
			for _, p := range slices.Backward(change.Replacements) {
				var content []byte
				if c := p.InsertedContent; c != nil && c.Binary != nil {
					content, _ = base64.StdEncoding.DecodeString(*c.Binary)
				} else if c != nil {
					content = []byte(*c.Text)
				}
				data = slices.Replace(data, p.DeletedRegion.ByteOffset, p.DeletedRegion.ByteOffset+*p.DeletedRegion.ByteLength, content...)
			}
			sum := sha256.Sum256(data)
			if !promised[hex.EncodeToString(sum[:])] {
				t.Errorf("%s: the fix of %s makes another file than repair", path, *r.RuleID)
			}
			n++
		}
	}
	return n
}
