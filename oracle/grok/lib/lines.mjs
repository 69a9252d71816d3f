// The records of a log, also those in lines that are damaged: behind torn ones, between NULs, two on one line.
const TYPES = new Set(['system', 'user', 'assistant', 'tool_result', 'reasoning', 'backend_tool_call'])
const ROLES = new Set(['system', 'user', 'assistant', 'tool'])

/** Is this an item of the history, or an update of the log? The first form of both counts too. */
export function isRecord(value) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  if (TYPES.has(value.type)) return value.type === 'tool_result' ? 'tool_call_id' in value : 'content' in value || 'summary' in value || 'kind' in value
  return ROLES.has(value.role) || (value.params ?? value).update?.sessionUpdate !== undefined
}

/** [{ number, at, raw, value }]: value is undefined where the line is no object. */
export function linesOf(bytes) {
  const lines = []
  for (let at = 0, number = 1; at < bytes.length; number += 1) {
    const end = bytes.indexOf(10, at)
    const raw = bytes.subarray(at, end < 0 ? bytes.length : end)
    lines.push({ number, at, raw, value: parsed(raw), ended: end >= 0 })
    at += raw.length + 1
  }
  return lines
}

/** [{ number, at, raw, value }] of all records that are whole. */
export function recordsOf(bytes) {
  return linesOf(bytes).flatMap(line => isRecord(line.value) ? [line] : line.value === undefined ? within(line) : [])
}

function within({ number, at, raw }) {
  const found = []
  for (let from = raw.indexOf('{'); from >= 0; from = raw.indexOf('{', from)) {
    const end = endOfObject(raw, from)
    const value = end < 0 ? undefined : parsed(raw.subarray(from, end))
    if (isRecord(value)) found.push({ number, at: at + from, raw: raw.subarray(from, end), value })
    from = isRecord(value) ? end : from + 1
  }
  return found
}

function endOfObject(raw, from) {
  let depth = 0
  let quoted = false
  for (let n = from; n < raw.length; n += 1) {
    const byte = raw[n]
    if (quoted) {
      if (byte === 0x5c) n += 1
      else if (byte === 0x22) quoted = false
    } else if (byte === 0x22) quoted = true
    else if (byte === 0x7b) depth += 1
    else if (byte === 0x7d && (depth -= 1) === 0) return n + 1
  }
  return -1
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function parsed(raw) {
  try {
    const value = JSON.parse(strict.decode(raw))
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
