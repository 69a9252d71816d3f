// What the Messages API is documented and known to refuse. refusalOf(raw request body) is null, or { status, rule, message }.
// Thinking signatures cannot be verified here: any that is not empty is taken. Turns of role "system", which the client
// puts in between, are taken as they are.
const ID = /^[a-zA-Z0-9_-]+$/
const NAME = /^[a-zA-Z0-9_-]{1,200}$/
const IMAGE_TYPES = new Set(['image/jpeg', 'image/png', 'image/gif', 'image/webp'])
const MAX_IMAGE = 5 * 1024 * 1024
const MAX_BODY = 32 * 1024 * 1024

class Refusal extends Error {
  constructor(rule, message, status = 400) {
    super(message)
    Object.assign(this, { rule, status })
  }
}

export function refusalOf(raw) {
  try {
    if (Buffer.byteLength(raw) > MAX_BODY) throw new Refusal('too-large', 'the request is larger than 32 MB', 413)
    checkBody(raw)
    return null
  } catch (error) {
    if (error instanceof Refusal) return { status: error.status, rule: error.rule, message: error.message }
    throw error
  }
}

function checkBody(raw) {
  let body
  try {
    body = JSON.parse(raw)
  } catch {
    throw new Refusal('json', 'the request body is not valid JSON')
  }
  checkStrings(body)
  const messages = body?.messages
  need(Array.isArray(messages) && messages.length > 0, 'no-messages', 'messages: at least one message is required')
  messages.forEach(checkMessage)
  checkTurns(mergeTurns(messages))
}

/** The service cannot decode half a surrogate pair, wherever it stands. */
function checkStrings(value) {
  if (typeof value === 'string') need(value.isWellFormed(), 'lone-surrogate', 'the request body is not valid JSON: no low surrogate in string')
  else if (value !== null && typeof value === 'object') {
    for (const [key, inner] of Object.entries(value)) {
      checkStrings(key)
      checkStrings(inner)
    }
  }
}

function checkMessage(message, n) {
  const at = `messages.${n}`
  need(['user', 'assistant', 'system'].includes(message?.role), 'role', `${at}.role: should be 'user' or 'assistant'`)
  const { role, content } = message
  need(typeof content === 'string' || Array.isArray(content), 'content', `${at}.content: should be text or a list`)
  if (role === 'system') return
  need(content.length > 0, 'empty-message', `${at}: all messages must have non-empty content`)
  blocksOf(content).forEach((block, m) => {
    const where = `${at}.content.${m}`
    need(typeof block?.type === 'string', 'block', `${where}: should be a block with a type`)
    CHECKS[block.type]?.(block, role, where)
  })
}

const CHECKS = {
  text({ text }, _role, at) {
    need(typeof text === 'string', 'text', `${at}.text: should be a string`)
    need(text !== '', 'empty-text', `${at}: text content blocks must be non-empty`)
    need(text.trim() !== '', 'blank-text', `${at}: text content blocks must contain non-whitespace text`)
  },
  tool_use({ id, name, input }, role, at) {
    need(role === 'assistant', 'block-role', `${at}: tool_use is for assistant messages`)
    need(typeof id === 'string' && ID.test(id), 'call-id', `${at}.id: should match ${ID}`)
    need(typeof name === 'string' && NAME.test(name), 'call-name', `${at}.name: should match ${NAME}`)
    need(input !== null && typeof input === 'object' && !Array.isArray(input), 'call-input', `${at}.input: should be an object`)
  },
  tool_result({ tool_use_id: id, content, is_error: isError }, role, at) {
    need(role === 'user', 'block-role', `${at}: tool_result is for user messages`)
    need(typeof id === 'string' && ID.test(id), 'call-id', `${at}.tool_use_id: should match ${ID}`)
    need(content === undefined || typeof content === 'string' || Array.isArray(content), 'result-content', `${at}.content: should be text or a list`)
    const parts = blocksOf(content ?? [])
    const hollow = parts.every(part => part?.type === 'text' && part.text === '')
    need(!isError || !hollow, 'empty-error-result', `${at}: content cannot be empty if is_error is true`)
    for (const part of parts) if (part?.type === 'image') CHECKS.image(part, role, `${at}.content`)
  },
  thinking({ thinking, signature }, role, at) {
    need(role === 'assistant', 'block-role', `${at}: thinking is for assistant messages`)
    need(typeof thinking === 'string', 'thinking', `${at}.thinking: should be a string`)
    need(typeof signature === 'string' && signature !== '', 'thinking-signature', `${at}.signature: field required`)
  },
  redacted_thinking({ data }, role, at) {
    need(role === 'assistant', 'block-role', `${at}: redacted_thinking is for assistant messages`)
    need(typeof data === 'string' && data !== '', 'thinking-data', `${at}.data: field required`)
  },
  image({ source }, _role, at) {
    if (source?.type !== 'base64') return
    need(IMAGE_TYPES.has(source.media_type), 'image-type', `${at}.source.media_type: not an image type`)
    need(typeof source.data === 'string' && source.data !== '', 'image-empty', `${at}.source: image cannot be empty`)
    need(source.data.length <= MAX_IMAGE, 'image-size', `${at}.source: image exceeds 5 MB`)
  },
}

/** Neighbours of one role are one turn. */
function mergeTurns(messages) {
  const turns = []
  for (const { role, content } of messages) {
    if (role === 'system') continue
    if (turns.at(-1)?.role !== role) turns.push({ role, blocks: [] })
    turns.at(-1).blocks.push(...blocksOf(content))
  }
  return turns
}

function checkTurns(turns) {
  need(turns[0]?.role === 'user', 'first-role', 'messages: first message must use the "user" role')
  const made = new Set()
  turns.forEach(({ role, blocks }, n) => {
    if (role === 'assistant') {
      for (const id of callsOf(blocks)) {
        need(!made.has(id), 'call-twice', `tool_use ids must be unique: ${id}`)
        made.add(id)
      }
    }
    if (role === 'user') checkResults(blocks, callsOf(turns[n - 1]?.blocks ?? []))
  })
  const last = turns.at(-1)
  need(last.role === 'user', 'prefill', 'the conversation must end with a user message')
}

/** A user turn begins with the results of the calls just made: all of them, once each, and no other. */
function checkResults(blocks, calls) {
  const results = blocks.filter(block => block.type === 'tool_result').map(block => block.tool_use_id)
  const leading = blocks.findIndex(block => block.type !== 'tool_result')
  const first = new Set(results.slice(0, leading < 0 ? undefined : leading))
  const seen = new Set()
  for (const id of results) {
    need(calls.includes(id), 'result-without-call', `unexpected tool_use_id in tool_result blocks, not called in the previous message: ${id}`)
    need(!seen.has(id), 'result-twice', `each tool_use must have a single result: ${id}`)
    seen.add(id)
  }
  for (const id of calls) {
    need(seen.has(id), 'call-without-result', `tool_use without tool_result immediately after: ${id}`)
    need(first.has(id), 'result-not-first', `tool_result blocks must come first in the message after the tool_use: ${id}`)
  }
}

const callsOf = blocks => blocks.filter(block => block.type === 'tool_use').map(block => block.id)

const blocksOf = content => typeof content === 'string' ? [{ type: 'text', text: content }] : content

function need(holds, rule, message) {
  if (!holds) throw new Refusal(rule, message)
}
