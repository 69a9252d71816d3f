// What the rollout of a killed client ends in, in words.
import { historyOf, isPrompt, itemsIn } from './history.mjs'
import { callOf, outputOf } from './items.mjs'

const CALL = 'call_'
export const idOf = name => CALL + name

/**
 * 'nothing', 'prompt', 'reasoning', 'text', 'call' or 'output'; in front of it 'open a b' when these calls have no output; behind it
 * 'a unwritten' when a command ran that no record asks for.
 */
export function endOf(library, rollout, ran) {
  const { inherited, own } = historyOf(library, rollout)
  const items = itemsIn([...inherited, ...own])
  const named = (read, item) => read(item)?.id.replace(CALL, '')
  const calls = items.flatMap(item => named(callOf, item) ?? [])
  const outputs = items.flatMap(item => named(outputOf, item) ?? [])
  const open = calls.filter(name => !outputs.includes(name)).sort()
  const asked = [...library.values()].flatMap(({ records }) => itemsIn(records)).flatMap(item => named(callOf, item) ?? [])
  const lost = ran.filter(name => !asked.includes(name))
  return [...open.length > 0 ? [`open ${open.join(' ')}`] : [], kindOf(items.at(-1)), ...lost.length > 0 ? [`${lost.join(' ')} unwritten`] : []].join(', ')
}

function kindOf(item) {
  if (item === undefined) return 'nothing'
  if (callOf(item)) return 'call'
  if (outputOf(item)) return 'output'
  if (item.type !== 'message') return item.type
  return item.role === 'assistant' ? 'text' : isPrompt(item) ? 'prompt' : 'nothing'
}
