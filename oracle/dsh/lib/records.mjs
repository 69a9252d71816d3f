// A log as the records that stand in it, read more patiently than any client reads: every whole
// record counts, wherever the damage put it.
import { isDeepStrictEqual } from 'node:util'
import { unpack, unpackTorn, walkFrames } from './frames.mjs'

/** All text of a log. For zstd also what decodes from damaged frames; `at` maps text offsets to file offsets. */
export function textOf(bytes, encoding) {
  if (encoding !== 'zstd') return { text: bytes.toString('latin1'), at: offset => offset }
  const parts = []
  let from = 0
  while (from < bytes.length) {
    const { frames, stop } = walkFrames(bytes.subarray(from))
    for (const { start, end } of frames) {
      const piece = bytes.subarray(from + start, from + end)
      let plain
      try {
        plain = unpack(piece)
      } catch {
        plain = Buffer.alloc(0)
      }
      parts.push({ at: from + start, plain })
    }
    from += stop
    if (from >= bytes.length) break
    const next = bytes.indexOf(Buffer.from([0x28, 0xB5, 0x2F, 0xFD]), from + 1)
    const end = next === -1 ? bytes.length : next
    parts.push({ at: from, plain: unpackTorn(bytes.subarray(from, end)) })
    from = end
  }
  const starts = []
  let total = 0
  for (const part of parts) {
    starts.push({ text: total, file: part.at })
    total += part.plain.length
  }
  return {
    text: Buffer.concat(parts.map(part => part.plain)).toString('latin1'),
    at: offset => starts.findLast(start => start.text <= offset)?.file ?? 0,
  }
}

/** Whole records (events, packed rows, headers) with the file offset each begins at. */
export function wholeRecords(bytes, encoding) {
  const { text, at } = textOf(bytes, encoding)
  const found = []
  let start = 0
  for (const line of text.split('\n')) {
    for (const { offset, value } of recordsIn(line)) found.push({ offset: at(start + offset), value })
    start += line.length + 1
  }
  return found
}

/** Records of one line; a glued line can hold several, a torn one a whole record behind the torn part. */
function recordsIn(line) {
  const whole = parse(line.replace(/^\0+|[\r\0]+$/g, ''))
  if (isRecord(whole)) return [{ offset: line.length - line.replace(/^\0+/, '').length, value: whole }]
  if (whole !== undefined) return []
  const out = []
  let at = line.indexOf('{')
  while (at !== -1) {
    const end = objectEnd(line, at)
    const value = end === undefined ? undefined : parse(line.slice(at, end))
    if (isRecord(value)) {
      out.push({ offset: at, value })
      at = line.indexOf('{', end)
    } else at = line.indexOf('{', at + 1)
  }
  return out
}

function objectEnd(line, start) {
  let depth = 0
  let inString = false
  for (let i = start; i < line.length; i += 1) {
    const c = line[i]
    if (inString) {
      if (c === '\\') i += 1
      else if (c === '"') inString = false
    } else if (c === '"') inString = true
    else if (c === '{') depth += 1
    else if (c === '}' && --depth === 0) return i + 1
  }
  return undefined
}

function parse(latin1) {
  try {
    return JSON.parse(Buffer.from(latin1, 'latin1').toString('utf8'))
  } catch {
    return undefined
  }
}

function isRecord(value) {
  if (value === null || typeof value !== 'object' || typeof value.type !== 'string') return false
  return value.type === 'session' ? 'id' in value : Number.isInteger(value.seq ?? value.seq0) && 'data' in value
}

/** Parsed lines of a sound log. */
export function lines(bytes, encoding) {
  return textOf(bytes, encoding).text.split('\n').filter(line => line !== '').map(parse)
}

export const same = (a, b) => isDeepStrictEqual(a, b)
