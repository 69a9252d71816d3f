package export_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/export"
	"github.com/sessfix/sessfix/format/all"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/store"
)

// page is the page about a session.
func page(t testing.TB, s *export.Session, content bool) string {
	t.Helper()
	var b bytes.Buffer
	if err := export.WriteHTML(t.Context(), &b, s, tool, export.Options{Content: content}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var data = regexp.MustCompile(`(?s)<script type="application/json"([^>]*)>(.*?)</script>`)

// model are the data of a page: its head, indented, and the lines of the rest.
func model(t testing.TB, page string) string {
	t.Helper()
	var out strings.Builder
	for i, m := range data.FindAllStringSubmatch(page, -1) {
		if !json.Valid([]byte(m[2])) {
			t.Fatalf("%s is no JSON: %.200s", m[1], m[2])
		}
		out.WriteString("#" + m[1] + "\n")
		if i > 0 {
			out.WriteString(m[2] + "\n")
			continue
		}
		var b bytes.Buffer
		if err := json.Indent(&b, []byte(m[2]), "", "  "); err != nil {
			t.Fatal(err)
		}
		out.WriteString(b.String() + "\n")
	}
	return out.String()
}

// What a page knows of a damaged session of each agent.
func TestPageModel(t *testing.T) {
	for _, name := range []string{"dsh-damaged", "dsh-frames", "claude-damaged", "codex-damaged", "pi-damaged", "pi-tree", "grok-damaged"} {
		t.Run(name, func(t *testing.T) {
			got := model(t, page(t, open(t, golden[name]), false))
			file := filepath.Join("testdata", "page", name+".txt")
			if *update {
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs from what is written (run the test with -update, and look at the change)", file)
			}
		})
	}
}

// The policy names the page's own script and style by their hashes, and lets nothing else run or load.
func TestPagePolicy(t *testing.T) {
	text := page(t, open(t, golden["dsh"]), false)
	hash := func(pattern string) string {
		m := regexp.MustCompile(`(?s)`+pattern).FindAllStringSubmatch(text, -1)
		if len(m) != 1 {
			t.Fatalf("%d of %s", len(m), pattern)
		}
		sum := sha256.Sum256([]byte(m[0][1]))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	want := `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src ` + hash(`<script>(.*?)</script>`) + `; style-src ` +
		hash(`<style>(.*?)</style>`) + `; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'">`
	if strings.Count(text, want) != 1 {
		t.Errorf("the page lacks %s", want)
	}
	if at := strings.Index(text, want); strings.Contains(text[:at], "<script") || strings.Contains(text[:at], "<style") {
		t.Error("something stands in front of the policy")
	}
	for _, bad := range []string{"http://", "https://", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function(", "@import", "url("} {
		rest := strings.ReplaceAll(text, "http://www.w3.org/2000/svg", "")
		if strings.Contains(data.ReplaceAllString(rest, ""), bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}

// Every shipped session gives a page whose data can be read, in which every record, every finding and every byte of a place is
// there, and twice the same one.
func TestPageOfEverySample(t *testing.T) {
	each(t, func(t *testing.T, s *export.Session) {
		text := page(t, s, true)
		if again := page(t, s, true); again != text {
			t.Errorf("%s: two pages differ", s.Path)
		}
		records, named := make([]int64, len(s.Parts)), make([]map[int]bool, len(s.Parts))
		last := make([]int64, len(s.Parts))
		for _, m := range data.FindAllStringSubmatch(text, -1) {
			var part int
			if n, _ := fmt.Sscanf(m[1], ` class="records" data-part="%d"`, &part); n == 0 {
				if !json.Valid([]byte(m[2])) {
					t.Errorf("%s: %s is no JSON", s.Path, m[1])
				}
				continue
			}
			var rows [][]any
			if err := json.Unmarshal([]byte(m[2]), &rows); err != nil {
				t.Errorf("%s: %v", s.Path, err)
				continue
			}
			if named[part] == nil {
				named[part] = map[int]bool{}
			}
			for _, r := range rows {
				if r[0].(float64) > 0 {
					records[part]++
					if off := int64(r[1].(float64)); off < last[part] {
						t.Errorf("%s: record %v stands in front of what is before it", s.Path, r[0])
					} else {
						last[part] = off
					}
				}
				if len(r) > 15 {
					for _, f := range r[15].([]any) {
						if named[part][int(f.(float64))] {
							t.Errorf("%s: finding %v stands twice", s.Path, f)
						}
						named[part][int(f.(float64))] = true
					}
				}
			}
		}
		for i, p := range s.Parts {
			if _, told := p.Dialect.(interface{ Judge() }); p.Dialect != nil && !told && records[i] != p.Found.Records {
				t.Errorf("%s: the page has %d records of %d of %s", s.Path, records[i], p.Found.Records, p.File)
			}
			for k := range p.Found.Findings {
				if f := &p.Found.Findings[k]; !named[i][k] && (f.Off > 0 || f.Len > 0 || f.Line > 0) {
					t.Errorf("%s: finding %d, %s at %d, has no row", s.Path, k, f.Code, f.Off)
				}
			}
		}
	})
}

// Without being asked, the page holds no word of the conversation, and with it all.
func TestPageRedacted(t *testing.T) {
	for name, secrets := range map[string][]string{
		"claude":      {"crates", "Seventeen", "210 litres"},
		"dsh-damaged": {"Good morning", "water row 3", "prune --row"},
		"pi-damaged":  {"upper orchard"},
	} {
		s := open(t, golden[name])
		hidden, shown := page(t, s, false), page(t, s, true)
		for _, secret := range secrets {
			if strings.Contains(hidden, secret) {
				t.Errorf("%s: the page holds %q", name, secret)
			}
			if !strings.Contains(shown, secret) {
				t.Errorf("%s: not even the page with content holds %q", name, secret)
			}
		}
	}
}

// hostile are texts that would like to be something else.
var hostile = []string{
	`</script><img src=x onerror=alert(1)>`, `<!--<script>`, `]]>`, `<script>alert(2)</script>`, "\u2028alert(3)//", "a\u202Etxt.exe", `"><svg onload=alert(4)>`,
	`javascript:alert(5)`, `{records}`, `{script}`, `\u003c/script\u003e`, "\\", `"`, `&lt;b&gt;`, strings.Repeat("x", 5000), "\x1b[31mred",
}

// hostileSession is a session in which all that can be named or said is hostile. The bytes ff fe are no UTF-8.
func hostileSession(t testing.TB) *export.Session {
	t.Helper()
	quote := func(text string) string {
		b, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&", `\u2028`, "\u2028").Replace(string(b))
	}
	var log strings.Builder
	fmt.Fprintf(&log, `{"type":"session","version":3,"id":%s,"timestamp":"2026-05-07T09:30:00.000Z","cwd":%s}`+"\n", quote(hostile[0]), quote(hostile[1]))
	parent := "null"
	for i, h := range hostile {
		id, q := quote(fmt.Sprint(i, h)), quote(h)
		fmt.Fprintf(&log, `{"type":"message","id":%s,"parentId":%s,"timestamp":"2026-05-07T09:30:04.000Z","message":{"role":"user","content":[{"type":"text","text":%s}],"timestamp":1778146203995}}`+"\n", id, parent, q)
		call := quote(fmt.Sprint("call ", i, h))
		answer := quote(fmt.Sprint("answer ", i, h))
		fmt.Fprintf(&log, `{"type":"message","id":%s,"parentId":%s,"timestamp":"2026-05-07T09:30:04.900Z","message":{"role":"assistant","content":[{"type":"text","text":%s},{"type":"toolCall","id":%s,"name":%s,"arguments":{%s:%s}}],"api":"x","provider":%s,"model":%s,"usage":{"input":1,"output":1,"cacheRead":0,"cacheWrite":0,"totalTokens":2,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse","timestamp":1778146204900}}`+"\n",
			answer, id, q, call, q, q, q, q, q)
		parent = answer
		if i%3 == 0 {
			continue // no result
		}
		result := quote(fmt.Sprint("result ", i, h))
		fmt.Fprintf(&log, `{"type":"message","id":%s,"parentId":%s,"timestamp":"2026-05-07T09:30:04.960Z","message":{"role":"toolResult","toolCallId":%s,"toolName":%s,"content":[{"type":"text","text":%s}],"isError":false,"timestamp":1778146204960}}`+"\n", result, answer, call, q, q)
		parent = result
	}
	log.WriteString("{\"type\":\"message\",\"id\":\"</script>\xff\xfe\",\"parentId\":" + parent + ",\"message\":{\"role\":\"user\",\"content\":\"\xff\xfe\"}}\n")
	log.WriteString("{\"type\":\"</script><b>torn")
	dir := filepath.Join(t.TempDir(), "<img src=x onerror=alert(6)>")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "<b>\u202E.jsonl")
	if err := os.WriteFile(path, []byte(log.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	env := func(string) string { return "" }
	found, err := store.Open(t.Context(), []string{path}, store.Options{Formats: all.Formats(), Env: env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(found.Close)
	if len(found.Groups()) != 1 {
		t.Fatalf("%d sessions, %v", len(found.Groups()), found.Troubles)
	}
	s, err := export.Open(t.Context(), found.Groups()[0], repair.Options{Env: env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Whatever a session says, the page without its data is the same, and nothing in the data looks like markup.
func TestPageHostile(t *testing.T) {
	bare := func(text string) string {
		return regexp.MustCompile(`(?s)(<script type="application/json"[^>]*></script>\n?)+`).ReplaceAllString(data.ReplaceAllString(text, "<script type=\"application/json\"$1></script>"), "")
	}
	want := bare(page(t, open(t, golden["dsh"]), true))
	for _, content := range []bool{false, true} {
		text := page(t, hostileSession(t), content)
		if got := bare(text); got != want {
			t.Errorf("content %t: the page is another one", content)
		}
		told := model(t, text)
		for _, m := range data.FindAllStringSubmatch(text, -1) {
			if i := strings.IndexAny(m[2], "<>&\u2028\u2029\x1b"); i >= 0 {
				t.Errorf("content %t: the data hold %.40q", content, m[2][i:])
			}
		}
		// Ids and names of tools stay as they are; a byte that is no UTF-8 is seen to be none.
		for _, has := range []string{`\u003c/script\u003e`, "javascript:alert(5)", "\uFFFD", `\u2028alert(3)`, `a\u202etxt.exe`, strings.Repeat("x", 5000)} {
			if !strings.Contains(told, strings.ReplaceAll(has, `\u202e`, "\u202e")) {
				t.Errorf("content %t: %.40q is lost", content, has)
			}
		}
		if strings.Contains(told, `\u003e\u003cb\u003etorn`) {
			t.Errorf("content %t: bytes that are no record are told", content)
		}
	}
}
