package migrate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"

	"github.com/sessfix/sessfix/scan"
)

// already looks whether the result is there: the new generation begins with the same records then, however they are spelled, and
// may go on.
func (o *Outcome) already(ctx context.Context) error {
	fi, err := os.Lstat(o.Path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return o.refuse("%s is in the way: it is no file", o.Path)
	}
	f, err := os.Open(o.Path)
	if err != nil {
		return err
	}
	defer f.Close()
	framing := o.Session.Dialect.Framing()
	ours, err := scan.New(ctx, o.content, o.content.Size(), scan.Options{Medium: o.in.medium, Framing: framing})
	if err != nil {
		return err
	}
	theirs, err := scan.New(ctx, f, fi.Size(), scan.Options{Medium: o.in.medium, Framing: framing})
	if err != nil {
		return err
	}
	for ours.Next() {
		if !theirs.Next() || !sameJSON(ours.Record().Raw, theirs.Record().Raw) {
			if err := theirs.Err(); err != nil {
				return err
			}
			return o.refuse("%s is there already, and is another from line %d on", filepath.Base(o.Path), ours.Record().Logical)
		}
	}
	o.There = ours.Err() == nil
	return ours.Err()
}

// sameJSON tells whether two records say the same.
func sameJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, y := decoded(a), decoded(b)
	return x != nil && reflect.DeepEqual(x, y)
}

func decoded(raw []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}
