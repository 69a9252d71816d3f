// A Responses API on loopback. It keeps every request and answers it with one sentence, streamed, unless `byHand` takes it.
import { createServer } from 'node:http'
import { answerTo } from './answer.mjs'

/** { url, requests, close() }. `requests` are bodies. `byHand(body, response)` says true when it answers a request itself. */
export async function startApi(byHand = () => false) {
  const requests = []
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const path = request.url.split('?')[0]
    if (request.method !== 'POST' || !path.endsWith('/responses')) return reply(response, 404, { error: { message: 'not here' } })
    const body = JSON.parse(Buffer.concat(chunks).toString())
    requests.push(body)
    if (!byHand(body, response)) answerTo(response).text('understood').end()
  })
  // The client's own provider would talk on a web socket first.
  server.on('upgrade', (request, socket) => socket.end('HTTP/1.1 426 Upgrade Required\r\nconnection: close\r\n\r\n'))
  await new Promise(ready => server.listen(0, '127.0.0.1', ready))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${server.address().port}/v1`, requests, close }
}

function reply(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}
