// Damage in a family: a parent that changes under its children, bases that are not there.
import { REFUSE, REPAIRABLE, answer, event, half, item, kind } from './draft.mjs'

const CHILD = 1
const OLDER = 0
const NEWER = 1

const gone = { gone: true }
const base = change => draft => draft.edit(0, (record) => { change(record.payload.history_base, record.payload) })
const tear = draft => draft.replace(draft.lines.length - 1, half(draft.lines.at(-1)))
const tornTail = (draft) => {
  tear(draft)
  return draft.bytes().subarray(0, -1)
}

/** Something happens to the bytes of the first answer and those around it, and nothing moves. */
const inPlace = change => (draft) => {
  const text = draft.bytes()
  const place = draft.places(answer)[0]
  change(text, draft.offset(place), draft.offset(place + 1))
  return text
}

/** The parent had gone on, and was killed in a call. */
function stopped(draft) {
  draft.cut(draft.places(event('task_complete')).at(-1))
  const call = draft.at(draft.places(item('function_call'))[0])
  const { timestamp, ordinal } = draft.at(-1)
  draft.append({ ...call, timestamp, ordinal: ordinal + 1, payload: { ...call.payload, id: 'fc_late', call_id: 'call_late' } })
}

function bareShort(draft) {
  draft.cut(draft.places(event('task_complete'))[0] + 1)
}

export const lineage = [
  kind('parent-gone', 'fork', () => gone, { asIs: /missing source rollout/, verdict: REFUSE }),
  kind('parent-short', 'fork', bareShort, { asIs: /not resumed.*past the source rollout/, verdict: REFUSE }),
  kind('parent-torn-in-the-shared-part', 'fork', (draft) => {
    bareShort(draft)
    return draft.bytes().subarray(0, -30)
  }, { asIs: /not resumed.*past the source rollout/, verdict: REFUSE }),
  kind('parent-torn-tail', 'fork', tornTail, { asIs: /had to end the last line/, verdict: REPAIRABLE }),
  kind('parent-stopped', 'fork', stopped, { asIs: /was cut off/, verdict: REPAIRABLE, adds: true }),
  kind('parent-one-byte-more', 'fork', draft => draft.replace(1, ` ${draft.lines[1]}`)),
  kind('parent-longer', 'fork', draft => draft.replace(1, `${' '.repeat(700)}${draft.lines[1]}`), { asIs: /lost: / }),
  kind('parent-bad-line', 'fork', inPlace((text, at, end) => text.fill('#', at + 30, end - 1)), { verdict: REPAIRABLE }),
  kind('parent-glued', 'fork', inPlace((text, at, end) => text.fill(' ', end - 1, end)), { asIs: /lost: /, verdict: REPAIRABLE }),
  kind('parent-nul-before-a-record', 'fork', inPlace((text, at) => text.fill(0, at - 20, at)), { asIs: /lost: / }),
  kind('parent-bad-utf8', 'fork', inPlace((text, at) => { text[text.indexOf('Twenty', at)] = 0xff }), { asIs: /not listed/, verdict: REPAIRABLE, adds: true }),
  kind('parent-bom', 'fork', draft => Buffer.concat([Buffer.from('\ufeff'), draft.bytes()]), { asIs: /not resumed/, verdict: REPAIRABLE }),
  kind('parent-header-gone', 'fork', draft => draft.remove(0), { asIs: /not resumed/ }),
  kind('parent-header-zeroed', 'fork', draft => draft.bytes().fill(0, 0, draft.lines[0].length), { asIs: /not resumed/ }),
  kind('parent-output-twice', 'fork', (draft) => {
    const [place] = draft.places(item('function_call_output'))
    draft.append(draft.lines[place])
    draft.renumber()
  }, { asIs: /has 2 outputs/ }),
  kind('child-torn-tail', 'fork', tornTail, { file: CHILD, asIs: /had to end the last line/, verdict: REPAIRABLE }),
  kind('child-header-gone', 'fork', draft => draft.remove(0), { file: CHILD, asIs: /not resumed/ }),
  kind('base-itself', 'fork', base((own, { id }) => { own.thread_id = id }), { file: CHILD, asIs: /cycle/, verdict: REFUSE }),
  kind('base-without-offset', 'fork', base((own) => { delete own.end_byte_offset }), { file: CHILD, asIs: /not (read|resumed)/ }),
  kind('base-ordinal-off', 'fork', base((own) => { own.end_ordinal_exclusive -= 1 }), { file: CHILD }),
  kind('older-segment-gone', 'revert', () => gone, { file: OLDER, asIs: /missing source rollout/, verdict: REFUSE }),
  kind('older-segment-torn-tail', 'revert', tornTail, { file: OLDER, asIs: /has no end/, verdict: REPAIRABLE }),
  kind('newer-segment-no-line-feed', 'revert', draft => draft.bytes().subarray(0, -1), { file: NEWER, asIs: /not resumed.*past the source rollout/, verdict: REPAIRABLE }),
]
