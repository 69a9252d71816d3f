// Package migrate brings sessions from one generation of their format to a newer one. A format declares the steps; the chain of
// those that lead to the generation that is wanted runs over the log as a repair would leave it, record by record. The result
// is read as its new client would, and only then published: beside the old generation, or in its place, with the original kept.
//
//	log ─► repaired ─► prepared ─► step ─► step ─► … ─► verified ─► published ─► receipt
package migrate
