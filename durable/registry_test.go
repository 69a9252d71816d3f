package durable_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sessfix/sessfix/durable"
)

// An entry counts when its process lives and started then, when it cannot be read, and when it belongs to another
// machine. Files that are no entries are not opened.
func TestRegistry(t *testing.T) {
	onlyLinux(t)
	stat, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	start := string(bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])[19])
	machine, err := os.ReadFile("/etc/machine-id")
	if err != nil {
		t.Skip("this machine has no id")
	}
	ns, _ := os.Readlink("/proc/self/ns/pid")
	here := "linux:" + strings.TrimSpace(string(machine)) + ":" + ns
	parse := func(name string, data []byte) (o durable.Owner, ok bool) {
		_, err := fmt.Sscanf(string(data), "%d %s %s %s", &o.PID, &o.Session, &o.Start, &o.Domain)
		return o, err == nil
	}
	mine := func(name string) bool { return strings.HasSuffix(name, ".json") }
	me := os.Getpid()
	for _, c := range []struct {
		name, file, entry string
		found             int
	}{
		{"alive", "1.json", fmt.Sprintf("%d s %s %s", me, start, here), 1},
		{"another session", "1.json", fmt.Sprintf("%d other %s %s", me, start, here), 0},
		{"the number was given again", "1.json", fmt.Sprintf("%d s 1 %s", me, here), 0},
		{"ended", "1.json", fmt.Sprintf("%d s %s %s", 1<<30, start, here), 0},
		{"another machine", "1.json", fmt.Sprintf("%d s %s linux:elsewhere", 1<<30, start), 1},
		{"torn", "1.json", "47", 1},
		{"empty", "1.json", "", 1},
		{"a key", "1.key", fmt.Sprintf("%d s %s %s", me, start, here), 0},
	} {
		dir := t.TempDir()
		perm := os.FileMode(0o600)
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.entry), perm); err != nil {
			t.Fatal(err)
		}
		got, err := durable.WhoIsRegistered(dir, parse, mine, "s")
		if err != nil || len(got) != c.found {
			t.Errorf("%s: %v %v", c.name, got, err)
		}
	}
	if got, err := durable.WhoIsRegistered(filepath.Join(t.TempDir(), "none"), parse, mine, "s"); err != nil || got != nil {
		t.Errorf("no registry: %v %v", got, err)
	}
}
