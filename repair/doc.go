// Package repair turns a diagnosis into a plan, proves the plan on the result that it would
// have, publishes it and leaves a receipt.
//
//	findings ─► plan ─► result as a reader ─► verified ─► guards ─► case folder ─► published ─► receipt
//
// The case folder lies in sessfix's own state directory, never in an agent's home:
//
//	<case dir>/<name>-<hash of the path>/<n>/
//	    case.json       what is about to be done, written and synced first
//	    original        the file as it was (not for a repair that only appends)
//	    appendix        what is added, for a repair that only appends
//	    quarantine/     the bytes taken out, one file each
//	    receipt.json    what was done; its absence means that the repair was interrupted
//	    undone.json     the original was put back, or an interrupted repair was given up
package repair
