// Two lists of messages held against each other: what the client would send, and what sessfix exports for a provider. Both are
// brought into one form first: runs of one role, each with its texts, calls and results.
import { same } from './records.mjs'

const PLAIN = /^[A-Za-z0-9_-]+$/
const MAX_ID = { openai: 40, anthropic: 128 }
const OPENING = '[The beginning of this conversation is not in the log.]'

/** What differs between the client's next request and our list; `system` are our texts of instructions. */
export function differences(real, list, system, provider) {
  const out = []
  const theirs = runs(real.messages.map(message => ({ role: message.role, items: message.content.flatMap(block => itemOf(block, provider)) })))
  const ours = runs(list.filter(message => message.role !== 'system').map(message => ({ role: message.role === 'assistant' ? 'assistant' : 'user', items: itemsOf(message) })))
  if (theirs[0]?.role === 'assistant' && ours[0]?.texts[0] === OPENING) ours.shift()
  trimEnd(theirs.at(-1))
  if (!same(system, real.system === undefined ? [] : [real.system])) out.push(`the instructions are ${brief(system)}, not ${brief(real.system)}`)
  if (list.slice(1).some(message => message.role === 'system')) out.push('instructions stand behind the beginning')
  if (ours.length !== theirs.length) out.push(`${ours.length} runs of messages, not ${theirs.length}: ${shape(ours)}, not ${shape(theirs)}`)
  const ids = new Map()
  for (const [n, their] of theirs.entries()) {
    const our = ours[n]
    if (our === undefined || out.length > 3) break
    const at = `run ${n + 1}`
    if (our.role !== their.role) out.push(`${at} is of the ${our.role}, not of the ${their.role}`)
    const [texts, wanted] = provider === 'openai' && their.role === 'assistant' ? [our.texts, their.texts.length > 0 ? [their.texts.join('\n\n')] : []] : [our.texts, their.texts]
    if (!same(texts, wanted)) out.push(`${at}: the texts are ${brief(texts)}, not ${brief(wanted)}`)
    out.push(...calls(our.calls, their.calls, ids, provider).map(fault => `${at}: ${fault}`))
    out.push(...results(our.results, their.results, ids, provider).map(fault => `${at}: ${fault}`))
    if (provider === 'anthropic' && their.role === 'assistant' && our.order !== their.order) out.push(`${at}: its blocks stand as ${our.order}, not as ${their.order}`)
  }
  return out
}

/** A block of the client. Thinking stays with the model that thought it; an image's bytes lie elsewhere, and a word says so. */
function itemOf(block, provider) {
  switch (block.type) {
    case 'text': return block.text.trim() === '' ? [] : [{ text: block.text }]
    case 'image': return [{ text: missing(block) }]
    case 'tool-call': return [{ call: block.id, name: block.name, input: inputOf(block.arguments, provider) }]
    case 'tool-result': return [{ result: block.toolCallId, failed: block.isError === true, text: resultText(block.content, provider) }]
    default: return []
  }
}

const missing = block => `[image, ${block.attachment.mediaType}, is not in the log]`

function resultText(content, provider) {
  const pieces = content.flatMap(part => part.type === 'text' ? part.text === '' ? [] : [part.text] : part.type === 'image' ? [missing(part)] : [])
  return pieces.length === 1 || provider === 'openai' ? pieces.join('\n') : pieces.filter(text => text.trim() !== '').join('\n')
}

/** A call's input as a provider takes it: an object. */
function inputOf(text, provider) {
  let value
  try {
    value = JSON.parse(text)
  } catch {
    return text === '' ? {} : { input: text }
  }
  const object = value !== null && typeof value === 'object' && !Array.isArray(value)
  if (provider === 'openai' && object) return text.trim() // as the model wrote it
  return object ? value : { input: value }
}

/** The items of a message of ours. */
function itemsOf(message) {
  if (message.role === 'tool') return [{ result: message.tool_call_id, text: message.content }]
  const items = []
  for (const part of typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content ?? []) {
    if (part.type === 'text') items.push({ text: part.text })
    else if (part.type === 'tool_use') items.push({ call: part.id, name: part.name, input: part.input })
    else if (part.type === 'tool_result') items.push({ result: part.tool_use_id, failed: part.is_error === true, text: pieceText(part) })
    else items.push({ text: `a part of type ${part.type}` })
  }
  for (const call of message.tool_calls ?? []) items.push({ call: call.id, name: call.function.name, input: call.function.arguments })
  return items
}

function pieceText({ content, is_error: failed }) {
  if (failed === true && content === '[no text]') return ''
  return typeof content === 'string' ? content : (content ?? []).map(part => part.text).join('\n')
}

/** Messages of one role that follow each other are one; a message of nothing is none. */
function runs(messages) {
  const out = []
  for (const { role, items } of messages) {
    if (items.length === 0) continue
    if (out.at(-1)?.role !== role) out.push({ role, texts: [], calls: [], results: [], order: '' })
    const run = out.at(-1)
    for (const item of items) {
      if ('text' in item && !('result' in item)) run.texts.push(item.text)
      else if ('call' in item) run.calls.push(item)
      else run.results.push(item)
      run.order += 'call' in item ? 'c' : 't'
    }
  }
  return out
}

/** White space at the end of a last answer is taken off: providers refuse it. */
function trimEnd(run) {
  if (run?.role !== 'assistant' || !run.order.endsWith('t')) return
  run.texts[run.texts.length - 1] = run.texts.at(-1).trimEnd()
}

function calls(ours, theirs, ids, provider) {
  if (ours.length !== theirs.length) return [`${ours.length} calls, not ${theirs.length}`]
  const out = []
  for (const [n, our] of ours.entries()) {
    const their = theirs[n]
    const takes = PLAIN.test(their.call) && their.call.length <= MAX_ID[provider] && !ids.has(their.call)
    if (takes ? our.call !== their.call : !PLAIN.test(our.call)) out.push(`call ${our.call}, not ${their.call}`)
    ids.set(their.call, our.call)
    if (our.name !== their.name && PLAIN.test(their.name) && their.name.length <= 64) out.push(`call ${our.call} is of ${our.name}, not of ${their.name}`)
    const input = provider === 'openai' && typeof their.input !== 'string' ? JSON.parse(our.input) : our.input
    if (!same(input, their.input)) out.push(`call ${our.call} is given ${brief(input)}, not ${brief(their.input)}`)
  }
  return out
}

/** Results of one run stand in the order of their calls with us, and in that of their end in the log. */
function results(ours, theirs, ids, provider) {
  if (ours.length !== theirs.length) return [`${ours.length} results, not ${theirs.length}`]
  const out = []
  for (const their of theirs) {
    const our = ours.find(item => item.result === ids.get(their.result))
    if (our === undefined) out.push(`no result of ${their.result}`)
    else if (our.text.trim() !== '' || their.text.trim() !== '') {
      if (our.text !== their.text) out.push(`the result of ${their.result} is ${brief(our.text)}, not ${brief(their.text)}`)
    }
    if (provider === 'anthropic' && our && our.failed !== their.failed) out.push(`the result of ${their.result} failed: ${our.failed}, not ${their.failed}`)
  }
  return out
}

const shape = list => list.map(run => `${run.role[0]}${run.order}${'r'.repeat(run.results.length)}`).join(' ').slice(0, 200)
const brief = value => JSON.stringify(value)?.slice(0, 300)
