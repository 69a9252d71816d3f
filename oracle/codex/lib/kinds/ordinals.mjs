// Numbers that repeat, fall back, leap or are not there, and what older clients and second writers do to them.
import { REFUSE, REPAIRABLE, event, kind } from './draft.mjs'

const shown = draft => draft.places(event('item_completed')).at(-1)
const from = (first, change) => (draft) => {
  for (const place of [...draft.lines.keys()].slice(first(draft))) draft.edit(place, change)
}
const unnumbered = (record) => { delete record.ordinal }

const said = (role, text) => ({ type: 'response_item', payload: { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] } })

/** An older client asked, answered and knew of no numbers. */
function continued(draft) {
  const { timestamp } = draft.at(-1)
  const lines = [
    said('user', 'Was the note read?'), { type: 'event_msg', payload: { type: 'user_message', message: 'Was the note read?', images: [] } },
    { type: 'event_msg', payload: { type: 'agent_message', message: 'I cannot know.' } }, said('assistant', 'I cannot know.'),
  ]
  draft.append(...lines.map(line => ({ timestamp, ...line })))
}

/** Two clients went on from the same record. The second one's lines are those of another turn. */
function twoTalk(draft) {
  const start = draft.places(event('task_started')).at(-1)
  const own = draft.at(start).payload.turn_id
  draft.append(...draft.lines.slice(start).map(line => line.toString().replaceAll('note', 'poster').replaceAll(own, 'another-turn')))
}

function twoSettings(draft) {
  const last = draft.places(event('task_complete'))[0]
  const { timestamp, ordinal } = draft.at(last)
  const payload = { type: 'thread_settings_applied', thread_id: draft.at(0).payload.id, thread_settings: { model: 'oracle' } }
  draft.insert(last + 1, { timestamp, ordinal, type: 'event_msg', payload })
}

export const ordinals = [
  kind('ordinal-twice', 'ferry', draft => draft.edit(shown(draft), (record) => { record.ordinal -= 1 }), { asIs: /is not shown/ }),
  kind('ordinal-back', 'ferry', from(draft => shown(draft) - 2, (record) => { record.ordinal -= 6 }), { asIs: /is not shown/ }),
  kind('ordinal-leap', 'ferry', from(shown, (record) => { record.ordinal += 5 })),
  kind('ordinal-missing', 'ferry', draft => draft.edit(shown(draft), unnumbered), { asIs: /is not shown/ }),
  kind('ordinal-missing-last', 'ferry', draft => draft.edit(draft.lines.length - 1, unnumbered), { asIs: /not resumed.*missing an ordinal/, verdict: REPAIRABLE }),
  kind('ordinal-missing-all', 'ferry', from(() => 0, unnumbered), { asIs: /not resumed/ }),
  kind('older-client-went-on', 'ferry', continued, { asIs: /not resumed.*missing an ordinal/, verdict: REPAIRABLE, adds: true }),
  kind('two-writers-settings', 'ferry', twoSettings, { verdict: REPAIRABLE }),
  kind('two-writers-talk', 'ferry', twoTalk, { asIs: /is not shown/, verdict: REFUSE, adds: true }),
]
