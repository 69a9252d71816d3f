// A chat completions API on loopback. It keeps every request of the conversation and answers it with one sentence, unless `byHand`
// takes it. What the client asks aside, for a title or a summary, it gets at once, unless `aside` takes that.
import { createServer } from 'node:http'
import { answerTo, sayAtOnce } from './answer.mjs'

const SUMMARY = Array.from({ length: 40 }, (_, n) => `Point ${n + 1} of what was said: questions were asked and answered.`).join('\n')

/** { url, requests, close() }. `requests` are lists of messages. */
export async function startApi(byHand = () => false, aside = () => false) {
  const requests = []
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    if (request.method !== 'POST' || !request.url.split('?')[0].endsWith('/chat/completions')) return missing(response)
    const body = JSON.parse(Buffer.concat(chunks).toString())
    const kind = kindOf(body)
    if (kind === 'talk') {
      requests.push(body.messages)
      if (!byHand(body.messages, response)) answerTo(response).text('understood').end()
    } else if (!aside(kind, response)) {
      const words = kind === 'summary' ? `<summary>\n${SUMMARY}\n</summary>` : 'A title'
      if (body.stream) answerTo(response).text(words).end()
      else sayAtOnce(response, words)
    }
  })
  await new Promise(ready => server.listen(0, '127.0.0.1', ready))
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${server.address().port}/v1`, requests, close }
}

/** What goes on with a conversation leaves the choice of a tool free, and ends with words to the agent or a result. All else the client wants for itself. */
function kindOf({ messages, tools = [], tool_choice: choice }) {
  const last = messages.at(-1)
  const text = typeof last.content === 'string' ? last.content : JSON.stringify(last.content ?? '')
  const forItself = text.startsWith('<system-reminder>') || tools.length === 0 || choice !== undefined
  if (last.role === 'tool' || (text.includes('<user_query>') && !forItself)) return 'talk'
  if (/summary of (the|our|this) conversation/i.test(text)) return 'summary'
  return forItself ? 'title' : 'talk'
}

function missing(response) {
  response.writeHead(404, { 'content-type': 'application/json' })
  response.end('{}')
}
