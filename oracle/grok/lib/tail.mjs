// What the history of a killed client ends in, in words.
import { HISTORY, itemsOf, recordsIn } from './session.mjs'

const nameOf = id => id.replace(/^call_/, '')

/** 'nothing', 'prompt', 'text', 'call', 'result' or 'reminder'; in front of it 'open a b' when these calls have no result. */
export function endOf(files) {
  const records = recordsIn(files, HISTORY)
  const items = records.flatMap(itemsOf)
  const results = new Set(items.map(({ result }) => result))
  const open = items.flatMap(({ call }) => call === undefined || results.has(call) ? [] : nameOf(call))
  return [...open.length > 0 ? [`open ${open.join(' ')}`] : [], kindOf(records.at(-1), items.at(-1))].join(', ')
}

function kindOf(record, item) {
  if (item === undefined || !('call' in item || 'result' in item || 'role' in item)) return 'nothing'
  if (item.call !== undefined) return 'call'
  if (item.result !== undefined) return 'result'
  if (item.role === 'assistant') return 'text'
  return item.text.includes('<user_query>') ? 'prompt' : record.synthetic_reason === undefined ? 'nothing' : 'reminder'
}
