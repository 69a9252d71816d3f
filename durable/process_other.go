//go:build !linux

package durable

func whoHasOpen(string) ([]Process, error) { return nil, nil }

func whoRuns([]string, func(func(string) string) bool) ([]Process, error) { return nil, nil }
