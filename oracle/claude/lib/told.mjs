// Holds a list of messages that sessfix exports against the request that the client sends for the same session. Both are
// taken as the model reads them: turns of one role are one, in which results lead, in the order of their calls, and calls end.
import { isDeepStrictEqual } from 'node:util'

const REMINDER = /^\s*<system-reminder>/

/** Faults of an export, one line each. `added` are the messages of records that the client appended, `prompt` what it was asked. */
export function untold(exported, sent, added, prompt) {
  const ours = itemsIn(exported)
  const all = itemsIn(sent)
  // A request without the prompt asks for a summary of what is too long, and ends with that.
  const asked = all.some(item => item.text?.trim() === prompt) ? { role: 'user', text: prompt } : all.at(-1)
  const theirs = without(all, [asked, ...itemsIn(added).reverse()])
  const faults = []
  for (let n = 0; n < Math.max(ours.length, theirs.length) && faults.length < 3; n += 1) {
    if (!alike(ours[n], theirs[n])) faults.push(`item ${n + 1} of ${theirs.length} is ${shown(ours[n])}, and the client sends ${shown(theirs[n])}`)
    if (ours[n] === undefined || theirs[n] === undefined) break
  }
  return faults
}

/**
 * { role, text } { role, image } { call, name, input } { result, failed, content }: thinking, turns of the system and reminders are left out.
 * An export has none of the first two, and the client puts the last where it likes.
 */
export function itemsIn(messages) {
  const turns = []
  for (const { role, content } of messages) {
    if (role === 'system') continue
    if (turns.at(-1)?.role !== role) turns.push({ role, blocks: [] })
    turns.at(-1).blocks.push(...typeof content === 'string' ? [{ type: 'text', text: content }] : content ?? [])
  }
  const filled = turns.map(turn => ({ ...turn, items: turn.blocks.map(block => itemOf(block, turn.role)).filter(item => item !== undefined) })).filter(turn => turn.items.length > 0)
  const out = []
  let calls = []
  for (const [n, { role, items }] of filled.entries()) {
    const results = items.filter(item => 'result' in item)
    results.sort((a, b) => calls.indexOf(a.result) - calls.indexOf(b.result))
    const asked = items.filter(item => 'call' in item)
    if (n === 0 || role === 'assistant') calls = asked.map(item => item.call)
    out.push(...results, ...items.filter(item => !('call' in item) && !('result' in item)), ...asked)
  }
  return out
}

function itemOf(block, role) {
  switch (block?.type) {
    case 'text': return block.text.trim() === '' || REMINDER.test(block.text) ? undefined : { role, text: block.text }
    case 'tool_use': return { call: block.id, name: block.name, input: block.input }
    case 'tool_result': return { result: block.tool_use_id, failed: block.is_error === true, content: piecesIn(block.content) }
    case 'document':
      if (block.source?.type === 'text') return { role, text: block.source.data }
    // falls through
    case 'image': return { role, [block.type]: lookOf(block.source) }
    default: return undefined
  }
}

function piecesIn(content) {
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content ?? []
  return blocks.map(block => itemOf(block)).filter(item => item !== undefined)
}

/** Bytes are told by their number and their end: a message of two images would be long. */
const lookOf = source => source?.data === undefined ? source?.url : `${source.media_type} ${source.data.length} ${source.data.slice(-8)}`

/** What was added stands at the end. */
function without(items, added) {
  const out = [...items]
  for (const item of added) {
    const at = out.findLastIndex(other => alike(other, item))
    if (at >= 0) out.splice(at, 1)
  }
  return out
}

const trimmed = item => JSON.parse(JSON.stringify(item ?? null), (key, value) => key === 'text' ? value.trim().toWellFormed() : value)

const alike = (a, b) => isDeepStrictEqual(trimmed(a), trimmed(b))

function shown(item) {
  const line = item === undefined ? 'nothing' : JSON.stringify(item)
  return line.length > 160 ? `${line.slice(0, 157)}...` : line
}
