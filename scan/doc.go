// Package scan turns bytes into records and byte findings. It knows no agent.
//
//	file.jsonl        record LF record LF … record LF
//	file.jsonl.zst    frame(header LF) frame(record LF …) … frame(record LF …)
//
//	bytes ──► text ──► lines ──► strict JSON check ──► record + captures
//	  │         │         └─ faulty line ─► salvage: whole records cut out, the rest named
//	  │         └─ torn or damaged frame ─► whole lines of its decodable part
//	  └─ every span: stored offset, text offset, physical line, logical line, frame
//
// A bad record is judged by what follows it, never by the error of a decoder: the
// same torn bytes are a torn tail at the end of the file and a torn line in front of a
// whole record.
package scan
