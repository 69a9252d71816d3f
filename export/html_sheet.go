package export

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
)

//go:embed page
var pageFiles embed.FS

// pageScripts are the files that make the page's one script, in their order.
var pageScripts = []string{
	"dom.js", "model.js", "items.js", "scroll.js", "bytes.js", "shapes.js", "timeline.js", "branches.js", "records.js",
	"detail.js", "findings.js", "search.js", "print.js", "page.js",
}

// pageSheet is the page without its data: what stands above the model's head, between that and the records, and below them.
type pageSheet struct{ above, between, below string }

var pageSheetOf = sync.OnceValues(func() (pageSheet, error) {
	read := func(name string) (string, error) {
		data, err := pageFiles.ReadFile("page/" + name)
		return string(data), err
	}
	frame, err := read("page.html")
	if err != nil {
		return pageSheet{}, err
	}
	style, err := read("page.css")
	if err != nil {
		return pageSheet{}, err
	}
	script := "(() => {\n\"use strict\";\n"
	for _, name := range pageScripts {
		text, err := read(name)
		if err != nil {
			return pageSheet{}, err
		}
		script += text
	}
	script += "})();\n"
	frame = strings.Replace(frame, "{policy}", pagePolicy(script, style), 1)
	above, rest, ok1 := strings.Cut(frame, "{head}")
	between, below, ok2 := strings.Cut(rest, "{records}")
	if !ok1 || !ok2 {
		return pageSheet{}, fmt.Errorf("the page has no place for its data")
	}
	above = strings.Replace(above, "{style}", style, 1)
	between = strings.Replace(between, "{script}", script, 1)
	return pageSheet{above, between, below}, nil
})

// pagePolicy lets the page run this script and this style, show images that it holds, and nothing else. No text can become markup:
// the script may not make any of a string.
func pagePolicy(script, style string) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return "default-src 'none'; script-src " + hash(script) + "; style-src " + hash(style) +
		"; img-src data:; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
}
