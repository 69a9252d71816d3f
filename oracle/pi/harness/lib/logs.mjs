// Reads logs of the harness, whole or not.

/** The lines of the log: { at, end, writes }, writes undefined where the line is none; `end` is behind its line feed. */
export function linesOf(bytes) {
  const lines = []
  for (let at = 0; at < bytes.length;) {
    const feed = bytes.indexOf(10, at)
    const end = feed < 0 ? bytes.length : feed + 1
    lines.push({ at, end, writes: parse(bytes.subarray(at, end)) })
    at = end
  }
  return lines
}

function parse(bytes) {
  try {
    return [JSON.parse(bytes.toString())].flat()
  } catch {
    return undefined
  }
}

export const isHarness = (bytes) => {
  const [header] = linesOf(bytes.subarray(0, 4096))[0]?.writes ?? []
  return header?.kind === 'header' && header.v === 4
}

/** Call id -> the last words of its results, of those that are entries and of those that wait to be. */
export function resultsIn(bytes) {
  const results = new Map()
  const search = (value) => {
    if (value === null || typeof value !== 'object') return
    if (value.role === 'toolResult') results.set(value.toolCallId, value.content.map(block => block.text ?? '').join(' '))
    else Object.values(value).forEach(search)
  }
  for (const { writes = [] } of linesOf(bytes)) writes.forEach(search)
  return results
}

/** Does a run wait for an answer that the provider put off? It can be fetched later, so that no repair should end it. */
export function isPutOff(bytes) {
  const states = new Map()
  for (const { writes = [] } of linesOf(bytes)) {
    for (const { namespace, key, op, value } of writes) {
      if (namespace !== 'pi.op.state') continue
      if (op === 'delete') states.delete(key)
      else states.set(key, value.at)
    }
  }
  return [...states.values()].some(at => at.startsWith('deferred.'))
}
