// Package jsonout is the JSON that reports and exports share: how a value is written, how a finding looks, and who wrote it.
package jsonout
