// What the transcripts of a killed client hold, beside what is known of the commands that ran. A call is named by a letter; its
// id is longer.
import { itemsOf } from './items.mjs'

const NOTE = 'MAY_HAVE_RUN'
const NOT_STARTED = 'TOOL_NOT_STARTED'

export const idOf = name => `toolu_${name}`
export const nameOf = id => id.replace('toolu_', '')

const talkOf = records => records.filter(record => (record.type === 'user' || record.type === 'assistant') && !record.isApiErrorMessage)

const callsIn = records => talkOf(records).flatMap(record => itemsOf(record.message)).filter(item => 'call' in item).map(item => item.call)

/** [{ id, text }] */
const resultsIn = records =>
  talkOf(records).flatMap(record => itemsOf(record.message)).filter(item => 'result' in item).map(item => ({ id: item.result, text: item.text }))

/** 'nothing', 'prompt', 'thinking', 'text', 'call', 'result'; before it 'open a b' when these calls have no result. */
export function endOf(records) {
  const last = talkOf(records).at(-1)
  if (last === undefined) return 'nothing'
  const item = itemsOf(last.message).at(-1)
  const kind = item === undefined ? 'thinking' : 'call' in item ? 'call' : 'result' in item ? 'result' : last.type === 'user' ? 'prompt' : 'text'
  const closed = new Set(resultsIn(records).map(result => result.id))
  const open = callsIn(records).filter(id => !closed.has(id)).map(nameOf).sort()
  return open.length > 0 ? `open ${open.join(' ')}, ${kind}` : kind
}

/** Calls that ran and are in none of these transcripts. */
export function unwritten(ran, transcripts) {
  const known = new Set(transcripts.flatMap(callsIn))
  return ran.filter(name => !known.has(idOf(name)))
}

/** Where a call ran that is in no record, a note must say so: of the session, or of a sub-agent if one asked for it. */
export function unnoted(talk, sessions, file, ran, askers) {
  const noted = sessions.filter(session => session.findings.some(finding => finding.code === NOTE))
  const by = noted.map(session => session.path === file ? 'main' : 'agent')
  const silent = unwritten(ran, [...talk.values()]).filter(name => !by.includes(askers.get(name)))
  return silent.map(name => `call ${name} ran and is in no record, and verify has no ${NOTE} there`)
}

/** Each call has its one result, and none that ran is said not to have started. */
export function badlyAnswered(records, ran) {
  const results = resultsIn(records)
  return [...new Set(callsIn(records))].flatMap((id) => {
    const own = results.filter(result => result.id === id)
    const faults = own.length === 1 ? [] : [`call ${nameOf(id)} has ${own.length} results`]
    const denied = ran.includes(nameOf(id)) && own.some(result => result.text.startsWith(NOT_STARTED))
    return denied ? [...faults, `call ${nameOf(id)} ran, and its result says ${NOT_STARTED}`] : faults
  })
}
