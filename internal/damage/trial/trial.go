// Package trial repairs a session in memory and holds the outcome against the promises that
// repair makes for every input. What it expects it works out by itself, with the standard
// library's JSON and a frame reader of its own, so that a mistake in package scan cannot hide
// itself.
package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/sessfix/sessfix/edit"
	"github.com/sessfix/sessfix/format/all"
	"github.com/sessfix/sessfix/internal/damage"
	"github.com/sessfix/sessfix/repair"
	"github.com/sessfix/sessfix/scan"
	"github.com/sessfix/sessfix/store"
	"github.com/sessfix/sessfix/verify"
)

// Path names a session that lies nowhere, so that no neighbour is looked at.
const (
	Path       = "no-such-directory/session.jsonl"
	PackedPath = Path + ".zstd"
)

// Trial is what became of one input.
type Trial struct {
	In     []byte
	Packed bool
	// Unknown: the file was not taken for a session of any agent.
	Unknown bool
	// Document: the file is one JSON value and no log.
	Document bool
	Before   *verify.Result
	After    *verify.Result // of the planned result; nil unless the input is repairable
	Plan     *repair.Plan
	Result   *edit.Result
	Out      []byte // the input itself where nothing is to be done
}

// Options are those of a run of the program without flags.
func Options() store.Options {
	return store.Options{Formats: all.Formats(), Env: func(string) string { return "" }}
}

// Look only verifies data as if it lay at path.
func Look(ctx context.Context, path string, data []byte) (*Trial, error) {
	t, _, err := look(ctx, path, data)
	return t, err
}

func look(ctx context.Context, path string, data []byte) (*Trial, verify.Input, error) {
	t := &Trial{In: data, Out: data}
	r := bytes.NewReader(data)
	s, err := store.Recognise(ctx, path, r, r.Size(), Options())
	if errors.Is(err, store.ErrUnknown) {
		t.Unknown = true
		return t, verify.Input{}, nil
	}
	if err != nil {
		return t, verify.Input{}, fmt.Errorf("recognise: %w", err)
	}
	in := verify.InputOf(s, r, r.Size())
	t.Packed = in.Medium != scan.Lines
	if t.Before, err = verify.Session(ctx, in); err != nil {
		return t, in, fmt.Errorf("verify: %w", err)
	}
	return t, in, nil
}

// Of repairs data as if it lay at path. An error is a broken promise, or that it could not look.
func Of(ctx context.Context, path string, data []byte) (*Trial, error) {
	t, in, err := look(ctx, path, data)
	if err != nil || t.Unknown || t.Before.Verdict != verify.Repairable {
		return t, err
	}
	if t.Plan, err = repair.MakePlan(ctx, in, t.Before); err != nil {
		return t, fmt.Errorf("plan: %w", err)
	}
	if t.Result, err = t.Plan.Apply(in.R, in.Size); err != nil {
		return t, fmt.Errorf("apply: %w", err)
	}
	if t.After, err = repair.Prove(ctx, in, t.Result); err != nil {
		return t, fmt.Errorf("prove: %w", err)
	}
	var out bytes.Buffer
	if _, err = t.Result.WriteTo(&out); err != nil {
		return t, fmt.Errorf("write: %w", err)
	}
	t.Out = out.Bytes()
	return t, nil
}

// Part is the trial of a file of a folder, of which a repair made out beside the others.
func Part(in, out []byte, document bool, o *repair.Outcome) *Trial {
	return &Trial{In: in, Out: out, Document: document, Before: o.Before, After: o.After, Plan: o.Plan, Result: o.Result}
}

// Refused tells that nothing may be done, for whatever reason.
func (t *Trial) Refused() bool { return t.Unknown || t.Before.Verdict == verify.Refused }

// Repaired tells whether the plan changes anything.
func (t *Trial) Repaired() bool { return t.Result != nil }

// Aside is all bytes that left the file, each with its stored form and, where it could be
// decoded, its text.
func (t *Trial) Aside() [][]byte {
	var out [][]byte
	if t.Result == nil {
		return nil
	}
	for _, r := range t.Result.Removed {
		if r.Data != nil {
			out = append(out, r.Data)
			continue
		}
		raw := t.In[r.Off : r.Off+r.Len]
		out = append(out, raw)
		if t.Packed {
			if text, err := damage.Unpack(raw); err == nil {
				out = append(out, text)
			}
		}
	}
	return out
}

// Check holds the outcome against the promises that need no other input. Every whole record must
// be in the output, in the order of the input, or in what was set aside; strict leaves out the
// second.
func (t *Trial) Check(strict bool) error {
	if !t.Repaired() {
		return nil
	}
	if err := t.account(); err != nil {
		return err
	}
	if t.After.Verdict != verify.Clean {
		return fmt.Errorf("the result is %s", t.After.Verdict)
	}
	if t.Document {
		if !json.Valid(t.Out) {
			return errors.New("the result is no JSON")
		}
		return nil
	}
	out, err := Lines(t.Out)
	if err != nil {
		return fmt.Errorf("the result cannot be read: %w", err)
	}
	return t.records(out, strict)
}

