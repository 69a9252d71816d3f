package verify

import (
	"context"
	"fmt"

	"github.com/sessfix/sessfix/format"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/session"
)

// Each goes over the records of a log, in their order, with what they mean. Both are valid until the next.
func Each(ctx context.Context, in Input, yield func(r *session.Record, b *format.Batch) error) error {
	s, err := scan.New(ctx, in.R, in.Size, scan.Options{Medium: in.Medium, Framing: in.Dialect.Framing()})
	if err != nil {
		return err
	}
	dec := in.Dialect.NewDecoder(in.place())
	var b format.Batch
	for s.Next() {
		b.Reset()
		dec.Decode(s.Record(), &b)
		if err := yield(s.Record(), &b); err != nil {
			return err
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s: %w", in.Path, err)
	}
	return nil
}
