package export

// Options say how a session is told.
type Options struct {
	// Content: with the text of the conversation; without it lengths and hashes stand in its place.
	Content bool
	// Prompt is what the user says next, behind the messages; "" = nothing.
	Prompt string
}
