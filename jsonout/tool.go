package jsonout

// Tool names the program.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}
