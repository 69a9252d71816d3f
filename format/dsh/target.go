package dsh

import (
	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/session"
)

type targetState struct{ stepSeen bool }

func (d *decoder) wontMigrate(r *session.Record, b *format.Batch, typ []byte, ev event, known bool) {}
