// Package dsh reads the session logs of DeepSeek Harness.
//
//	<home>/sessions/<project>/<session>/session[.vN].jsonl[.zstd]
//
//	line 1   {"type":"session","version":N,"id":…,"createdAt":…,"cwd":…,"delegationDepth":…}
//	line 2…  {"type":T,"seq":S,"time":MS,"data":{…},"surfaceOp":…,"sourceEventSeqs":[…]}
//	         {"type":"text-chunks","seq0":S,"time0":MS,"data":{…,"dt":[…],"texts":[…]}}   versions 0 and 1
//
// A zstd log is a chain of frames: the header line alone in the first, then one frame for
// each append, each with a checksum.
//
// seq is dense from 0; a packed row takes as many numbers as it has members. A turn holds
// steps, a step holds an assistant message, the start (tool/call) of each call that it asks
// for, and the results. What the model sees is the surface: messages appended, or put in place
// of a range of earlier ones.
//
//	version  file                 written by
//	0        session.jsonl        0.1.0, 0.1.1
//	1        session.v1.jsonl     alphas
//	2        session.v2.jsonl     0.1.3
//	3        session.v3.jsonl     0.1.5
//	4        session.v4.jsonl     0.1.7, 0.2.0
//
// Facts are from deepseek-ai/deepseek-harness: packages/core/session/src (types, repair,
// surface, chunk-rows, known-event-types), packages/session/session-persistence-jsonl/src
// (format, index, zstd), the published session-format packages, and from measuring them.
package dsh
