// A conversation as a list of turns, of whatever it was read: { role: user | assistant | result, texts, calls, id, mute }.
// Summaries, extensions and the user's own commands speak as the user. What is mute the client never sends.

/** Of the messages that a session manager, or a record, holds. */
export const turnsOf = messages => messages.flatMap((message) => {
  const { role, content, summary, stopReason, toolCallId } = message ?? {}
  if (role === 'assistant') {
    const blocks = Array.isArray(content) ? content : [{ type: 'text', text: content }]
    const calls = blocks.filter(block => block?.type === 'toolCall').map(block => block.id)
    return [turn(role, textsOf(blocks), { calls, mute: stopReason === 'error' || stopReason === 'aborted', cut: stopReason === 'length' })]
  }
  if (role === 'toolResult') return [turn('result', textsOf(content), { id: toolCallId })]
  if (role === 'bashExecution') return [turn('user', textsOf(message.command), { mute: message.excludeFromContext === true })]
  return role === 'system' || role === undefined ? [] : [turn('user', textsOf(summary ?? content))]
})

/** What a record says itself. */
export function turnsOfRecord({ type, message, summary, content }) {
  if (type === 'message' || message?.role !== undefined) return turnsOf([message])
  if (type === 'compaction' || type === 'branch_summary') return turnsOf([{ role: 'summary', summary }])
  return type === 'custom_message' ? turnsOf([{ role: 'custom', content }]) : []
}

/** Of a request to the model. */
export const turnsSent = messages => messages.flatMap(({ role, content, tool_calls: calls = [], tool_call_id: id }) => {
  if (role === 'tool') return [turn('result', textsOf(content), { id })]
  return role === 'user' || role === 'assistant' ? [turn(role, textsOf(content), { calls: calls.map(call => call.id) })] : []
})

const turn = (role, texts, more) => ({ role, texts, calls: [], mute: false, ...more })

function textsOf(content) {
  const blocks = Array.isArray(content) ? content : [{ text: content }]
  return blocks.map(block => plain(block?.text)).filter(text => text !== '')
}

const plain = text => typeof text === 'string' ? text.replace(/\s+/g, ' ').trim() : ''

/** Turns as single items: { role, text } or { call } or { result, text }, each with a name that tells it from others. */
export const itemsOf = turns => turns.flatMap(({ role, texts, calls, id, mute }) => {
  if (role === 'result') return [{ result: id, text: texts.join(' '), name: `result ${id}: ${texts.join(' ')}`, mute }]
  return [...texts.map(text => ({ role, text, name: `${role}: ${text}`, mute })), ...calls.map(call => ({ call, name: `call ${call}`, mute }))]
})
