// A conversation as a flat list, in the order in which a model reads it:
// { text, role }   { call, name, input }   { result, text }
// In one message results lead and calls end, whatever order the blocks are stored in.

export function itemsOf(message) {
  const { role, content } = message ?? {}
  if (typeof content === 'string') return [{ text: content.toWellFormed(), role }]
  const out = { tool_result: [], text: [], tool_use: [] }
  for (const block of Array.isArray(content) ? content : []) {
    if (block?.type === 'text') out.text.push({ text: String(block.text ?? '').toWellFormed(), role })
    if (block?.type === 'tool_use') out.tool_use.push({ call: block.id, name: block.name, input: block.input })
    if (block?.type === 'tool_result') out.tool_result.push({ result: block.tool_use_id, text: textOf(block.content) })
  }
  return [...out.tool_result, ...out.text, ...out.tool_use]
}

export const itemsOfAll = messages => messages.filter(message => message?.role !== 'system').flatMap(itemsOf)

function textOf(content) {
  if (typeof content === 'string') return content.toWellFormed()
  const parts = Array.isArray(content) ? content.filter(part => part?.type === 'text') : []
  return parts.map(part => String(part.text ?? '')).join('').toWellFormed()
}
