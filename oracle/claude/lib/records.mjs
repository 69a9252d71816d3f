// The whole records that a transcript holds, however damaged it is, in file order.

/** Records of the lines that are one, between any padding, and those found inside the lines that are not. */
export function wholeRecords(bytes) {
  return lines(bytes).flatMap((line) => {
    const value = parse(line.replace(/^[\0\s\ufeff]+|[\0\s]+$/g, ''))
    return value === undefined ? inside(line) : isObject(value) ? [value] : []
  })
}

/** Records that the client can read: one on a line, and nothing beside it. */
export function plainRecords(bytes) {
  return lines(bytes).map(line => parse(line.trim())).filter(isObject)
}

/** Only the line feed ends a line: U+2028 and lone carriage returns stand in healthy records. */
function lines(bytes) {
  return new TextDecoder().decode(bytes).split('\n')
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isObject = value => value !== null && typeof value === 'object' && !Array.isArray(value)

/** Two records on one line, or one behind the remains of another. Only nodes of the tree are looked for. */
function inside(line) {
  const found = []
  const starts = /\{"(?:parentUuid|logicalParentUuid|isSidechain|type|uuid|sessionId|message)":/g
  for (let start = starts.exec(line); start !== null; start = starts.exec(line)) {
    const end = endOfObject(line, start.index)
    const value = end < 0 ? undefined : parse(line.slice(start.index, end))
    if (value === undefined || typeof value.uuid !== 'string' || !('parentUuid' in value)) continue
    found.push(value)
    starts.lastIndex = end
  }
  return found
}

/** Just behind the brace that closes the one at `start`; -1 when there is none. */
function endOfObject(text, start) {
  let depth = 0
  let quoted = false
  for (let at = start; at < text.length; at += 1) {
    const sign = text[at]
    if (quoted) {
      if (sign === '\\') at += 1
      else if (sign === '"') quoted = false
    } else if (sign === '"') quoted = true
    else if (sign === '{') depth += 1
    else if (sign === '}' && (depth -= 1) === 0) return at + 1
  }
  return -1
}
