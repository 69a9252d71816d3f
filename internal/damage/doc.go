// Package damage makes damaged sessions for tests, by recipe. A damaged file that nobody can read
// is a poor specification, so every one of them is written down as a healthy session and the steps
// that break it:
//
//	what:    a crash in the middle of an append left half of the last record
//	source:  docs/formats/dsh.md, damage table, row 1
//	agent:   dsh
//	file:    session.jsonl
//	verdict: repairable
//	finding: TORN_TAIL line=12 offset=L12 length=rest
//	finding: OPEN_TURN line=2
//	closer:  turn/end
//	result:  1-11
//
//	from sessions/dsh/tiny.v0.jsonl
//	cut -40
//
// The head says what must come of it, the steps what was done. Recipe.go explains the keys, steps.go
// the steps. A session may be a folder; then the steps say in which of its files they are, and the
// head which of them it means:
//
//	finding: TORN_TAIL file=updates.jsonl line=3
//	result:  updates.jsonl 1-2
//
//	from sessions/grok/tiny/
//	in updates.jsonl
//	cut -40
//
// The same steps, made up at random, drive the property tests, so that a failing
// property prints a recipe that can be kept as a case.
package damage
