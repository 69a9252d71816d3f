package durable

// Process is one that may be writing to a session.
type Process struct {
	PID  int
	Name string // what it calls itself
	Why  string // what it was found by, for a message
	Dir  string // of WhoRuns: where it works, "" = not known
}

// WhoHasOpen lists the processes, this one left out, that have the file open for writing. Processes of other users
// cannot be looked into without being the superuser and are not listed. It lists nothing on systems other than Linux.
func WhoHasOpen(path string) ([]Process, error) { return whoHasOpen(path) }

// WhoRuns lists the processes of the same user that run one of the named programs and for which match, given a look-up
// in their environment, is true. A program is known by the base name of one of its first three arguments, so that an
// interpreter with a script and one flag is found. This process and its ancestors are left out: an agent may be
// what runs sessfix. It lists nothing on systems other than Linux.
func WhoRuns(names []string, match func(env func(string) string) bool) ([]Process, error) {
	return whoRuns(names, match)
}
