// Asks the real client about every thread of a home: is it listed, does it read and resume, what does it send in a next turn,
// what does it show.
import { openClient } from './client.mjs'
import { startApi } from './api.mjs'
import { textOf } from './history.mjs'

export const PROMPT = 'a question after the resume'
const SOURCES = ['cli', 'vscode', 'exec', 'appServer', 'subAgent', 'subAgentReview', 'subAgentCompact', 'subAgentThreadSpawn', 'subAgentOther', 'unknown']

/** Thread -> { listed, read, resume, turn, request, shown }: errors are their words or null, `request` the items that were sent. */
export async function ask(program, places, threads, providers) {
  const api = await startApi()
  const answers = new Map()
  let app
  try {
    app = await openClient(program, places, api.url, providers)
    const listed = await listThreads(app)
    for (const thread of threads) answers.set(thread, { listed: listed.has(thread), ...await askOne(app, api, thread, places) })
    return answers
  } finally {
    await app?.close()
    api.close()
  }
}

/** Let the client look at a home, so that its databases are filled, and send nothing. */
export async function visit(program, places, threads, providers) {
  const app = await openClient(program, places, 'http://127.0.0.1:9/v1', providers)
  await listThreads(app)
  for (const thread of threads) await app.call('thread/resume', { threadId: thread, cwd: places.project })
  await app.close()
}

/** Thread -> whether it is archived. */
async function listThreads(app) {
  const listed = new Map()
  for (const archived of [false, true]) {
    for (let cursor = null, more = true; more;) {
      const page = await app.call('thread/list', { limit: 100, cursor, archived, sourceKinds: SOURCES, modelProviders: [] })
      for (const { id } of page.data) listed.set(id, archived)
      cursor = page.nextCursor
      more = Boolean(cursor)
    }
  }
  return listed
}

async function askOne(app, api, threadId, places) {
  const said = words => words.then(() => null, error => error.message)
  const answer = { read: await said(app.call('thread/read', { threadId, includeTurns: true })), resume: null, turn: null, request: undefined, shown: [] }
  const resume = () => said(app.call('thread/resume', { threadId, cwd: places.project }))
  answer.resume = await resume()
  if (/is archived/.test(answer.resume)) answer.resume = await said(app.call('thread/unarchive', { threadId })) ?? await resume()
  if (answer.resume !== null) return answer
  answer.shown = await turnsOf(app, threadId)
  const before = api.requests.length
  answer.turn = await turnIn(app, threadId)
  answer.request = api.requests[before]?.input
  answer.readAgain = await said(app.call('thread/read', { threadId, includeTurns: true }))
  await said(app.call('thread/unsubscribe', { threadId }))
  return answer
}

/** How the turn ends, in one word; or why it does not. */
async function turnIn(app, threadId) {
  try {
    await app.call('turn/start', { threadId, input: [{ type: 'text', text: PROMPT }] })
    const done = await app.seen(({ method, params }) => method === 'turn/completed' && params.threadId === threadId)
    return done === undefined ? 'no end' : done.params.turn.error?.message ?? done.params.turn.status
  } catch (error) {
    return error.message
  }
}

async function turnsOf(app, threadId) {
  const turns = []
  for (let cursor = null, more = true; more;) {
    const page = await app.call('thread/turns/list', { threadId, cursor, limit: 100, itemsView: 'full' }).catch(() => ({ data: [] }))
    turns.push(...page.data.map(({ id, items }) => ({ id, items: items.map(item => ({ id: item.id, text: item.text ?? textOf(item.content) })) })))
    cursor = page.nextCursor
    more = Boolean(cursor)
  }
  return turns
}
