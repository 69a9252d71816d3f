// A model on loopback: the chat completions that the clients speak. Who answers, and how, is up to `meet`.
import { createServer } from 'node:http'
import { gather } from './processes.mjs'

/** { url, requests, close }. `meet(answer, body)` is called for each request that came. */
export async function startApi(meet) {
  const requests = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await gather(request) || '{}')
    if (!Array.isArray(body.messages)) return response.writeHead(404).end('{}')
    requests.push(body.messages)
    meet(answerOn(response), body)
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${server.address().port}`, requests, close }
}

/** A streamed answer, piece by piece; each call gives the answer back. */
function answerOn(response) {
  let calls = 0
  const head = { id: 'answer', object: 'chat.completion.chunk', created: 1767225600, model: 'oracle-1' }
  const usage = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 }
  const send = (delta, rest = {}) => {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'text/event-stream' })
    const { finish = null, ...more } = rest
    response.write(`data: ${JSON.stringify({ ...head, choices: [{ index: 0, delta, finish_reason: finish }], ...more })}\n\n`)
    return answer
  }
  const called = (id, args) => send({ tool_calls: [{ index: calls++, id, type: 'function', function: { name: 'bash', arguments: args } }] })
  const answer = {
    text: words => send({ content: words }),
    call: (id, command) => called(id, JSON.stringify({ command })),
    halfCall: id => called(id, '{"comm'),
    fail: (status = 400) => response.writeHead(status, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}'),
    cut: () => response.destroy(),
    end(finish = calls > 0 ? 'tool_calls' : 'stop') {
      send({}, { finish, usage })
      response.end('data: [DONE]\n\n')
    },
  }
  return answer
}
