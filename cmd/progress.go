package cmd

import (
	"fmt"
	"time"
)

// progress tells on standard error how far long work is: only on a terminal, not before half a
// second has passed, at most a few times a second.
type progress struct {
	a       *app
	verb    string
	total   int
	begun   time.Time
	last    time.Time
	visible bool
}

func (a *app) progress(verb string, total int) *progress {
	return &progress{a: a, verb: verb, total: total, begun: time.Now()}
}

func (p *progress) step(done int) {
	if p.a.quiet || !p.a.io.ErrTTY || p.total < 2 {
		return
	}
	now := time.Now()
	if now.Sub(p.begun) < 500*time.Millisecond || now.Sub(p.last) < 100*time.Millisecond {
		return
	}
	p.last, p.visible = now, true
	fmt.Fprintf(p.a.io.Err, "\r\x1b[K%s %d of %d sessions", p.verb, done, p.total)
}

func (p *progress) end() {
	if p.visible {
		fmt.Fprint(p.a.io.Err, "\r\x1b[K")
	}
}
