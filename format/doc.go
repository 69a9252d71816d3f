// Package format is the contract between the shared rooms and the agents' formats.
//
// A format recognises its files, names the dialect that a client wrote, and decodes records
// into shared events. Everything beyond that is a power, found by type assertion: closing
// what a crash left open, mending what only this agent can have, telling how to keep a live
// agent out, saying what the client does next. An agent's peculiarity lives in its own package
// below this one and nowhere else.
package format