// account checks with nothing but offsets that every byte of the input is kept or set aside.
func (t *Trial) account() error {
	a := t.Result.Account
	if a.Size != int64(len(t.In)) || !a.Balanced() {
		return fmt.Errorf("the account does not balance: %+v of %d bytes", a, len(t.In))
	}
	if int64(len(t.Out)) != a.Kept+a.Added || t.Result.Size() != int64(len(t.Out)) {
		return fmt.Errorf("the result has %d bytes, the account says %+v", len(t.Out), a)
	}
	at, gone, inOut := int64(0), int64(0), 0
	// What is only inserted divides what is kept. Frames are never divided: they are written again.
	var inserted []int64
	for _, e := range t.Plan.Edits {
		if e.Del == 0 && !t.Packed {
			inserted = append(inserted, e.At)
		}
	}
	keep := func(to int64) error {
		if to < at {
			return fmt.Errorf("bytes at %d are removed twice", to)
		}
		for at < to {
			stop := to
			for _, i := range inserted {
				if at < i && i < stop {
					stop = i
				}
			}
			i := bytes.Index(t.Out[inOut:], t.In[at:stop])
			if i < 0 {
				return fmt.Errorf("bytes %d to %d are neither kept nor removed", at, stop)
			}
			inOut += i + int(stop-at)
			at = stop
		}
		return nil
	}
	for _, r := range t.Result.Removed {
		if r.Len == 0 {
			continue // inside a frame that is accounted for as a whole
		}
		if err := keep(r.Off); err != nil {
			return err
		}
		at, gone = r.Off+r.Len, gone+r.Len
	}
	if err := keep(int64(len(t.In))); err != nil {
		return err
	}
	if gone != a.Replaced+a.Quarantined {
		return fmt.Errorf("%d bytes are listed as removed, the account says %+v", gone, a)
	}
	return nil
}

// records finds every whole record of the input again.
func (t *Trial) records(out [][]byte, strict bool) error {
	var aside []byte
	if !strict {
		aside = bytes.Join(t.Aside(), []byte("\n"))
	}
	at := 0
	for n, rec := range Whole(t.In) {
		if t.moved(rec) {
			continue
		}
		i := at
		for i < len(out) && !bytes.Equal(out[i], rec) {
			i++
		}
		if i < len(out) {
			at = i + 1
			continue
		}
		if i := t.filledIn(rec, out[at:]); i >= 0 {
			at += i + 1
			continue
		}
		if strict || !bytes.Contains(aside, rec) {
			return fmt.Errorf("whole record %d of the input is lost: %.80s", n+1, rec)
		}
	}
	return nil
}

// filledIn finds the line that is a record with something inserted or replaced, which is how a missing number, an
// empty id or a wrong one is mended; -1 if there is none.
func (t *Trial) filledIn(rec []byte, out [][]byte) int {
	for _, e := range t.Plan.Edits {
		if e.Aside || t.Packed && e.Del > 0 || len(e.Ins) == 0 || bytes.Contains(e.Ins, []byte("\n")) {
			continue
		}
		was := t.In[e.At : e.At+e.Del]
		for i, l := range out {
			if len(l)+len(was)-len(e.Ins) == len(rec) && undone(l, e.Ins, was, rec) {
				return i
			}
		}
	}
	return -1
}

// moved tells whether a record is put elsewhere as it is.
func (t *Trial) moved(rec []byte) bool {
	return slices.ContainsFunc(t.Plan.Edits, func(e edit.Edit) bool { return e.Del == 0 && bytes.Equal(e.Ins, append(bytes.Clone(rec), '\n')) })
}

// undone tells whether a line becomes rec where one of the places that read ins reads was instead.
func undone(l, ins, was, rec []byte) bool {
	for at := 0; ; {
		i := bytes.Index(l[at:], ins)
		if i < 0 {
			return false
		}
		at += i
		if bytes.Equal(slices.Concat(l[:at], was, l[at+len(ins):]), rec) {
			return true
		}
		at++
	}
}

// Lines are the lines of a healthy session's text, the newline of the last one required.
func Lines(data []byte) ([][]byte, error) {
	text := data
	if bytes.HasPrefix(data, []byte{0x28, 0xB5, 0x2F, 0xFD}) {
		if _, err := damage.Frames(data); err != nil {
			return nil, err
		}
		var err error
		if text, err = damage.Unpack(data); err != nil {
			return nil, err
		}
	}
	if !bytes.HasSuffix(text, []byte("\n")) {
		return nil, errors.New("the text does not end in a newline")
	}
	return bytes.Split(text[:len(text)-1], []byte("\n")), nil
}

// Whole are the records that anybody can read in a damaged file: lines of their own that are
// JSON objects, the last one with or without its newline. Of a compressed file only the frames in
// front of the first damage count, and lines whose newline is among them.
func Whole(data []byte) [][]byte {
	text, packed := data, bytes.HasPrefix(data, []byte{0x28, 0xB5, 0x2F, 0xFD})
	if packed {
		text = nil
		frames, _ := damage.Frames(data)
		for _, f := range frames {
			t, err := damage.Unpack(f)
			if err != nil {
				break
			}
			text = append(text, t...)
		}
	}
	var out [][]byte
	for len(text) > 0 {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		text = rest
		if !whole && packed {
			break
		}
		// A line that is not UTF-8 changes, where its reader would have changed it too.
		if len(line) > 0 && line[0] == '{' && json.Valid(line) && utf8.Valid(line) {
			out = append(out, line)
		}
	}
	return out
}
