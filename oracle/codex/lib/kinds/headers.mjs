// Damage to the first line, or more than one of it.
import { CLEAN, REFUSE, answer, half, kind } from './draft.mjs'

const OTHER = '019dffff-1111-7222-8333-00000000ffff'
const header = change => draft => draft.edit(0, ({ payload, ...more }) => ({ ...more, payload: change(payload) ?? payload }))
const without = name => header(({ [name]: gone, ...payload }) => payload)

/** Once more, in front of the first answer. */
const again = change => (draft) => {
  const record = draft.at(0)
  draft.insert(draft.places(answer)[0], { ...record, payload: { ...record.payload, ...change } })
  draft.renumber()
}

const GONE = /not (read|resumed)/

export const headers = [
  kind('header-gone', 'ferry', draft => draft.remove(0), { asIs: GONE }),
  kind('header-gone-legacy', 'legacy', draft => draft.remove(0), { asIs: GONE }),
  kind('header-torn', 'ferry', draft => draft.replace(0, half(draft.lines[0])), { asIs: GONE }),
  kind('header-zeroed', 'ferry', draft => draft.replace(0, Buffer.alloc(draft.lines[0].length)), { asIs: GONE }),
  kind('header-second', 'ferry', (draft) => {
    draft.lines.splice(0, 2, draft.lines[1], draft.lines[0])
    draft.renumber()
  }, { asIs: /not resumed/ }),
  kind('header-of-another', 'ferry', header(payload => ({ ...payload, id: OTHER, session_id: OTHER }))),
  kind('header-bad-id', 'ferry', header(payload => ({ ...payload, id: 'nobody' })), { asIs: GONE }),
  kind('header-no-id', 'ferry', without('id'), { asIs: GONE }),
  kind('header-no-time', 'ferry', without('timestamp'), { asIs: GONE }),
  kind('header-no-folder', 'ferry', without('cwd'), { asIs: GONE }),
  kind('header-no-originator', 'ferry', without('originator'), { asIs: GONE }),
  kind('header-no-version', 'ferry', without('cli_version'), { asIs: GONE }),
  kind('header-no-source', 'ferry', without('source')),
  kind('header-twice', 'ferry', again({}), { asIs: /^lost: / }),
  kind('header-twice-other', 'ferry', again({ id: OTHER, session_id: OTHER }), { asIs: /^lost: / }),
  kind('header-twice-legacy', 'legacy', again({}), { verdict: CLEAN }),
  kind('header-only', 'ferry', draft => draft.cut(1), { verdict: CLEAN }),
  kind('mode-unknown', 'ferry', header(payload => ({ ...payload, history_mode: 'woven' })), { asIs: GONE, verdict: REFUSE }),
  kind('mode-gone', 'ferry', without('history_mode'), { asIs: /item .* is not shown/ }),
  kind('mode-legacy', 'ferry', header(payload => ({ ...payload, history_mode: 'legacy' })), { asIs: /item .* is not shown/ }),
  kind('mode-paginated', 'legacy', header(payload => ({ ...payload, history_mode: 'paginated' })), { asIs: GONE }),
  kind('parent-unknown', 'legacy', header(payload => ({ ...payload, forked_from_id: OTHER })), { verdict: CLEAN }),
  kind('parent-itself', 'legacy', header(payload => ({ ...payload, forked_from_id: payload.id }))),
]
