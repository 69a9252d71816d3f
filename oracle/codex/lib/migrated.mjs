// Holds what sessfix makes of a legacy rollout against what the client's own migration makes of it.
import { isDeepStrictEqual } from 'node:util'

/** Members that the client's migration puts in where the source has none. */
const ADDED = {
  session_meta: ['source', 'model_provider'],
  turn_context: ['permission_profile'],
  task_started: ['collaboration_mode_kind', 'model_context_window'],
}

/**
 * Faults, a line each. All are lists of records: those of the source, ours, and the client's. Every record of the client's must be
 * ours too, in its order and with every member; what else is ours must stand in the source.
 */
export function differencesOf(source, ours, theirs) {
  const faults = []
  const left = [...ours]
  let extra = 0
  for (const [n, want] of theirs.entries()) {
    while (left.length > 0 && !isSame(left[0], want)) {
      const { ordinal, ...record } = left.shift()
      extra += 1
      if (!source.some(old => isDeepStrictEqual(old, record))) faults.push(`record ${ordinal} is neither the client's nor the source's: ${brief(record)}`)
    }
    const have = left.shift()
    if (have === undefined) {
      faults.push(`the client's record ${n} is missing: ${brief(want)}`)
      break
    }
    if (have.ordinal !== n + extra) faults.push(`record ${n + extra} has the number ${have.ordinal}`)
    for (const path of unlike(have, want)) faults.push(`record ${have.ordinal}, ${brief(want)}: ${path}`)
  }
  for (const { ordinal, ...record } of left) if (!source.some(old => isDeepStrictEqual(old, record))) faults.push(`record ${ordinal} is left over: ${brief(record)}`)
  return faults
}

/** Words of a record of the source that are nowhere in ours. `dropped` are the numbers of those that have no place there. */
export function lostOf(source, ours, dropped) {
  const have = ours.map(record => JSON.stringify(record))
  return source.flatMap((record, n) => {
    if (dropped.has(n) || record.record_type === 'state') return []
    // What the record is, and of which kind the history, is what changes.
    const { payload: { type, history_mode: mode, ...payload } = record } = record
    return wordsIn(payload).filter(words => words !== '' && !have.some(line => line.includes(JSON.stringify(words)) || line.includes(JSON.stringify(`file://${words}`))))
      .map(words => `record ${n} of the source: lost ${JSON.stringify(words).slice(0, 80)}`)
  })
}

const kindOf = ({ type, payload }) => `${type} ${alias(payload?.type) ?? ''} ${payload?.item?.type ?? ''}`
const alias = kind => ({ turn_started: 'task_started', turn_complete: 'task_complete' })[kind] ?? kind
const brief = record => `${record.timestamp} ${kindOf(record)}`
const isSame = (have, want) => have.timestamp === want.timestamp && kindOf(have) === kindOf(want)

/** Where a record of ours differs from the client's. */
function unlike(have, want) {
  const faults = []
  const kind = want.type === 'event_msg' ? alias(want.payload.type) : want.type
  const whole = kind === 'item_completed'
  const visit = (mine, theirs, path) => {
    if (theirs === null && mine === undefined) return
    if (theirs === null || typeof theirs !== 'object' || Array.isArray(theirs) !== Array.isArray(mine) || mine === null || typeof mine !== 'object') {
      if (!isDeepStrictEqual(mine, theirs) && !rewritten(path, mine, theirs)) faults.push(`${path} is ${short(mine)}, the client's ${short(theirs)}`)
      return
    }
    if (Array.isArray(theirs) && theirs.length !== mine.length) faults.push(`${path} has ${mine.length} elements, the client's ${theirs.length}`)
    for (const [name, value] of Object.entries(theirs)) {
      if (!(name in mine) && !whole && (path === '.payload' ? (ADDED[kind] ?? []).includes(name) : value === 0 || value === false)) continue
      visit(mine[name], value, `${path}.${name}`)
    }
    if (whole) for (const name of Object.keys(mine)) if (!(name in theirs)) faults.push(`${path}.${name} is not the client's`)
  }
  visit({ ...have.payload, type: alias(have.payload.type) }, want.payload, '.payload')
  return faults
}

/** An older name for the kind of a sandbox: the client reads both. */
const rewritten = (path, mine, theirs) => path === '.payload.sandbox_policy.type' && mine === undefined && typeof theirs === 'string'

const short = value => (JSON.stringify(value) ?? 'absent').slice(0, 60)

function wordsIn(value) {
  if (typeof value === 'string') return [value]
  return value !== null && typeof value === 'object' ? Object.values(value).flatMap(wordsIn) : []
}
