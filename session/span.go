package session

// Span says where bytes stand. Every statement sessfix makes about a file carries one.
type Span struct {
	// Off and Len are stored bytes: in the file as it lies on disk.
	Off, Len int64
	// Text and TextLen are the same bytes in the part's text: the file itself when it is
	// plain, its decompressed lines when it is framed.
	Text, TextLen int64
	// Line is the physical line of a plain file, Logical the line of the text; both count
	// from 1, 0 means that there is none.
	Line, Logical int64
	// Frame counts compressed frames from 1; 0 in a plain file.
	Frame int64
}

// End is the offset behind the last stored byte.
func (s Span) End() int64 { return s.Off + s.Len }

// TextEnd is the offset behind the last byte of text.
func (s Span) TextEnd() int64 { return s.Text + s.TextLen }
