package dsh

import "github.com/sessfix/sessfix/format"

func beginFour(format.Source) (format.Stage, error) { return nil, format.Refuse(-1, "not yet") }
