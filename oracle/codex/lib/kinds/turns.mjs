// Turns without an end or a start, records that nobody knows yet, times that are none.
import { CLEAN, answer, event, kind } from './draft.mjs'

const unknown = (type, payload) => (draft) => {
  const place = draft.places(answer)[0]
  const { timestamp } = draft.at(place)
  draft.insert(place, { timestamp, ...'ordinal' in draft.at(0) && { ordinal: 0 }, type, payload })
  draft.renumber()
}
const timed = change => draft => draft.edit(draft.places(answer)[0], change)

export const turns = [
  kind('turn-open', 'ferry', draft => draft.cut(draft.lines.length - 1)),
  kind('turn-open-legacy', 'legacy', draft => draft.cut(draft.lines.length - 1)),
  kind('turn-without-start', 'ferry', (draft) => {
    draft.remove(draft.places(event('task_started'))[1])
    draft.renumber()
  }),
  kind('turn-ends-twice', 'ferry', (draft) => {
    draft.append(draft.lines.at(-1))
    draft.renumber()
  }),
  kind('old-turn-open', 'ferry', (draft) => {
    draft.remove(draft.places(event('task_complete'))[0])
    draft.renumber()
  }, { verdict: CLEAN }),
  kind('record-unknown', 'ferry', unknown('woven_item', { a: 1 }), { verdict: CLEAN }),
  kind('event-unknown', 'ferry', unknown('event_msg', { type: 'woven', a: 1 }), { verdict: CLEAN }),
  kind('item-unknown', 'ferry', unknown('response_item', { type: 'woven', a: 1 }), { verdict: CLEAN }),
  kind('record-unknown-legacy', 'legacy', unknown('woven_item', { a: 1 }), { verdict: CLEAN }),
  kind('time-bad', 'ferry', timed((record) => { record.timestamp = 'at noon' })),
  kind('time-gone', 'ferry', timed((record) => { delete record.timestamp }), { asIs: /^lost: / }),
  kind('time-gone-legacy', 'legacy', timed((record) => { delete record.timestamp }), { asIs: /^lost: / }),
]
