// The moments at which the client is killed: { name, left, steps }. `left` is what is then on disk, in the words of tail.mjs, so that
// a case that misses its moment is found out.
import { compaction, firstAnswer } from './moments/answer.mjs'
import { background, oneCall } from './moments/call.mjs'
import { family, moreThanOnce } from './moments/family.mjs'
import { legacy } from './moments/legacy.mjs'
import { parallel } from './moments/parallel.mjs'
import { patches } from './moments/patch.mjs'

export const moments = [...firstAnswer, ...oneCall, ...background, ...patches, ...parallel, ...legacy, ...family, ...compaction, ...moreThanOnce]
