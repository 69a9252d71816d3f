// What the real client makes of a session: it loads it, shows it, and goes on with one prompt.
import { setTimeout as pause } from 'node:timers/promises'
import { startApi } from './api.mjs'
import { openClient } from './client.mjs'
import { treeOf } from './home.mjs'
import { LOG, recordsIn, updateOf } from './session.mjs'

export const PROMPT = 'Goes on behind the repair.'

/** { refused } or { shown, loaded, sent, requests, asked }: updates that it shows, messages that it sends; `loaded` and `asked` are the files then. */
export async function ask(places, cwd, id, session) {
  const api = await startApi()
  let agent
  try {
    agent = await openClient(places, api.url)
    await agent.call('session/load', { sessionId: id, cwd, mcpServers: [] })
    // The log tells when it has done what it does at the start.
    const tasks = files => recordsIn(files, LOG).map(updateOf).findLastIndex(({ sessionUpdate: kind }) => kind === 'background_tasks')
    const then = tasks(await treeOf(session))
    for (const limit = Date.now() + 3000; Date.now() < limit && tasks(await treeOf(session)) === then;) await pause(50)
    await pause(200)
    const shown = agent.updates(id).map(({ update }) => update)
    const loaded = await treeOf(session)
    const { stopReason } = await agent.call('session/prompt', { sessionId: id, prompt: [{ type: 'text', text: PROMPT }] })
    await pause(200)
    return { shown, loaded, stopReason, sent: api.requests[0], requests: api.requests.length, asked: await treeOf(session) }
  } catch (error) {
    return { refused: error.message.replaceAll(/\/\S+\//g, '') }
  } finally {
    agent?.kill()
    await agent?.process.ended.catch(() => {})
    api.close()
  }
}
