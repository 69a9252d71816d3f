// One answer of a chat completion, streamed. It may stay unfinished.
export function answerTo(response) {
  let calls = 0
  const write = (data) => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(`data: ${typeof data === 'string' ? data : JSON.stringify({ id: 'chatcmpl-oracle', object: 'chat.completion.chunk', created: 0, model: 'oracle-1', ...data })}\n\n`)
    return answer
  }
  const send = (delta, reason = null) => write({ choices: [{ index: 0, delta, finish_reason: reason }] })
  const part = (id, name, text) => send({ role: 'assistant', tool_calls: [{ index: calls++, id, type: 'function', function: { name, arguments: text } }] })
  const answer = {
    text: words => send({ role: 'assistant', content: words }),
    thought: words => send({ role: 'assistant', reasoning_content: words }),
    call: (id, name, input) => part(id, name, JSON.stringify(input)),
    halfCall: (id, name, text) => part(id, name, text),
    end() {
      send({}, calls > 0 ? 'tool_calls' : 'stop')
      write({ choices: [], usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } })
      write('[DONE]')
      response.end()
    },
    /** The connection breaks. */
    cut: () => response.destroy(),
    fail(status) {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ error: { message: 'no', type: 'server_error' } }))
    },
  }
  return answer
}

/** The same without streaming, as the client asks for titles and summaries. */
export function sayAtOnce(response, words) {
  response.writeHead(200, { 'content-type': 'application/json' })
  const message = { role: 'assistant', content: words }
  response.end(JSON.stringify({ id: 'chatcmpl-oracle', object: 'chat.completion', created: 0, model: 'oracle-1', choices: [{ index: 0, message, finish_reason: 'stop' }], usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 } }))
}
