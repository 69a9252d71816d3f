// Package fork makes a session of its own that begins with records of another one. It finds the places where a session may be
// cut, lets the format write the child, proves it as a reader would, and only then puts it in place. The parent is read and
// never written.
package fork
