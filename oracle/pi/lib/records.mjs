// What is whole in a session file, however badly the rest of it is damaged.

/** Every whole record: { value, at, length }. Several may stand on a line, behind torn bytes or zeros. */
export function wholeRecords(bytes) {
  const text = bytes.toString('latin1')
  const found = []
  const start = /\{"[a-zA-Z]+":/g
  for (let match = start.exec(text); match; match = start.exec(text)) {
    const end = endOf(text, match.index)
    const value = end === undefined ? undefined : parse(bytes.subarray(match.index, end))
    if (!isRecord(value)) continue
    found.push({ value, at: match.index, length: end - match.index })
    start.lastIndex = end
  }
  return found
}

const isRecord = value => typeof value?.type === 'string' && ('timestamp' in value || 'parentId' in value)

/** Where the object that begins at `at` ends; undefined when its line ends first. */
function endOf(text, at) {
  let depth = 0
  let quoted = false
  for (let n = at; n < text.length; n += 1) {
    const char = text[n]
    if (char === '\n') return undefined
    if (quoted && char === '\\') n += 1
    else if (char === '"') quoted = !quoted
    else if (!quoted && char === '{') depth += 1
    else if (!quoted && char === '}' && (depth -= 1) === 0) return n + 1
  }
  return undefined
}

export function parse(bytes) {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    return undefined
  }
}

/** The lines, of which the client would take each for a record: { value, at, length }, value undefined where it is none. */
export function linesOf(bytes) {
  const lines = []
  for (let at = 0, end; at < bytes.length; at = end + 1) {
    end = bytes.indexOf(10, at)
    if (end < 0) end = bytes.length
    const raw = bytes.subarray(at, end)
    if (raw.toString().trim() !== '') lines.push({ value: parse(raw), at, length: raw.length })
  }
  return lines
}

export const isHeader = value => value?.type === 'session'

/** What a record says, whatever it hangs under: what a repair must not change. */
export const payloadOf = ({ type, message, summary, content, data, label, name, replacement, customType, modelId, thinkingLevel }) =>
  JSON.stringify([type, message, summary, content, data, label, name, replacement, customType, modelId, thinkingLevel])

/** The file with its header's working directory put in place of the old one. */
export const moved = (bytes, cwd) => withHeader(bytes, { cwd })

/** The file with other fields in its header. */
export function withHeader(bytes, fields) {
  const header = linesOf(bytes).find(({ value }) => isHeader(value))
  if (header === undefined) return bytes
  const line = Buffer.from(JSON.stringify({ ...header.value, ...fields }))
  return Buffer.concat([bytes.subarray(0, header.at), line, bytes.subarray(header.at + header.length)])
}

/** Going up from the last entry leads back to one that was met: a client that opens this never ends. */
export function goesInCircles(bytes) {
  const entries = linesOf(bytes).map(({ value }) => value).filter(value => value && !isHeader(value))
  const byId = new Map(entries.map(entry => [entry.id, entry]))
  const met = new Set()
  let entry = entries.at(-1)
  for (; entry && !met.has(entry); entry = entry.parentId ? byId.get(entry.parentId) : undefined) met.add(entry)
  return entry !== undefined
}

/** Where the entries have ids and the header has lost its version, the client shows all branches as one: the version is put back. */
export function told(bytes) {
  const values = linesOf(bytes).map(({ value }) => value)
  const lost = values.some(value => isHeader(value) && value.version == null) && values.some(value => !isHeader(value) && typeof value?.id === 'string')
  return lost ? withHeader(bytes, { version: 3 }) : bytes
}
