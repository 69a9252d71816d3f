// Package store finds sessions: paths become homes, sessions and their files. It reads only
// what it takes to recognise them.
package store
