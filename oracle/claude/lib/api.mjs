// A Messages API on loopback. It refuses what rules.mjs refuses, answers everything else with one word, streamed, and
// keeps every request: [{ main, messages, refusal }]. A main request carries tools; others ask for titles and the like.
import { createServer } from 'node:http'
import { refusalOf } from './rules.mjs'

const ANSWER = 'understood'
let answers = 0

/** { url, requests, close() }. `byHand(body, response)` may take a request that is not refused, and answer it: then it says true. */
export async function startApi(byHand = () => false) {
  const requests = []
  const server = createServer((request, response) => {
    const chunks = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => answer(request, response, Buffer.concat(chunks).toString()))
  })
  await new Promise(ready => server.listen(0, '127.0.0.1', ready))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${server.address().port}`, requests, close }

  function answer(request, response, raw) {
    const path = request.url.split('?')[0]
    if (request.method !== 'POST' || !path.startsWith('/v1/messages')) return fail(response, 404, 'not_found_error', 'not found')
    if (path.endsWith('/count_tokens')) return reply(response, 200, { input_tokens: 100 })
    const refusal = refusalOf(raw)
    const body = refusal?.rule === 'json' ? {} : JSON.parse(raw)
    requests.push({ main: body.tools?.length > 0, messages: body.messages, refusal })
    if (refusal !== null) return fail(response, refusal.status, 'invalid_request_error', refusal.message)
    if (byHand(body, response)) return
    const message = newMessage(body.model)
    if (body.stream) return stream(response, message)
    reply(response, 200, { ...message, content: [{ type: 'text', text: ANSWER }], stop_reason: 'end_turn' })
  }
}

export const newMessage = model => ({
  type: 'message', id: `msg_oracle_${process.pid}_${answers += 1}`, role: 'assistant', model: model ?? 'oracle', content: [],
  stop_reason: null, stop_sequence: null,
  usage: { input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 2 },
})

function stream(response, message) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ANSWER } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ]
  response.end(events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))
}

export function fail(response, status, type, message) {
  reply(response, status, { type: 'error', error: { type, message } })
}

function reply(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
