// One answer of the Responses API, streamed item by item. The last item may stay unfinished, and so may the answer.
let answers = 0
let items = 0

export function answerTo(response) {
  const id = `resp_oracle_${process.pid}_${answers += 1}`
  let index = -1
  const send = (type, more) => {
    if (!response.headersSent) {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      send('response.created', { response: { id } })
    }
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`)
    return answer
  }
  const added = item => send('response.output_item.added', { output_index: index += 1, item: { ...item, status: 'in_progress' } })
  const whole = (item) => {
    added(item)
    return send('response.output_item.done', { output_index: index, item })
  }
  const newId = kind => `${kind}_oracle_${process.pid}_${items += 1}`
  const message = content => ({ type: 'message', id: newId('msg'), role: 'assistant', status: 'completed', content })
  const answer = {
    text: words => whole(message([{ type: 'output_text', text: words, annotations: [] }])),
    halfText(words) {
      const item = message([])
      added(item)
      return send('response.output_text.delta', { item_id: item.id, output_index: index, content_index: 0, delta: words })
    },
    reasoning: words => whole({ type: 'reasoning', id: newId('rs'), summary: [{ type: 'summary_text', text: words }], encrypted_content: 'c2VhbGVk' }),
    call: (callId, name, input) => whole({ type: 'function_call', id: newId('fc'), call_id: callId, name, arguments: JSON.stringify(input), status: 'completed' }),
    halfCall(callId, name, text) {
      const item = { type: 'function_call', id: newId('fc'), call_id: callId, name, arguments: '' }
      added(item)
      return send('response.function_call_arguments.delta', { item_id: item.id, output_index: index, delta: text })
    },
    custom: (callId, name, input) => whole({ type: 'custom_tool_call', id: newId('ctc'), call_id: callId, name, input, status: 'completed' }),
    end() {
      const usage = { input_tokens: 10, input_tokens_details: { cached_tokens: 0 }, output_tokens: 5, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 15 }
      send('response.completed', { response: { id, usage } })
      response.end()
    },
    /** The connection breaks. */
    cut: () => response.destroy(),
    fail(status, message) {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message, type: 'server_error' } }))
    },
  }
  return answer
}
