package migrate

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/store"
)

// steps are those that a format has for a file.
func steps(s store.Session) []format.Upgrade {
	u, ok := s.Format.(format.Upgrader)
	if !ok {
		return nil
	}
	name := ""
	if s.Folder() != "" {
		name = filepath.Base(s.Path)
	}
	var out []format.Upgrade
	for _, x := range u.Upgrades() {
		if x.Part == name {
			out = append(out, x)
		}
	}
	return out
}

// way is the chain of steps from one generation to another, or as far as the steps lead that are not optional where to is "". It
// is empty where nothing is to be done. Of several chains the shortest counts.
func way(all []format.Upgrade, from, to string) ([]format.Upgrade, error) {
	if from == to {
		return nil, nil
	}
	type place struct {
		at  string
		way []format.Upgrade
	}
	seen := map[string]bool{from: true}
	furthest := place{at: from}
	for queue := []place{furthest}; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		for _, x := range all {
			if x.From != p.at || seen[x.To] || to == "" && x.Optional {
				continue
			}
			seen[x.To] = true
			next := place{x.To, append(slices.Clone(p.way), x)}
			if x.To == to {
				return next.way, nil
			}
			if len(next.way) > len(furthest.way) {
				furthest = next
			}
			queue = append(queue, next)
		}
	}
	if to == "" {
		return furthest.way, nil
	}
	return nil, fmt.Errorf("from generation %s to %s: %w", from, to, format.ErrNoWay)
}
