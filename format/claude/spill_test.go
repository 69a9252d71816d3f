package claude

import (
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// stat is a file system of sizes by path.
type stat map[string]int64

func (s stat) look(path string) (fs.FileInfo, error) {
	n, ok := s[filepath.ToSlash(path)]
	if !ok {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrNotExist}
	}
	if n < 0 {
		return nil, &fs.PathError{Op: "stat", Path: path, Err: fs.ErrPermission}
	}
	return fileInfo{size: n}, nil
}

type fileInfo struct {
	fs.FileInfo
	size int64
}

func (f fileInfo) Size() int64       { return f.size }
func (f fileInfo) Mode() fs.FileMode { return 0o600 }

func TestSpill(t *testing.T) {
	log := sessionPath(t)
	project := filepath.ToSlash(filepath.Dir(log))
	own := project + "/" + idOf("1") + "/tool-results/"
	far := "/elsewhere/.claude/projects/-v/" + idOf("2") + "/tool-results/"
	for _, c := range []struct {
		name, path, size string
		files            stat
		want             string
	}{
		{"where it says", "/else/tool-results/b.txt", "9", stat{"/else/tool-results/b.txt": 9}, ""},
		{"with the session", far + "b.txt", "9", stat{own + "b.txt": 9}, ""},
		{"with the session it was copied from", far + "b.txt", "9", stat{filepath.ToSlash(filepath.Dir(project)) + "/-v/" + idOf("2") + "/tool-results/b.txt": 9}, ""},
		{"recorded on another system", `C:\\Users\\ida\\.claude\\projects\\-v\\x\\tool-results\\b.txt`, "9", stat{own + "b.txt": 9}, ""},
		{"gone", own + "b.txt", "9", stat{}, `the file "b.txt", which held the full text of the result, is gone`},
		{"gone, recorded on another system", `C:\\Users\\ida\\.claude\\projects\\-v\\x\\tool-results\\b.txt`, "9", stat{}, `the file "b.txt", which held the full text of the result, is gone`},
		{"cut short", own + "b.txt", "9", stat{own + "b.txt": 8}, `the file "b.txt" holds 8 of the 9 bytes of the result`},
		{"grown since", own + "b.txt", "9", stat{own + "b.txt": 10}, ""},
		{"no size", own + "b.txt", "null", stat{own + "b.txt": 0}, ""},
		{"cut by the client", own + "b.txt", "99999999", stat{own + "b.txt": 64 << 20}, ""},
		{"cut short after that", own + "b.txt", "99999999", stat{own + "b.txt": 64<<20 - 1}, `the file "b.txt" holds 67108863 of the 67108864 bytes of the result`},
		{"not to be looked at", own + "b.txt", "9", stat{own + "b.txt": -1}, ""},
		{"another file", "/tmp/b.txt", "9", stat{}, ""},
		{"no name", "", "9", stat{}, ""},
		{"a way out", "/x/projects/../../tool-results/b.txt", "9", stat{}, `the file "b.txt", which held the full text of the result, is gone`},
	} {
		line := `{"parentUuid":"p","type":"user","uuid":"u","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]},` +
			`"toolUseResult":{"stdout":"x","persistedOutputPath":"` + c.path + `","persistedOutputSize":` + c.size + `}}`
		d := dialect{rank: firstUnwritten}.NewDecoder(format.Place{Path: log, Stat: c.files.look})
		got := ""
		for range 2 { // a record that is told anew names the file again
			for _, f := range decodeBy(t, d, line).Findings {
				got += f.Message
				if f.Code != finding.SpillMissing || f.CallID != "toolu_1" || f.Len != int64(len(line)) {
					t.Errorf("%s: %+v", c.name, f)
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		for _, place := range []format.Place{{Path: log}, {Path: filepath.Join("copy", idOf("1")+".jsonl"), Stat: c.files.look}} {
			if b := decodeBy(t, dialect{}.NewDecoder(place), line); len(b.Findings) > 0 {
				t.Errorf("%s: at %+v is said: %v", c.name, place, b.Findings)
			}
		}
	}
}
