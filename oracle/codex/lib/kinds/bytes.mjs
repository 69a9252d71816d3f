// Damage to bytes: what a cut write, a full disk, a lost block or an editor leaves.
import { CLEAN, REPAIRABLE, answer, event, half, kind } from './draft.mjs'

const zeros = count => Buffer.alloc(count)
const middle = draft => draft.places(answer)[0]
const behind = (...parts) => Buffer.concat(parts)

function badByte(draft) {
  const line = draft.lines[middle(draft)]
  line[line.indexOf('six') >= 0 ? line.indexOf('six') : line.length - 9] = 0xff
}

function tornTail(draft) {
  const last = draft.lines.pop()
  return behind(draft.bytes(), half(last))
}

function tornInALetter(draft) {
  const text = draft.bytes()
  return text.subarray(0, text.lastIndexOf('–') + 1)
}

export const bytes = [
  kind('torn-tail', 'ferry', tornTail, { asIs: /had to end the last line/, verdict: REPAIRABLE }),
  kind('torn-tail-legacy', 'legacy', tornTail, { asIs: /had to end the last line/, verdict: REPAIRABLE }),
  kind('torn-tail-one-byte', 'ferry', draft => behind(draft.bytes(), Buffer.from('{')), { asIs: /had to end the last line/, verdict: REPAIRABLE }),
  kind('torn-tail-ended', 'ferry', draft => draft.replace(draft.lines.length - 1, half(draft.lines.at(-1))), { asIs: /is no record/, verdict: REPAIRABLE }),
  kind('torn-tail-in-a-letter', 'ferry', tornInALetter, { asIs: /not listed/, verdict: REPAIRABLE }),
  kind('torn-tail-in-a-letter-legacy', 'legacy', tornInALetter, { asIs: /not resumed.*valid UTF-8/, verdict: REPAIRABLE }),
  kind('no-line-feed', 'ferry', draft => draft.bytes().subarray(0, -1), { asIs: /had to end the last line/, verdict: REPAIRABLE }),
  kind('torn-line-between', 'ferry', draft => draft.insert(middle(draft), half(draft.lines[middle(draft)])), { asIs: /is no record/, verdict: REPAIRABLE }),
  kind('torn-line', 'ferry', draft => draft.replace(middle(draft), half(draft.lines[middle(draft)])), { asIs: /is no record/ }),
  kind('torn-line-legacy', 'legacy', draft => draft.replace(middle(draft), half(draft.lines[middle(draft)])), { asIs: /is no record/, verdict: REPAIRABLE }),
  kind('glued-whole', 'ferry', glueWhole, { asIs: /^lost: /, verdict: REPAIRABLE }),
  kind('glued-whole-legacy', 'legacy', glueWhole, { asIs: /^lost: /, verdict: REPAIRABLE }),
  kind('glued-torn', 'ferry', glueTorn, { asIs: /^lost: /, verdict: REPAIRABLE }),
  kind('glued-torn-legacy', 'legacy', glueTorn, { asIs: /^lost: /, verdict: REPAIRABLE }),
  kind('nul-tail', 'ferry', draft => behind(draft.bytes(), zeros(512)), { asIs: /had to end the last line/, verdict: REPAIRABLE }),
  kind('nul-tail-legacy', 'legacy', draft => behind(draft.bytes(), zeros(512)), { asIs: /had to end the last line/, verdict: REPAIRABLE }),
  kind('nul-before-a-record', 'ferry', draft => draft.replace(middle(draft), behind(zeros(64), draft.lines[middle(draft)])), { asIs: /^lost: /, verdict: REPAIRABLE }),
  kind('nul-line', 'ferry', draft => draft.insert(middle(draft), zeros(64)), { asIs: /is no record/, verdict: REPAIRABLE }),
  kind('nul-block', 'ferry', (draft) => {
    const text = draft.bytes()
    return text.fill(0, draft.offset(middle(draft)) + 40, draft.offset(middle(draft) + 1) + 40)
  }, { asIs: /is no record/ }),
  kind('blank-lines', 'ferry', draft => draft.bytes('\n\n'), { verdict: CLEAN }),
  kind('crlf', 'ferry', draft => draft.bytes('\r\n')),
  kind('bad-utf8', 'ferry', badByte, { asIs: /not listed/, verdict: REPAIRABLE, adds: true }),
  kind('bad-utf8-legacy', 'legacy', badByte, { asIs: /not resumed.*valid UTF-8/, verdict: REPAIRABLE, adds: true }),
  kind('bom', 'ferry', draft => behind(Buffer.from('\ufeff'), draft.bytes()), { asIs: /not resumed.*does not start with session metadata/, verdict: REPAIRABLE }),
  kind('bom-legacy', 'legacy', draft => behind(Buffer.from('\ufeff'), draft.bytes()), { asIs: /not resumed.*does not start with session metadata/, verdict: REPAIRABLE }),
  kind('empty', 'ferry', () => Buffer.alloc(0), { asIs: /not resumed.*is empty/ }),
  kind('one-line-feed', 'ferry', () => Buffer.from('\n'), { asIs: /not resumed.*is empty/ }),
  kind('all-nul', 'ferry', draft => zeros(draft.bytes().length), { asIs: /not resumed/ }),
  kind('a-line-twice', 'ferry', draft => draft.append(draft.lines.at(-1))),
  kind('a-line-gone', 'ferry', draft => draft.remove(draft.places(event('token_count'))[0])),
]

function glueWhole(draft) {
  const place = middle(draft)
  draft.replace(place, behind(draft.lines[place], draft.lines[place + 1]))
  draft.remove(place + 1)
}

/** A write that was cut off, and an older client that went on right behind it. */
function glueTorn(draft) {
  const place = middle(draft)
  draft.replace(place, behind(half(draft.lines[place - 1]), draft.lines[place]))
  draft.remove(place - 1)
}
