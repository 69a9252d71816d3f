package dsh

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"

	"github.com/sessfix/sessfix/finding"
	"github.com/sessfix/sessfix/format"
)

// Beside judges the files in a session's directory: an older generation of it, or the same
// generation in the other encoding.
func (Format) Beside(a format.Around) []finding.Finding {
	version, packed, ok := logName(base(a.Path))
	if !ok {
		return nil
	}
	entries, _ := fs.ReadDir(a.Dir, ".")
	var out []finding.Finding
	later := ""
	for _, e := range entries {
		name := e.Name()
		v, p, ok := logName(name)
		if !ok || name == base(a.Path) {
			continue
		}
		if v == version && p != packed {
			f := finding.New(finding.DualEncoding)
			f.Message = fmt.Sprintf("%s stands beside %s; the client accepts one encoding in a root and refuses both sessions otherwise", name, base(a.Path))
			out = append(out, f)
		}
		if v > version {
			later = name
		}
	}
	if later != "" {
		f := finding.New(finding.GenerationBeside)
		f.Message = fmt.Sprintf("%s stands beside: newer builds open that one", later)
		out = append(out, f)
	}
	return out
}

// Root is the sessions root that a log lies in, "" for a copy elsewhere.
func (Format) Root(path string) string {
	abs, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	if _, _, _, placed := placeOf(abs); placed {
		return filepath.Dir(filepath.Dir(filepath.Dir(abs)))
	}
	if isProject(base(filepath.Dir(abs))) {
		return filepath.Dir(filepath.Dir(abs))
	}
	return ""
}

// Survey finds what makes the client fail to list a whole root: logs in the retired flat
// layout, both encodings in one root, one id under two projects.
func (Format) Survey(s format.Survey) []finding.Finding {
	var out []finding.Finding
	var plain, packed []string
	where := map[string][]string{}
	for _, f := range files(s.Root) {
		parts := strings.Split(f, "/")
		if !isProject(parts[0]) {
			continue
		}
		switch len(parts) {
		case 2:
			if strings.HasSuffix(f, ".jsonl") || strings.HasSuffix(f, ".jsonl.zstd") {
				n := finding.New(finding.FlatLayout)
				n.Message = fmt.Sprintf("%s lies directly under its project, as no supported build writes it", f)
				out = append(out, n)
			}
		case 3:
			_, z, ok := logName(parts[2])
			if !ok {
				continue
			}
			if z {
				packed = append(packed, f)
			} else {
				plain = append(plain, f)
			}
			at := where[parts[1]]
			if len(at) == 0 || at[len(at)-1] != parts[0] {
				where[parts[1]] = append(at, parts[0])
			}
		}
	}
	if len(plain) > 0 && len(packed) > 0 {
		n := finding.New(finding.DualEncoding)
		n.Message = fmt.Sprintf("%d plain and %d compressed logs in one root; the client refuses those of the encoding it is not configured for: %s, %s", len(plain), len(packed), plain[0], packed[0])
		out = append(out, n)
	}
	ids := make([]string, 0, len(where))
	for id := range where {
		ids = append(ids, id)
	}
	sort.Strings(ids)
	for _, id := range ids {
		if len(where[id]) > 1 {
			n := finding.New(finding.SessionIDDuplicate)
			n.Message = fmt.Sprintf("session %s lies under %s", id, strings.Join(where[id], " and "))
			out = append(out, n)
		}
	}
	return out
}

// files lists what lies in a root, at most two directories deep, as sorted paths from there.
func files(root fs.FS) []string {
	var out []string
	fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
		case !d.IsDir():
			out = append(out, p)
		case strings.Count(p, "/") >= 2:
			return fs.SkipDir
		}
		return nil
	})
	sort.Strings(out)
	return out
}
