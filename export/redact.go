package export

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/sessfix/sessfix/format"
)

// Redact takes the text of the conversation out of a message: lengths and the beginnings of hashes stand in its place. Ids, names
// of tools, kinds and roles stay.
func Redact(m *format.Message) { redact(m.Blocks) }

func redact(blocks []format.Block) {
	for i := range blocks {
		b := &blocks[i]
		if b.Text != "" && b.Kind != format.Other {
			b.Text = Stub(b.Text)
		}
		if b.Kind == format.Other && len(b.Text) > 40 {
			b.Text = Stub(b.Text)
		}
		if len(b.Input) > 0 {
			b.Input, _ = json.Marshal(map[string]string{"redacted": Stub(string(b.Input))})
		}
		if b.Data != "" {
			b.Data = Stub(b.Data)
		}
		if b.URL != "" {
			b.URL = Stub(b.URL)
		}
		if b.Signature != "" {
			b.Signature = Stub(b.Signature)
		}
		redact(b.Content)
	}
}

// Stub stands for a text.
func Stub(text string) string {
	h := sha256.Sum256([]byte(text))
	unit := "bytes"
	if len(text) == 1 {
		unit = "byte"
	}
	return fmt.Sprintf("[%d %s, sha256 %s]", len(text), unit, hex.EncodeToString(h[:6]))
}
