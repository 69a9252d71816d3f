// What a thread has said, by its own records and those it inherits, and what of it a model reads.
import { baseOf } from './rollouts.mjs'

const LINE_FEED = 10

/** { own, inherited, broken }: records without headers, in order. Broken when a base is missing, or is its own base. */
export function historyOf(library, rollout, seen = new Set()) {
  const own = rollout.records.filter(({ value }) => value.type !== 'session_meta')
  const base = baseOf(rollout)
  if (base === undefined) return { own, inherited: [], broken: false }
  const parent = library.get(base.thread_id)
  if (parent === undefined || seen.has(parent)) return { own, inherited: [], broken: true }
  const above = historyOf(library, parent, new Set([...seen, rollout]))
  return { own, inherited: [...above.inherited, ...above.own.filter(inside(parent, base))], broken: above.broken || base.end_byte_offset > parent.text.length }
}

/** A cut is trusted where a line begins with the right number; else the numbers decide. */
function inside(parent, { end_byte_offset: offset, end_ordinal_exclusive: end }) {
  const next = parent.records.find(({ line }) => line.at >= offset)
  const fits = parent.text[offset - 1] === LINE_FEED && (next === undefined || next.value.ordinal === end)
  return ({ value, line }) => fits || typeof value.ordinal !== 'number' ? line.at < offset : value.ordinal < end
}

/** The items that the model reads: what a compaction left, without turns that were rolled back. */
export function itemsIn(records) {
  let items = []
  for (const { value: { type, payload } } of records) {
    if (type === 'response_item' && payload.type !== 'ghost_snapshot') items.push(payload)
    if (type === 'compacted') items = afterCompaction(items, payload)
    if (type === 'event_msg' && payload.type === 'thread_rolled_back') items = items.slice(0, startOfTurn(items, payload.num_turns))
  }
  return items
}

/** Older releases kept what the user said, and put the summary behind it. */
function afterCompaction(items, { message, replacement_history: replacement }) {
  if (Array.isArray(replacement)) return replacement.filter(item => item.type !== 'ghost_snapshot')
  const summary = { type: 'message', role: 'user', content: [{ type: 'input_text', text: message }] }
  return [...items.filter(isPrompt), summary]
}

function startOfTurn(items, turns) {
  const prompts = items.flatMap((item, n) => isPrompt(item) ? [n] : [])
  return turns > 0 ? prompts.at(-turns) ?? prompts[0] ?? 0 : items.length
}

/** A person's words. The client puts its own into the user's mouth too. */
export const isPrompt = item => item.type === 'message' && item.role === 'user' && !isAside(item)

export const isAside = item => item.type === 'message' && (item.role === 'developer' || /^\s*(<|# AGENTS\.md)/.test(textOf(item.content)))

/** The text of content, output or summary, in whatever form it is kept. */
export function textOf(content) {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return content == null ? '' : JSON.stringify(content)
  return content.map(part => part.text ?? part.image_url ?? JSON.stringify(part)).join('')
}
