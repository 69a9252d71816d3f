package pi

import (
	"strconv"

	"github.com/sessfix/sessfix/format"
)

// renaming is the step to version 3: messages of hooks have the role custom.
type renaming struct{ begun bool }

func beginCustom(format.Source) (format.Stage, error) { return &renaming{}, nil }

// Record changes a header's version and the role of a message.
func (t *renaming) Record(l format.Line, out format.Out) error {
	f, err := recordOf(l)
	if err != nil {
		return err
	}
	switch {
	case string(f.Str(kType)) == "session":
		list := []splice{f.stands(kVersion, strconv.Itoa(newest))}
		if !t.begun {
			list = append(list, origin(f, oldMembers(l.Raw)[oBranchedFrom])...)
		}
		l.Raw = spliced(l.Raw, list...)
	case f.hook():
		l.Raw = spliced(l.Raw, value(f.At(kRole), `"custom"`))
	}
	t.begun = true
	return out.Put(l)
}

// End has nothing to add.
func (t *renaming) End(format.Out) error { return nil }
