package format

import "testing"

func TestRankOf(t *testing.T) {
	for release, want := range map[string]int{"2.1.81": 2_001_081, "0.142.3": 142_003, "0.0.0": 0, "999.999.999": 999_999_999} {
		if got, ok := RankOf(release); !ok || got != want {
			t.Errorf("%s is %d", release, got)
		}
	}
	for _, release := range []string{"", "1", "1.2", "1.2.3.4", "1.2.x", "1.-2.3", "1.2.1000", "v1.2.3"} {
		if _, ok := RankOf(release); ok {
			t.Errorf("%q is a release", release)
		}
	}
}
