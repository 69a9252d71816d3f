// Is that what a model must read? Turns that a client holds, or sends, against what the records say.
import { itemsOf } from './turns.mjs'

const MADE_BY_CLIENT = 'No result provided'
export const CLOSER = /TOOL_OUTCOME_UNKNOWN|TOOL_NOT_STARTED/

/**
 * Each call has one result right behind it, and no result lacks its call. Calls that talk follows may be open where nothing was `sent`:
 * the client answers those itself.
 */
export function pairingFaults(turns, { sent }) {
  const faults = []
  let open = new Set()
  let known = new Set()
  const close = (atEnd) => {
    if (sent || atEnd) for (const id of open) faults.push(`call ${id} has no result${atEnd ? ' at the end' : ''}`)
    open = new Set()
  }
  for (const { role, calls, id, mute } of turns) {
    if (mute) continue
    if (role === 'result') {
      if (!open.delete(id)) faults.push(known.has(id) ? `call ${id} has two results` : `result ${id} has no call in front of it`)
      continue
    }
    close(false)
    open = new Set(calls)
    known = new Set(calls)
  }
  close(true)
  return faults
}

/** What must come and does not, or not in its order. A text may be part of a longer one. */
export function missingFaults(wanted, turns) {
  const got = itemsOf(turns)
  const faults = []
  let place = { n: 0, at: 0 }
  for (const item of wanted) {
    const next = find(item, got, place)
    if (next !== undefined) place = next
    else faults.push(`${find(item, got, { n: 0, at: 0 }) === undefined ? 'lost' : 'out of order'}: ${short(item.name)}`)
  }
  return faults
}

function find(item, got, { n, at }) {
  for (let m = n; m < got.length; m += 1) {
    const other = got[m]
    if (item.call !== undefined || item.result !== undefined) {
      if (other.name === item.name) return { n: m + 1, at: 0 }
    } else if (other.role === item.role) {
      const seen = other.text.indexOf(item.text, m === n ? at : 0)
      if (seen >= 0) return { n: m, at: seen + item.text.length }
    }
  }
  return undefined
}

/**
 * What comes though no record says it. A call without result on record may have one of sessfix, or of the client. `said` are items, `answered`
 * the calls with a result on record, `edits` texts that were put in the place of others.
 */
export function unsaidFaults(turns, { said, answered, edits }) {
  const names = new Set(said.map(item => item.name))
  return itemsOf(turns).flatMap((item) => {
    if (names.has(item.name) || edits.has(item.text)) return []
    if (item.role === 'user' && said.some(({ role, text }) => role === 'user' && text !== '' && item.text.includes(text))) return []
    const made = 'result' in item && (item.text === MADE_BY_CLIENT || CLOSER.test(item.text))
    return made && !answered.has(item.result) ? [] : [`not said before: ${short(item.name)}`]
  })
}

/** Calls of the last answer must have been closed by the repair, and by what is true of them. */
export function closerFaults(turns) {
  const last = turns.findLastIndex(({ role, mute }) => role === 'assistant' && !mute)
  const cut = new Set(turns.flatMap(({ calls, cut }) => cut ? calls : []))
  return turns.flatMap(({ role, id, texts }, n) => {
    const text = texts.join(' ')
    if (role !== 'result') return []
    const talked = turns.slice(last + 1).some(turn => turn.role !== 'result' && !turn.mute)
    if (text === MADE_BY_CLIENT && n > last && !talked) return [`the model reads of call ${id}: ${text}`]
    return text.includes('TOOL_NOT_STARTED') && !cut.has(id) ? [`call ${id} is said not to have started`] : []
  })
}

const short = text => text.length > 90 ? `${text.slice(0, 87)}...` : text
