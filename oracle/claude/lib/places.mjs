// Where a transcript may be cut, told by its records alone: behind a prompt, behind the last line of an answer that asks for
// nothing, behind results when all of the answer's calls have theirs; never inside of an answer, nor between a compaction's
// border and its summary.

/** { must, never }: numbers of lines, from 1, behind which a cut has to be possible, and those behind which it must be refused. */
export function placesIn(bytes) {
  const nodes = linesOf(bytes).filter(({ record }) => typeof record?.uuid === 'string')
  const blocks = record => Array.isArray(record.message?.content) ? record.message.content : []
  const below = uuid => nodes.filter(node => node.record.parentUuid === uuid)
  const answer = record => nodes.filter(node => node.record.type === 'assistant' && node.record.message?.id === record.message?.id)
  const must = []
  const never = []
  for (const { record, line } of nodes) {
    if (record.isSidechain) {
      never.push(line)
    } else if (record.type === 'assistant') {
      const asks = answer(record).some(part => blocks(part.record).some(block => block.type === 'tool_use'))
      const goesOn = below(record.uuid).some(node => node.record.type === 'assistant' && node.record.message?.id === record.message?.id)
      ;(asks || goesOn ? never : must).push(line)
    } else if (record.subtype === 'compact_boundary') {
      if (below(record.uuid).some(node => node.record.isCompactSummary)) never.push(line)
    } else if (record.type === 'user' && !blocks(record).some(block => block.type === 'tool_result')) {
      must.push(line)
    }
  }
  return { must, never }
}

/** What the client answers itself when it resumes behind a prompt. */
const OWN = 'No response requested.'

/** Texts of the talk that the child must not have: all of the parent's but those above, and those that a border keeps. */
export function textsBehind(bytes, wanted) {
  const records = linesOf(bytes).map(({ record }) => record)
  const kept = new Set(records.flatMap(record => record.compactMetadata?.preservedMessages?.uuids ?? []))
  const own = new Set(wanted.flatMap(item => 'text' in item ? [item.text.trim()] : item.answers.map(text => text.trim())))
  const texts = records.filter(record => !kept.has(record.uuid)).flatMap(({ message }) => {
    if (typeof message?.content === 'string') return [message.content]
    return Array.isArray(message?.content) ? message.content.filter(block => block.type === 'text').map(block => String(block.text)) : []
  })
  return new Set(texts.map(text => text.trim()).filter(text => text !== '' && text !== OWN && !own.has(text)))
}

/** The records of a healthy transcript, each with its line. */
function linesOf(bytes) {
  return bytes.toString().split('\n').flatMap((text, n) => {
    const bare = text.replace(/^\ufeff/, '').trim()
    return bare === '' ? [] : [{ record: JSON.parse(bare), line: n + 1 }]
  })
}
