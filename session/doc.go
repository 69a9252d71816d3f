// Package session holds the words that all other packages share, as types.
//
//	session   one conversation as stored: one or several parts under one identity
//	part      one file of a session in one role
//	record    one complete stored unit of a part: a line, or a line inside a zstd frame
//	span      where bytes stand in the stored file and in the part's text
//	event     what a record means in terms that all agents share
//	tail      the state that a log ends in
//
// It imports nothing of ours.
package session
