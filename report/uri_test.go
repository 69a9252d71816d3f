package report

import (
	"net/url"
	"testing"
)

func TestURI(t *testing.T) {
	for _, c := range []struct {
		name    string
		windows bool
		want    string
	}{
		{"a/b.jsonl", false, "a/b.jsonl"},
		{"./a//b.jsonl", false, "a/b.jsonl"},
		{"../a/b.jsonl", false, "../a/b.jsonl"},
		{"-", false, "-"},
		{"/home/ada/.dsh/x y.jsonl", false, "file:///home/ada/.dsh/x%20y.jsonl"},
		{"a:b/c#d?e%f", false, "a%3Ab/c%23d%3Fe%25f"},
		{"a\\b", false, "a%5Cb"},
		{"ä\xff\x1b\n", false, "%C3%A4%FF%1B%0A"},
		{`<b>"q"</b>`, false, "%3Cb%3E%22q%22%3C/b%3E"},
		{`a\b c.jsonl`, true, "a/b%20c.jsonl"},
		{`C:\Users\ada\.dsh\a.jsonl`, true, "file:///C:/Users/ada/.dsh/a.jsonl"},
		{`\\host\share\a.jsonl`, true, "file://host/share/a.jsonl"},
		{"C:name", true, "C%3Aname"},
		{"session.jsonl.zstd", false, "session.jsonl.zstd"},
	} {
		got := uri(c.name, c.windows)
		if got != c.want {
			t.Errorf("%q is %q, want %q", c.name, got, c.want)
		}
		u, err := url.Parse(got)
		if err != nil {
			t.Errorf("%q: %v", c.name, err)
		} else if relative(got) != (u.Scheme == "") {
			t.Errorf("%q: scheme %q", got, u.Scheme)
		}
	}
}
