// Items as a model gets them, from a file or from a request, in a form that can be compared.
import { textOf } from './history.mjs'

const CALLS = { function_call: 'function', local_shell_call: 'function', custom_tool_call: 'custom', tool_search_call: 'search' }
const OUTPUTS = { function_call_output: 'function', custom_tool_call_output: 'custom', tool_search_output: 'search' }

/** { id, kind } of a call that wants an output: those the service answers itself want none. */
export function callOf(item) {
  if (!(item.type in CALLS) || item.execution === 'server' || !item.call_id) return undefined
  return { id: item.call_id, kind: CALLS[item.type] }
}

/** { id, kind, text } */
export function outputOf(item) {
  if (!(item.type in OUTPUTS)) return undefined
  return { id: item.call_id, kind: OUTPUTS[item.type], text: textOf(item.output ?? item.tools) }
}

/** One line for everything of an item that a model would read. */
export function sketch(item) {
  switch (item.type) {
    case 'message': return `${item.role}: ${textOf(item.content)}`
    case 'reasoning': return `reasoning: ${textOf(item.summary)} ${item.encrypted_content ?? ''}`
    case 'function_call': return `call ${item.call_id}: ${item.name} ${item.arguments}`
    case 'custom_tool_call': return `call ${item.call_id}: ${item.name} ${item.input}`
    case 'local_shell_call': return `call ${item.call_id}: ${item.action?.command?.join(' ')}`
    case 'tool_search_call': return `call ${item.call_id}: ${JSON.stringify(item.arguments)}`
    default: return outputOf(item) ? `output ${item.call_id}: ${outputOf(item).text}` : `${item.type}: ${JSON.stringify({ ...item, ...HIDDEN })}`
  }
}

const HIDDEN = { type: undefined, id: undefined, status: undefined, metadata: undefined, internal_chat_message_metadata_passthrough: undefined }

export function short(text) {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > 110 ? `${line.slice(0, 107)}...` : line
}
