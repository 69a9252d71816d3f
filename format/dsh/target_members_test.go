package dsh

import (
	"slices"
	"sort"
	"strings"
	"testing"
)

// unclassified types are written since version 2, and v2→v3 refuses to transform them.
var unclassified = []string{
	"deliverables/presented", "fork/session-source", "image/offload", "plugin:fork/session-source",
	"subagent/catalog", "workspace/changes",
}

// early types are in the frozen table of version 0, though the vocabulary of 0.1.1 knows them only
// as types to be ignored.
var early = []string{"model/selection", "session-log-deepseek/delivery-accepted", "subagent/model-selection-policy"}

// TestFrozenCoversVocabulary: the members of exactly those types are listed that a log of
// versions 0 to 2 may hold.
func TestFrozenCoversVocabulary(t *testing.T) {
	table := frozenTable()
	for version := range 3 {
		var want, got []string
		for typ, ev := range vocabulary {
			if ev.legacy {
				if table[renamed[typ]] == nil {
					t.Errorf("%s becomes %q, of which no members are listed", typ, renamed[typ])
				}
				continue
			}
			if ev.since <= version && version <= ev.till && !slices.Contains(unclassified, typ) || slices.Contains(early, typ) {
				want = append(want, typ)
			}
		}
		for typ, rec := range table {
			if typ[0] != '@' && rec.versions.hold(version) {
				got = append(got, typ)
			}
		}
		sort.Strings(want)
		sort.Strings(got)
		if !slices.Equal(want, got) {
			t.Errorf("version %d: the vocabulary has\n%s\nthe table has\n%s", version, strings.Join(want, "\n"), strings.Join(got, "\n"))
		}
	}
}

// TestFrozenIsUsed: nothing stands in the table that no event reaches, and every form is known.
func TestFrozenIsUsed(t *testing.T) {
	table := frozenTable()
	used := map[string]bool{}
	var visit func(name string)
	visit = func(name string) {
		if used[name] {
			return
		}
		used[name] = true
		for _, f := range table[name].forms {
			if f.other != "" {
				visit(f.other)
			}
			for _, m := range f.members {
				form := strings.TrimRight(strings.Trim(m.form, "["), "]+1")
				if m.form != "" && form == "above" {
					form = "above0"
				}
				switch {
				case form == "":
				case form[0] == '@':
					visit(form)
				case !slices.Contains(scalars, form):
					t.Errorf("%s.%s: nothing explains the form %q", name, m.name, form)
				}
			}
		}
	}
	for name := range table {
		if name[0] != '@' {
			visit(name)
		}
	}
	for name := range table {
		if !used[name] {
			t.Errorf("%s is never used", name)
		}
	}
}

func TestFrozenMalformed(t *testing.T) {
	for _, text := range []string{
		"a x", "a b:@none", "a.b", "a b:text\na c:text", "a b^x:text", "a.k v -> @none", "a b:text\na.k v",
	} {
		if _, err := parseFrozen(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
