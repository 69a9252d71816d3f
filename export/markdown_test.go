package export

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/sessfix/sessfix/format"
)

// parsed is what a reader of Markdown makes of a text.
func parsed(source []byte) ast.Node {
	return goldmark.New().Parser().Parse(text.NewReader(source))
}

// loads says what of a document is markup that is passed on, or is fetched; "" if nothing is.
func loads(source []byte, own func(n ast.Node) bool) (bad string) {
	ast.Walk(parsed(source), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n.Kind() {
		case ast.KindRawHTML, ast.KindHTMLBlock, ast.KindImage:
			if entering && (own == nil || !own(n)) {
				bad = fmt.Sprintf("%s in %q", n.Kind(), source)
			}
		}
		return ast.WalkContinue, nil
	})
	return bad
}

var hostile = []string{
	"plain", "# a heading", "a\n\nb", "- list\n- list", "```\ncode\n```", "```go\n<b>\n", "~~~\n<script>\n~~~ x\n<i>", "````\n```\n````\n<u>",
	"<script>alert(1)</script>", "<details><summary>x", "</details></blockquote>", "<!-- comment", "<?php", "<![CDATA[", "a <b>c</b> d", "`<b>` <i>", "``a`<b>", "`a <b>", "\\`<b>`", "``<b>` <i>``",
	"![x](http://example.invalid/p.png)", "!\\[x](y)", "![a][b]\n\n[b]: http://example.invalid", "[x](javascript:alert)", "<http://example.invalid>", "<a@example.invalid>",
	"    <b>", "\t<b>", " ```\n<b>\n ```", "    ```\n<b>", "> <b>", "> ```\n<b>\n> ```", "1. ```\n   <b>\n   ```\n<i>", "- ```\n<b>", "| a |\n|---|\n| <b> |",
	"\x00\x1b[31m\u202e\u2028<b>", "&lt;b&gt;", "a\r\n<b>\r\n", "===\n", "---\n<b>", "\\<b>", "\\\\<b>", "`a\n<b>`", "`a\n\n<b>`", "``` `\n<b>", "~~~ `\n<b>\n~~~", "!`x`[a](b)", "`!`[a](b)", "!\n[a](b)",
}

// What somebody said stays in its quote, is no markup, and loads nothing, whatever it is.
func TestQuoted(t *testing.T) {
	for _, s := range hostile {
		if bad := unfit(s); bad != "" {
			t.Error(bad)
		}
		for _, other := range hostile {
			if bad := unfit(s + "\n" + other); bad != "" {
				t.Error(bad)
			}
		}
	}
}

// unfit tells what is wrong with a quote, "" if nothing is.
func unfit(s string) string {
	out := []byte("before\n\n" + quoted(s) + "\n\nafter\n")
	if bad := loads(out, nil); bad != "" {
		return fmt.Sprintf("%q: %s", s, bad)
	}
	doc := parsed(out)
	if n := doc.ChildCount(); n != 3 || doc.FirstChild().NextSibling().Kind() != ast.KindBlockquote || doc.LastChild().Kind() != ast.KindParagraph {
		return fmt.Sprintf("%q is not one quote: %q", s, out)
	}
	if got := string(bytes.TrimSpace(doc.LastChild().Lines().Value(out))); got != "after" {
		return fmt.Sprintf("%q goes on behind its quote: %q", s, got)
	}
	return ""
}

func FuzzQuoted(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.TrimSpace(s) == "" {
			return // is not told
		}
		if bad := unfit(valid(s)); bad != "" {
			t.Error(bad)
		}
	})
}

// Titles and ids are text, wherever they stand.
func TestNamesAreText(t *testing.T) {
	own := func(n ast.Node) bool { return false }
	for _, s := range hostile {
		if bad := loads([]byte("## a"+escaped(s)+"b\n"), own); bad != "" {
			t.Error(bad)
		}
		for _, sign := range []string{"<", ">", "`", "*", "["} {
			if strings.Contains(escaped(s), sign) {
				t.Errorf("%q is escaped as %q", s, escaped(s))
			}
		}
	}
}

// A folded text ends where it is meant to.
func TestFold(t *testing.T) {
	for _, s := range hostile {
		var b bytes.Buffer
		m := newMarkdown(&b)
		m.block(&Said{}, &format.Block{Kind: format.Call, ID: "x", Name: s, Text: s})
		m.result(&format.Block{Kind: format.Result, ID: s, Text: s})
		m.w.Flush()
		var code []string
		ast.Walk(parsed(b.Bytes()), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if entering && n.Kind() == ast.KindFencedCodeBlock {
				code = append(code, strings.TrimRight(string(n.Lines().Value(b.Bytes())), "\n"))
			}
			return ast.WalkContinue, nil
		})
		want := strings.TrimRight(visible(s), "\n")
		if len(code) != 2 || code[0] != want || code[1] != want {
			t.Errorf("%q is folded as %q: %s", s, code, b.Bytes())
		}
		if n := strings.Count(b.String(), "<details>") - strings.Count(s, "<details>")*2; n != 2 {
			t.Errorf("%q: %d folds: %s", s, n, b.Bytes())
		}
	}
}
