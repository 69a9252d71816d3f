// The lines of a rollout and the whole records in them, however damaged it is. A reader of its own: it shares nothing with the
// client or with the program under test.

const LINE_FEED = 10
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/**
 * [{ number, at, raw, ended, records }]: `at` is the offset, `raw` the bytes without the line feed, `ended` whether one follows.
 * `bad` lines are neither blank nor exactly one JSON object; what whole records they hold is found all the same.
 */
export function linesOf(bytes) {
  const lines = []
  for (let at = 0; at < bytes.length;) {
    const feed = bytes.indexOf(LINE_FEED, at)
    const raw = bytes.subarray(at, feed < 0 ? bytes.length : feed)
    lines.push({ number: lines.length + 1, at, raw, ended: feed >= 0, ...read(raw) })
    at += raw.length + 1
  }
  return lines
}

export const recordsOf = bytes => linesOf(bytes).flatMap(line => line.records)

export const isObject = value => value !== null && typeof value === 'object' && !Array.isArray(value)

function read(raw) {
  const text = decode(raw)
  if (text !== undefined) {
    if (/^[ \t\r]*$/.test(text)) return { bad: false, records: [] }
    const value = parse(text)
    if (isObject(value)) return { bad: false, records: [value] }
  }
  return { bad: true, records: inside(text ?? mended(raw)) }
}

function decode(raw) {
  try {
    return strict.decode(raw)
  } catch {
    return undefined
  }
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Every byte that is no UTF-8 becomes a question mark. */
function mended(raw) {
  let text = ''
  for (let at = 0; at < raw.length;) {
    const lead = raw[at]
    const length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2
    const sign = at + length <= raw.length ? decode(raw.subarray(at, at + length)) : undefined
    text += sign ?? '?'
    at += sign === undefined ? 1 : length
  }
  return text
}

/** Records that share a line with something else. A payload looks much like a record, but holds none. */
function inside(text) {
  const found = []
  const opening = /\{(?=\s*"(?:timestamp|ordinal|type|payload|metadata)"\s*:)/g
  for (let match = opening.exec(text); match !== null; match = opening.exec(text)) {
    const end = closing(text, match.index)
    const value = end === undefined ? undefined : parse(text.slice(match.index, end))
    if (!isRecord(value)) continue
    found.push(value)
    opening.lastIndex = end
  }
  return found
}

export const isRecord = value => isObject(value) && typeof value.type === 'string' && isObject(value.payload)

/** Where the object that opens at `from` has ended. */
function closing(text, from) {
  const signs = /"(?:[^"\\]|\\.)*"|[{}]/gs
  signs.lastIndex = from
  for (let depth = 0, match = signs.exec(text); match !== null; match = signs.exec(text)) {
    if (match[0] === '{') depth += 1
    if (match[0] === '}' && (depth -= 1) === 0) return signs.lastIndex
  }
  return undefined
}
