// How the file of a killed client ends: as a word that tells what it was killed in, to be sure that it was the moment meant.
import { wholeRecords } from './records.mjs'
import { turnsOfRecord } from './turns.mjs'

/** 'nothing', 'prompt', 'text', 'call', 'result'; before it 'open a b' when these calls have no result; 'torn' when the last line is. */
export function endOf(bytes) {
  if (bytes === undefined) return 'no file'
  const turns = wholeRecords(bytes).flatMap(({ value }) => turnsOfRecord(value))
  const closed = new Set(turns.filter(({ role }) => role === 'result').map(({ id }) => id))
  const open = turns.flatMap(({ calls, mute }) => mute ? [] : calls).filter(id => !closed.has(id)).sort()
  const last = turns.at(-1)
  const word = last === undefined ? 'nothing' : last.role === 'user' ? 'prompt' : last.role === 'result' ? 'result' : last.calls.length > 0 ? 'call' : 'text'
  return [...open.length > 0 ? [`open ${open.join(' ')},`] : [], word, ...bytes.at(-1) === 10 ? [] : ['torn']].join(' ')
}
