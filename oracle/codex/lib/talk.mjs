// What is said, in one form for both: the items of a request of the client, and the messages of an export. An entry is { said } or a
// call { said, result }. Texts of one answer stand in front of its calls, and each call has its result with it, as in the
// list of any provider.
import { callOf, outputOf } from './items.mjs'

/** The items of a request. Reasoning, and what the service does by itself, is in no list of messages. */
export function talkOf(items) {
  const talk = []
  let answer = newAnswer()
  let waiting = []
  const settle = () => {
    talk.push(...entriesOf(answer))
    answer = newAnswer()
    const rest = waiting
    waiting = []
    rest.forEach(take)
  }
  const take = (item) => {
    const open = answer.calls.some(call => call.result === undefined)
    const output = outputOf(item)
    if (output !== undefined) {
      const call = answer.calls.find(({ id, result }) => id === output.id && result === undefined)
      if (call === undefined) return
      call.result = resultOf(item)
      answer.begun = true
      if (answer.calls.every(({ result }) => result !== undefined)) settle()
      return
    }
    const entry = entryOf(item)
    if (entry === undefined) return
    if (open && (answer.begun || waiting.length > 0 || entry.role !== 'assistant')) return waiting.push(item)
    if (entry.role !== 'assistant') {
      talk.push(...entriesOf(answer), ...entry.said.map(said => ({ said })))
      answer = newAnswer()
    } else if (entry.id === undefined) {
      answer.texts.push(...entry.said)
    } else {
      answer.calls.push({ id: entry.id, said: entry.said[0], result: undefined })
    }
  }
  items.forEach(take)
  while (answer.calls.length > 0 || waiting.length > 0) settle()
  return [...talk, ...entriesOf(answer)]
}

/** The messages of `export --format messages --provider openai`. */
export function talkIn(messages) {
  const talk = []
  for (const { role, content, tool_calls: calls, tool_call_id: id } of messages) {
    if (role === 'tool') {
      const call = talk.findLast(entry => entry.id === id && entry.result === undefined)
      if (call !== undefined) call.result = content
      else talk.push({ said: `result without call: ${content}` })
      continue
    }
    const texts = typeof content === 'string' ? [content] : (content ?? []).map(part => part.text ?? part.image_url.url)
    talk.push(...spoken(role, texts).map(said => ({ said })))
    for (const { id, function: { name, arguments: input } } of calls ?? []) talk.push({ id, said: asked(name, JSON.parse(input)), result: undefined })
  }
  return talk
}

const newAnswer = () => ({ texts: [], calls: [], begun: false })

const entriesOf = ({ texts, calls }) => [...spoken('assistant', texts.length > 0 ? [texts.join('\n\n')] : []).map(said => ({ said })), ...calls]

function entryOf(item) {
  const call = callOf(item)
  if (call !== undefined) return { role: 'assistant', id: call.id, said: [asked(nameOf(item), inputOf(item))] }
  if (item.type === 'agent_message') return { role: 'user', said: spoken('user', pieces(item.content)) }
  if (item.type !== 'message') return undefined
  const texts = pieces(item.content)
  switch (item.role) {
    case 'assistant': return { role: 'assistant', said: texts.filter(text => text.trim() !== '') }
    case 'user': return { role: 'user', said: spoken('user', texts) }
    default: return { role: 'system', said: spoken('system', [texts.filter(text => text !== '').join('\n\n')]) }
  }
}

const spoken = (role, texts) => texts.filter(text => text.trim() !== '').map(text => `${role}: ${role === 'assistant' ? text.trimEnd() : text}`)

const pieces = content => typeof content === 'string' ? [content] : (content ?? []).map(part => part.text ?? part.image_url ?? part.refusal ?? '')

const resultOf = ({ output, tools }) => output === undefined ? JSON.stringify(tools) : pieces(output).join('\n')

const nameOf = ({ type, name, namespace }) => name === undefined ? type.replace(/_call$/, '') : [namespace, name].filter(Boolean).join('.').replace(/[^\w-]/g, '_')

function inputOf(item) {
  if (item.type === 'custom_tool_call') return { input: item.input }
  if (item.type === 'local_shell_call') return item.action
  if (typeof item.arguments !== 'string') return item.arguments
  try {
    return JSON.parse(item.arguments)
  } catch {
    return { input: item.arguments }
  }
}

/** Members that say nothing do not count, and their order does not. */
function asked(name, input) {
  const plain = value => value === null || typeof value !== 'object' || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null).sort().map(([key, member]) => [key, plain(member)]))
  return `call ${name} ${JSON.stringify(plain(input))}`
}
